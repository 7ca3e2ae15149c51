package sqldb

import (
	"errors"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// What was open before there were seats gets them when the store is opened, a batch in each transaction: the audience is in a payload that only
// the codec reads. How far it came stands beside it, so that a start that was cut short goes on.
const (
	seatsMark   = "seats_filled" // tenant and id of the last, or seatsDone
	seatsDone   = "all"
	seatsAtOnce = 500
)

var unseated = statement(`SELECT tenant, ` + requestColumns + ` FROM requests WHERE (tenant, id) > (?, ?) AND status = 'open' ORDER BY tenant, id LIMIT ?{for share}`)

// FillSeats does one batch inside the caller's transaction and says whether another is left.
func (db *DB) FillSeats(conn Conn, now time.Time) (more bool, err error) {
	mark, err := readMetaText(bare{conn}, seatsMark)
	if err != nil || mark == seatsDone {
		db.seated.Store(err == nil)
		return false, err
	}
	tenant, id, _ := strings.Cut(mark, "/")
	var writes []Write
	n := 0
	err = conn.Query(unseated, []any{tenant, id, int64(seatsAtOnce)}, func(scan func(...any) error) error {
		r, of, err := db.scanOf(conn, now, scan)
		if err != nil && !errors.Is(err, holdshort.Corrupt) {
			return err
		}
		n++
		tenant, id = string(of), string(r.ID)
		for _, seat := range store.Seats(&r) { // what cannot be read names nobody
			writes = append(writes, Write{Statement: refillSeat, Args: []any{tenant, seat, seatKind(r.Kind), urgencyOf(&r), id}, Want: Any})
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	more, mark = n == seatsAtOnce, tenant+"/"+id
	if !more {
		mark = seatsDone
	}
	return more, conn.Apply(append(writes, writeMeta(seatsMark, mark)))
}

// Seat says that the last batch is committed.
func (db *DB) Seat() { db.seated.Store(true) }

// Seated: a store that was opened for reading finds out by itself.
func (tx *Tx) Seated() (bool, error) {
	if tx.db.seated.Load() {
		return true, nil
	}
	mark, err := readMetaText(tx, seatsMark)
	if mark == seatsDone {
		tx.db.seated.Store(true)
	}
	return mark == seatsDone, err
}

func urgencyOf(r *holdshort.Request) int64 {
	for i, p := range urgencies {
		if p == r.Priority {
			return int64(i)
		}
	}
	return int64(len(urgencies)) - 1
}

// scanOf reads a request whose tenant stands in front.
func (db *DB) scanOf(conn Conn, now time.Time, scan func(...any) error) (r holdshort.Request, tenant holdshort.TenantID, err error) {
	tx := db.NewView(conn, "", now)
	r, id, err := tx.scanRequest(func(dest ...any) error {
		err := scan(append([]any{&tenant}, dest...)...)
		tx.tenant = tenant
		return err
	})
	r.ID = holdshort.RequestID(id)
	return r, tenant, err
}
