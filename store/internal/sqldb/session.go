package sqldb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type sessionBody struct {
	User      string              `json:"user,omitempty"`
	Agent     string              `json:"agent,omitempty"`
	Flow      string              `json:"flow,omitempty"`
	Language  string              `json:"language,omitempty"`
	ActiveRun holdshort.RunID     `json:"active_run,omitempty"`
	Prompt    holdshort.RequestID `json:"prompt,omitempty"`
	Seq       int64               `json:"seq,omitempty"`
	TakenBy   string              `json:"taken_by,omitempty"`
	TakenAt   int64               `json:"taken_at,omitempty"`
	Data      json.RawMessage     `json:"data,omitempty"`
	Metadata  json.RawMessage     `json:"metadata,omitempty"`
}

// Most writes leave a session where it is in the lists: they do not name the columns that those are sorted by, and cost no entry of an index.
var (
	sessionChanges               = []string{"channel", "address", "mode", "updated_at", "ended_at", "body"}
	insertSession, updateSession = puts("sessions", sessionChanges, []string{"active", "owner", "created_at"})
	moveSession                  = updates("sessions", append(slices.Clone(sessionChanges), "active", "owner"), []string{"tenant", "id", "revision"})
)

const sessionColumns = `id, revision, channel, address, mode, created_at, updated_at, ended_at, body`

var (
	selectSession   = point(`SELECT ` + sessionColumns + ` FROM sessions WHERE tenant = ? AND id = ?`)
	selectSessionAt = point(`SELECT ` + sessionColumns + ` FROM sessions
		WHERE tenant = ? AND channel = ? AND address = ? AND address <> '' AND ended_at = 0`)
	// Rows that were written before sessions had an owner.
	unownedSessions = statement(`SELECT COUNT(*) FROM (SELECT id FROM sessions WHERE tenant = ? AND owner = '' LIMIT 1) AS one`)
)

func (tx *Tx) Session(id holdshort.SessionID) (holdshort.Session, error) {
	return one(tx, selectSession, "session", string(id), tx.scanSession)
}

func (tx *Tx) SessionAt(channel, address string) (holdshort.Session, error) {
	return first(tx, selectSessionAt, []any{string(tx.tenant), channel, address}, "session at", channel+" "+address, tx.scanSession)
}

// Sessions lists by activity, everybody's or one user's. Few are not answered by the AI: those have an index of their own.
func (tx *Tx) Sessions(q store.SessionQuery) (store.Page[holdshort.Session], error) {
	l := list("sessions", sessionColumns).where("tenant = ?", string(tx.tenant))
	if q.Owner != "" {
		old, err := readNumber(tx, unownedSessions, string(tx.tenant))
		if err != nil {
			return store.Page[holdshort.Session]{}, err
		}
		if old == 0 {
			l.where("owner = ?", ownerOf(tx.tenant, q.Owner))
		}
	}
	if q.Mode != "" {
		l.where("mode = ?", string(q.Mode))
		if q.Mode != holdshort.ModeAI {
			l.where("mode <> 'ai'") // so that the planner may take the partial index
		}
	}
	l.keyset(q.Cursor, true, "active", "id")
	return page(tx, l, q.Limit, tx.scanSession, func(s holdshort.Session) []any { return []any{activeAt(s.UpdatedAt), string(s.ID)} })
}

// activeAt is a time to the minute.
func activeAt(at time.Time) int64 {
	n := micros(at)
	return n - n%time.Minute.Microseconds()
}

// met is where a session that was read stands in the lists.
type met struct {
	id       string
	revision int64
	active   int64
	user     string
}

// moves reports whether a session has to go to another place in the lists than the one it had when this transaction read it.
func (tx *Tx) moves(s holdshort.Session) bool {
	return !slices.Contains(tx.met, met{string(s.ID), s.Revision, activeAt(s.UpdatedAt), s.User})
}

// nobodys marks a session without a user: it is not one of which that is not known.
const nobodys = "-"

// ownerOf is a digest, because what a session's user is called is part of its payload, which may be encrypted. It goes when the session is
// erased.
func ownerOf(tenant holdshort.TenantID, user string) string {
	if user == "" {
		return nobodys
	}
	sum := sha256.Sum256([]byte("holdshort-owner-1\x00" + string(tenant) + "\x00" + user))
	return hex.EncodeToString(sum[:12])
}

func (tx *Tx) scanSession(scan func(...any) error) (s holdshort.Session, id string, err error) {
	var created, updated, ended int64
	var body []byte
	if err = scan(&id, &s.Revision, &s.Channel, &s.Address, &s.Mode, &created, &updated, &ended, &body); err != nil {
		return s, id, err
	}
	s.ID, s.CreatedAt, s.UpdatedAt, s.EndedAt = holdshort.SessionID(id), fromMicros(created), fromMicros(updated), fromMicros(ended)
	if len(body) == 0 {
		return s, id, nil // erased
	}
	var b sessionBody
	if err := tx.decode("session", id, body, &b); err != nil {
		return s, id, err
	}
	s.User, s.Agent, s.Flow, s.Language, s.ActiveRun, s.Prompt, s.Seq, s.Data, s.Metadata = b.User, b.Agent, b.Flow, b.Language, b.ActiveRun, b.Prompt, b.Seq, b.Data, b.Metadata
	s.TakenBy, s.TakenAt = b.TakenBy, fromMicros(b.TakenAt)
	if !tx.readOnly {
		tx.met = append(tx.met, met{id, s.Revision, activeAt(s.UpdatedAt), s.User})
	}
	return s, id, nil
}

func (tx *Tx) PutSession(s holdshort.Session) error {
	id := string(s.ID)
	if err := tx.required("session", id, string(s.Mode)); err != nil {
		return err
	}
	if err := tx.texts("session", s.Channel, s.Address); err != nil {
		return err
	}
	body, err := tx.encode("session", id, sessionBody{User: s.User, Agent: s.Agent, Flow: s.Flow, Language: s.Language, ActiveRun: s.ActiveRun, Prompt: s.Prompt,
		Seq: s.Seq, TakenBy: s.TakenBy, TakenAt: micros(s.TakenAt), Data: s.Data, Metadata: s.Metadata})
	if err != nil {
		return err
	}
	if s.Revision == 0 {
		tx.newStream(id)
	}
	columns, place := []any{s.Channel, s.Address, string(s.Mode), micros(s.UpdatedAt), micros(s.EndedAt), body}, []any{activeAt(s.UpdatedAt), ownerOf(tx.tenant, s.User)}
	if s.Revision > 0 && tx.moves(s) {
		return tx.put("session", id, s.Revision, nil, moveSession, append(columns, place...), nil)
	}
	return tx.put("session", id, s.Revision, insertSession, updateSession, columns, append(place, micros(s.CreatedAt)))
}
