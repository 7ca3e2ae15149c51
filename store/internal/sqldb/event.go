package sqldb

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const eventColumns = `COALESCE(pos, 0), tenant, id, type, stream, seq, prev, at, session_id, request_id, trace, flow, actor, channel, code, data`

var (
	insertEvent = inserts("events", []string{"tenant", "id", "type", "stream", "seq", "prev", "at", "session_id", "request_id", "trace", "flow", "actor", "channel",
		"code", "data"}, "", "", "")
	selectHead     = point(`SELECT ` + eventColumns + ` FROM events WHERE tenant = ? AND stream = ? ORDER BY seq DESC LIMIT 1`)
	lockStream     = different(`SELECT 1 WHERE ? = ''`, `SELECT pg_advisory_xact_lock(hashtextextended(?, 0))`)
	selectPosition = statement(`SELECT COALESCE(MAX(pos), 0) FROM events WHERE tenant = ?`)
	selectMeta     = statement(`SELECT value FROM meta WHERE name = ?`)
	insertBody     = inserts("bodies", []string{"tenant", "digest", "session_id", "run_id", "salt", "body"}, "", "", "")
	selectBody     = statement(`SELECT digest, body FROM bodies WHERE tenant = ? AND digest = ?`)
)

// head is the end of a stream.
type head struct {
	seq  int64
	hash []byte
}

// ends are those of the few streams that a transaction appends to.
type ends []struct {
	stream string
	head
}

func (e ends) find(stream string) (head, bool) {
	for i := range e {
		if e[i].stream == stream {
			return e[i].head, true
		}
	}
	return head{}, false
}

func (e *ends) set(stream string, end head) {
	for i := range *e {
		if (*e)[i].stream == stream {
			(*e)[i].head = end
			return
		}
	}
	*e = append(*e, struct {
		stream string
		head
	}{stream, end})
}

// newStream tells that the noun is made in this transaction: its stream has no event yet, and nobody need look.
func (tx *Tx) newStream(stream string) {
	if _, ok := tx.heads.find(stream); !ok {
		tx.heads.set(stream, head{})
	}
}

func (tx *Tx) AddEvent(e holdshort.Event) error {
	if err := holdshort.CheckEvent(e); err != nil {
		return tx.refuse(err)
	}
	if err := tx.refuse(checkEvent(e)); err != nil {
		return err
	}
	if err := tx.texts("event", string(e.ID), string(e.Session), string(e.Run), string(e.Request), e.Trace, e.Flow, e.Actor, e.Channel, e.Code); err != nil {
		return err
	}
	if err := tx.usable(); err != nil {
		return err
	}
	if tx.readOnly {
		return &holdshort.Error{Code: holdshort.Internal, Message: "write in a view"}
	}
	e.At = fromMicros(micros(tx.now))
	if e.ID == "" {
		e.ID = holdshort.NewEventID(tx.now)
	}
	e.Stream = e.StreamOf()
	if tx.events == nil {
		tx.events = make([]holdshort.Event, 0, 4)
	}
	tx.events = append(tx.events, e)
	return nil
}

// checkEvent keeps the log readable: streams are told apart by their prefixes, and an export is JSON.
func checkEvent(e holdshort.Event) error {
	wrong := func(field, message string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "add event " + e.Type, Field: field, Message: message}
	}
	switch {
	case e.Run != "" && !strings.HasPrefix(string(e.Run), "run_"):
		return wrong("run_id", "it is not a run's id")
	case e.Session != "" && !strings.HasPrefix(string(e.Session), "ses_"):
		return wrong("session_id", "it is not a session's id")
	case len(e.Data) > store.MaxText:
		return &holdshort.Error{Code: holdshort.TooLarge, Op: "add event " + e.Type, Field: "data", Message: "an event holds ids and digests, not content",
			Hint: "store the content with AddBody and name its digest"}
	case len(e.Data) > 0 && !json.Valid(e.Data):
		return wrong("data", "it is not JSON")
	}
	return nil
}

// ErrStreamMoved: another transaction appended to the stream meanwhile. Nothing is wrong with this one: it runs again, and then takes the
// stream's lock first. It happens on PostgreSQL, to those who do not name the run or session that the event belongs to.
var ErrStreamMoved = errors.New("the event stream moved")

func moved(tenant holdshort.TenantID, stream string) error {
	return &holdshort.Error{Code: holdshort.Conflict, Op: "append to stream " + stream, Message: "it changed meanwhile", Err: &movedStream{streamKey{tenant, stream}}, Hint: "repeat"}
}

type movedStream struct{ key streamKey }

func (m *movedStream) Error() string        { return ErrStreamMoved.Error() }
func (m *movedStream) Is(target error) bool { return target == ErrStreamMoved }

// end finds where a stream ends: in what this transaction appended, in what the writer remembers, in what its draft saw, else in the log.
func (tx *Tx) end(stream string) (head, error) {
	if end, ok := tx.heads.find(stream); ok {
		return end, nil
	}
	if end, ok := tx.db.Heads.find(tx.tenant, stream); ok && !tx.locking {
		return end, nil
	}
	if end, ok := tx.foreseen[stream]; ok {
		return end, nil
	}
	if tx.locking || tx.db.Heads.isShared(tx.tenant, stream) {
		if err := tx.read(lockStream, []any{string(tx.tenant) + "/" + stream}, func(func(...any) error) error { return nil }); err != nil {
			return head{}, err
		}
	}
	return tx.readHead(stream)
}

func (tx *Tx) readHead(stream string) (end head, err error) {
	err = tx.read(selectHead, []any{string(tx.tenant), stream}, func(scan func(...any) error) error {
		_, before, err := scanEvent(scan)
		if err == nil {
			h := before.Hash(tx.tenant)
			end = head{seq: before.Seq, hash: h[:]}
		}
		return err
	})
	return end, err
}

// chain turns the events that were added into writes: it needs the end of each stream, and gives each event its place in it.
func (tx *Tx) chain() error {
	for i := range tx.events {
		e := &tx.events[i]
		end, err := tx.end(e.Stream)
		if err != nil {
			return err
		}
		e.Seq, e.Prev = end.seq+1, end.hash
		h := e.Hash(tx.tenant)
		end = head{seq: e.Seq, hash: h[:]}
		tx.heads.set(e.Stream, end)
		tx.db.Heads.note(tx.tenant, e.Stream, end)
		tx.pending = append(tx.pending, Write{Statement: insertEvent, Want: 1, Noun: "event", ID: e.Stream, Args: []any{string(tx.tenant), string(e.ID), e.Type,
			e.Stream, e.Seq, notNil(e.Prev), micros(e.At), string(e.Session), string(e.Request), e.Trace, e.Flow, e.Actor, e.Channel, e.Code, notNil(e.Data)}})
	}
	if tx.chained == nil {
		tx.chained = tx.events
	} else {
		tx.chained = append(tx.chained, tx.events...)
	}
	tx.events = nil
	return nil
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func scanEvent(scan func(...any) error) (tenant holdshort.TenantID, e holdshort.Event, err error) {
	var at int64
	var prev, data []byte
	err = scan(&e.Position, &tenant, &e.ID, &e.Type, &e.Stream, &e.Seq, &prev, &at, &e.Session, &e.Request, &e.Trace, &e.Flow, &e.Actor, &e.Channel, &e.Code, &data)
	if err != nil {
		return tenant, e, err
	}
	e.At = fromMicros(at)
	if len(prev) > 0 {
		e.Prev = prev
	}
	if len(data) > 0 {
		e.Data = data
	}
	if strings.HasPrefix(e.Stream, "run_") {
		e.Run = holdshort.RunID(e.Stream)
	}
	return tenant, e, nil
}

// Events reads by position, which follows the order of commits on both databases: a bare row number would lose rows on PostgreSQL.
func (tx *Tx) Events(q store.EventQuery) (store.Events, error) {
	limit := q.Limit
	if limit <= 0 || limit > store.MaxPage {
		limit = store.MaxPage
	}
	out := store.Events{Last: q.After}
	pruned, err := readMeta(tx, "pruned_to")
	if err != nil {
		return out, err
	}
	out.Gap = q.After > 0 && q.After < pruned
	l := list("events", eventColumns).where("tenant = ?", string(tx.tenant))
	if q.Run == "" {
		l.where("pos > ?", q.After)
	}
	switch {
	case q.Run != "":
		l.where("+pos > ?", q.After) // not by the position's index: it would walk the tenant's whole log
		l.where("stream = ?", string(q.Run))
		l.order = " ORDER BY seq" // the same order, and the stream's own index
	case q.Session != "":
		l.where("session_id = ? AND session_id <> ''", string(q.Session))
	}
	if l.order == "" {
		l.order = " ORDER BY pos"
	}
	err = tx.query(l.statement(), append(l.args, int64(limit)), func(scan func(...any) error) error {
		_, e, err := scanEvent(scan)
		if err != nil {
			return err
		}
		out.Last = e.Position
		if holdshort.MatchEvent(e.Type, q.Types) {
			out.Items = append(out.Items, e)
		}
		return nil
	})
	return out, err
}

func (tx *Tx) Position() (last int64, err error) {
	err = tx.query(selectPosition, []any{string(tx.tenant)}, func(scan func(...any) error) error { return scan(&last) })
	return last, err
}

func (tx *Tx) AddBody(session holdshort.SessionID, run holdshort.RunID, body []byte) (string, error) {
	if err := tx.texts("body", string(session), string(run)); err != nil {
		return "", err
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	digest := bodyDigest(salt, body)
	sealed, err := tx.seal("body", digest, body)
	if err != nil {
		return "", err
	}
	return digest, tx.write(Write{Statement: insertBody, Want: 1, Args: []any{string(tx.tenant), digest, string(session), string(run), salt, sealed}})
}

// bodyDigest is salted, so that nobody can guess an erased body by trying likely texts; the salt goes with the body.
func bodyDigest(salt, body []byte) string {
	h := sha256.New()
	h.Write([]byte("holdshort-body-1"))
	h.Write(salt)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

func (tx *Tx) Body(digest string) ([]byte, error) {
	return first(tx, selectBody, []any{string(tx.tenant), digest}, "body", digest, func(scan func(...any) error) ([]byte, string, error) {
		var id string
		var body []byte
		if err := scan(&id, &body); err != nil {
			return nil, id, err
		}
		if len(body) == 0 {
			return nil, id, &holdshort.Error{Code: holdshort.NotFound, Op: "load body " + id, Message: "it was erased"}
		}
		raw, err := tx.unseal("body", id, body)
		return raw, id, err
	})
}
