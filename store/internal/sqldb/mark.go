package sqldb

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// Mark is a file outside the database, beside the keyring, that remembers which database this was and how far it had come. A database that
// has come less far was restored from a backup: it does not know what happened since, so nothing may run until a person has looked.
type Mark struct {
	path  string // empty: nothing is kept
	mu    sync.Mutex
	note  markNote
	known bool
	saved time.Time
}

type markNote struct {
	Instance   string    `json:"instance"`
	Restores   int64     `json:"restores"`   // restores that were accepted
	Generation int64     `json:"generation"` // times it was opened, on SQLite
	Position   int64     `json:"position"`   // of the newest event
	At         time.Time `json:"at"`
}

// OpenMark reads the file if it is there.
func OpenMark(path string) (*Mark, error) {
	m := &Mark{path: path}
	if path == "" {
		return m, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &m.note)
	}
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Quarantined, Op: "read " + path, Message: "the store's mark cannot be read", Err: err,
			Hint: "if the database is the right one and complete, remove this file and accept the restore: holdshort doctor --accept-restore"}
	}
	m.known = true
	return m, nil
}

// Due says whether it is time to save again; most callers find that it is not.
func (m *Mark) Due(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.path != "" && m.known && (now.Sub(m.saved) >= time.Second || now.Before(m.saved))
}

// Advance saves that the database has come to position.
func (m *Mark) Advance(position int64, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known || position <= m.note.Position {
		m.saved = now
		return nil
	}
	m.note.Position = position
	return m.save(now)
}

func (m *Mark) set(note markNote, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note, m.known = note, true
	return m.save(now)
}

func (m *Mark) save(now time.Time) error {
	m.saved = now
	m.note.At = now.UTC()
	if m.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(m.note, "", "  ")
	if err == nil {
		err = WriteFile(m.path, append(raw, '\n'))
	}
	if err != nil {
		return &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "write " + m.path, Message: "the store's mark cannot be saved", Err: err,
			Hint: "check the folder's rights and room"}
	}
	return nil
}

// WriteFile puts content under path, whole or not at all, readable by its owner only.
func WriteFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// recognise compares the database with the mark and gives the reason for a quarantine, or "" and the note to save.
func (m *Mark) recognise(db markNote, fresh bool) (reason string, note markNote) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.path == "" || fresh && !m.known:
		return "", db
	case !m.known:
		return "the mark beside the keyring is missing: this database may be a copy", db
	case db.Restores > m.note.Restores && db.Instance == m.note.Instance:
		return "", db // accepted on another node
	case db.Instance != m.note.Instance:
		return fmt.Sprintf("this is database %s, the mark is of %s", db.Instance, m.note.Instance), db
	case db.Generation < m.note.Generation || db.Position < m.note.Position:
		return fmt.Sprintf("the database stands at event %d, it had come to %d: it was restored from a backup", db.Position, m.note.Position), db
	}
	return "", db
}

var (
	lastPosition = statement(`SELECT COALESCE(MAX(pos), 0) FROM events`)
	lastEventAt  = statement(`SELECT COALESCE(MAX(at), 0) FROM (SELECT at FROM events ORDER BY pos DESC LIMIT 1) AS newest`)
)

// Identify finds out whether this is the database that the mark knows. It writes the instance into a new one and counts the opening.
// A joined store (PostgreSQL) is opened by many nodes: a node without a mark is a new node, not a copy.
func (db *DB) Identify(conn Conn, now time.Time, joined bool) error {
	q := bare{conn}
	instance, err := readMetaText(q, "instance")
	if err != nil {
		return err
	}
	note := markNote{Instance: instance}
	for name, into := range map[string]*int64{"restores": &note.Restores, "generation": &note.Generation} {
		if *into, err = readMeta(q, name); err != nil {
			return err
		}
	}
	if note.Position, err = readNumber(q, lastPosition); err != nil {
		return err
	}
	fresh := instance == ""
	if fresh {
		id := make([]byte, 8)
		rand.Read(id)
		note.Instance = "ins_" + hex.EncodeToString(id)
	}
	// A store that died before it wrote its first mark has no event either: nothing can be missing from it.
	reason, note := db.Mark.recognise(note, fresh || joined || note.Position == 0)
	db.quarantine.Store(&reason)
	db.identity = note
	if reason != "" {
		return nil
	}
	note.Generation++
	writes := []Write{writeMeta("generation", strconv.FormatInt(note.Generation, 10))}
	if fresh {
		writes = append(writes, writeMeta("instance", note.Instance))
	}
	if joined && !fresh {
		writes, note.Generation = nil, 0 // nodes come and go: only SQLite counts
	}
	if err := conn.Apply(writes); err != nil {
		return err
	}
	db.identity = note
	return nil
}

// Recognised saves the mark once what Identify wrote is committed.
func (db *DB) Recognised(now time.Time) error {
	if db.Quarantine() != "" {
		return nil
	}
	return db.Mark.set(db.identity, now)
}

// Quarantine is the reason why nothing may run, or "".
func (db *DB) Quarantine() string {
	if reason := db.quarantine.Load(); reason != nil {
		return *reason
	}
	return ""
}

// Admit refuses every write while the store is quarantined.
func (db *DB) Admit() error {
	if reason := db.Quarantine(); reason != "" {
		return &holdshort.Error{Code: holdshort.Quarantined, Message: "the store is quarantined: " + reason,
			Hint: "nothing runs until a person has looked: holdshort doctor --accept-restore"}
	}
	return nil
}

// Claim lets one of several who found Due do the saving.
func (m *Mark) Claim(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.saved) < time.Second && !now.Before(m.saved) {
		return false
	}
	m.saved = now
	return true
}

// Instance names the database.
func (db *DB) Instance() string { return db.identity.Instance }
