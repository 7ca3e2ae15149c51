package sqldb

import (
	"errors"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Draft is a transaction whose function runs before its turn: it reads what is committed and its writes are kept. That is as good as a turn
// while nobody else writes the rows that it named; what it did not name, compare-and-set and unique keys find out, and then its function runs
// again.
type Draft struct {
	tx      *Tx
	reader  Conn
	reads   bool // it wants to read what it wrote
	faulty  bool
	events  []holdshort.Event
	pending []Write
	heads   ends
}

// ErrTurn says that a draft will not do: the function needs its turn.
var ErrTurn = errors.New("the transaction reads after it wrote")

// Draft runs fn. The error is fn's own; Sound tells whether it can be believed.
func (db *DB) Draft(reader Conn, tenant holdshort.TenantID, now time.Time, fn func(store.Tx) error) (*Draft, error) {
	d := &Draft{reader: reader}
	d.tx = db.NewTx(d, tenant, now)
	defer d.tx.End()
	if err := fn(d.tx); err != nil {
		return d, err
	}
	if d.tx.fault != nil {
		return d, d.tx.fault
	}
	if err := d.tx.foresee(); err != nil {
		return d, err
	}
	d.events, d.pending, d.heads = d.tx.events, d.tx.pending, d.tx.heads
	return d, nil
}

// Sound is false when the draft met something that only a turn can tell: it read after it wrote, or the reader failed.
func (d *Draft) Sound() bool { return !d.reads && !d.faulty }

// Empty: there is nothing to write.
func (d *Draft) Empty() bool { return len(d.events) == 0 && len(d.pending) == 0 }

// Query reads what is committed.
func (d *Draft) Query(s *Statement, args []any, each func(scan func(dest ...any) error) error) error {
	rowFault := false
	err := d.reader.Query(s, args, func(scan func(dest ...any) error) error {
		err := each(scan)
		rowFault = err != nil
		return err
	})
	if err != nil && !rowFault {
		d.faulty = true
	}
	return err
}

// Apply is asked for by a read that follows a write.
func (d *Draft) Apply([]Write) error {
	d.reads = true
	return ErrTurn
}

// Writes gives its events their places and all that is to be written, now that it has its turn. It can be asked again if that was undone.
func (d *Draft) Writes(conn Conn) ([]Write, error) {
	d.tx.conn, d.tx.fault, d.tx.chained = conn, nil, nil
	d.tx.events, d.tx.pending, d.tx.heads = d.events, d.pending, slices.Clone(d.heads)
	return d.tx.Finish()
}

// foresee looks up where the streams of its events end. If that is outdated when the events are written, their places are taken.
func (tx *Tx) foresee() error {
	for i := range tx.events {
		stream := tx.events[i].Stream
		if _, ok := tx.heads.find(stream); ok {
			continue
		}
		if _, ok := tx.foreseen[stream]; ok {
			continue
		}
		if _, ok := tx.db.Heads.find(tx.tenant, stream); ok {
			continue
		}
		end, err := tx.readHead(stream)
		if err != nil {
			return err
		}
		if tx.foreseen == nil {
			tx.foreseen = map[string]head{}
		}
		tx.foreseen[stream] = end
	}
	return nil
}
