package sqldb

import (
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var _ store.Tx = (*Tx)(nil)

// Tx is a transaction of one tenant over a connection. Writes wait in it until it is flushed.
type Tx struct {
	conn     Conn
	db       *DB
	tenant   holdshort.TenantID
	now      time.Time
	readOnly bool
	pending  []Write
	events   []holdshort.Event
	chained  []holdshort.Event // those that have their place in a stream: what a commit writes
	heads    ends              // of streams that it appended to
	foreseen map[string]head   // where others ended when its function ran
	fault    error             // the first error of the connection: nothing may follow it
	ended    bool
	urgent   []seen // requests that it has read
	met      []met  // sessions that it has read
	locking  bool   // take a stream's lock before reading its end: it moved under us once
}

// NewTx opens a transaction for tenant.
func (db *DB) NewTx(conn Conn, tenant holdshort.TenantID, now time.Time) *Tx {
	locker, ok := conn.(StreamLocker)
	return &Tx{conn: conn, db: db, tenant: tenant, now: now, locking: ok && locker.LocksStreams()}
}

// NewView opens one that cannot write.
func (db *DB) NewView(conn Conn, tenant holdshort.TenantID, now time.Time) *Tx {
	return &Tx{conn: conn, db: db, tenant: tenant, now: now, readOnly: true}
}

func (tx *Tx) Now() time.Time             { return tx.now }
func (tx *Tx) Tenant() holdshort.TenantID { return tx.tenant }

// Finish ends the transaction's function: it gives the writes that are still to be applied. A fault that the function did not return is
// returned here: nobody can ignore it.
func (tx *Tx) Finish() ([]Write, error) {
	if tx.fault != nil {
		return nil, tx.fault
	}
	if err := tx.chain(); err != nil {
		return nil, err
	}
	tx.ended = true
	return tx.take(), nil
}

// End makes every later use of the transaction an error.
func (tx *Tx) End() { tx.ended = true }

// Fault is the first error of the connection, whatever the function made of it.
func (tx *Tx) Fault() error { return tx.fault }

func (tx *Tx) take() []Write {
	if len(tx.pending) == 0 {
		return nil
	}
	writes := tx.pending
	tx.pending = nil
	if tx.tenant != holdshort.SystemTenant && !tx.db.tenants.known(tx.tenant) {
		writes = append([]Write{{Statement: insertTenant, Args: []any{string(tx.tenant), micros(tx.now)}, Want: Any}}, writes...)
	}
	return writes
}

// query reads; what was written before is sent first, so that a transaction sees its own writes.
func (tx *Tx) query(s *Statement, args []any, each func(scan func(dest ...any) error) error) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if err := tx.flush(); err != nil {
		return err
	}
	return tx.read(s, args, each)
}

func (tx *Tx) read(s *Statement, args []any, each func(scan func(dest ...any) error) error) error {
	for _, a := range args {
		if text, ok := a.(string); ok && !isText(text) {
			return nil // no row has such a name, and PostgreSQL would end the transaction over it
		}
	}
	var faulty error // an error of each is the row's, not the connection's
	err := tx.conn.Query(s, args, func(scan func(dest ...any) error) error {
		faulty = each(scan)
		return faulty
	})
	if err != nil && faulty == nil {
		tx.fault = err
	}
	return err
}

func (tx *Tx) flush() error {
	if len(tx.pending) == 0 && len(tx.events) == 0 {
		return nil
	}
	if d, ok := tx.conn.(*Draft); ok { // before its turn nothing may take a place in a stream
		tx.fault = d.Apply(nil)
		return tx.fault
	}
	if err := tx.chain(); err != nil {
		return err
	}
	if err := tx.conn.Apply(tx.take()); err != nil {
		tx.fault = err
		return err
	}
	return nil
}

func (tx *Tx) write(w Write) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if tx.readOnly {
		return &holdshort.Error{Code: holdshort.Internal, Message: "write in a view"}
	}
	if tx.pending == nil {
		tx.pending = make([]Write, 0, 12)
	}
	tx.pending = append(tx.pending, w)
	return nil
}

func (tx *Tx) usable() error {
	if tx.ended {
		return &holdshort.Error{Code: holdshort.Internal, Message: "transaction used after its function returned"}
	}
	return tx.fault
}

func taken(noun, id string) error {
	return &holdshort.Error{Code: holdshort.Duplicate, Op: "store " + noun + " " + id, Message: "it, or another with the same unique key, exists already",
		Hint: "load what stands"}
}

func stale(noun, id string) error {
	return &holdshort.Error{Code: holdshort.Conflict, Op: "store " + noun + " " + id, Message: "it changed meanwhile", Hint: "load it again and repeat"}
}

func notFound(noun, id string) error {
	return &holdshort.Error{Code: holdshort.NotFound, Op: "load " + noun + " " + clip(id), Message: "no such " + noun,
		Hint: "check the id and the tenant"}
}

func corrupt(noun, id string, err error) error {
	return &holdshort.Error{Code: holdshort.Corrupt, Op: "load " + noun + " " + id, Message: "the stored row cannot be read", Err: err,
		Hint: "restore the row from a backup and retry its run, or cancel the run"}
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// micros is how times are stored.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
