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
	Seal       int64     `json:"seal"`       // number of the newest seal
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

// Progress is how far a database has come.
type Progress struct{ Position, Seal int64 }

// Advance saves how far the database has come.
func (m *Mark) Advance(p Progress, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known || p.Position <= m.note.Position && p.Seal <= m.note.Seal {
		m.saved = now
		return nil
	}
	m.note.Position, m.note.Seal = max(m.note.Position, p.Position), max(m.note.Seal, p.Seal)
	return m.save(now)
}

// come is how far it had come when the mark was last saved.
func (m *Mark) come() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Progress{m.note.Position, m.note.Seal}
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

// suspicion compares the database with the mark and gives the reason for a quarantine, or "". unmarked says that no mark is no reason.
func (m *Mark) suspicion(db markNote, unmarked bool) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.path == "" || !m.known && unmarked:
		return ""
	case !m.known:
		return "the mark beside the keyring is missing: this database may be a copy"
	case db.Restores > m.note.Restores && db.Instance == m.note.Instance:
		return "" // accepted on another node
	case db.Instance != m.note.Instance:
		return fmt.Sprintf("this is database %s, the mark is of %s", db.Instance, m.note.Instance)
	case db.Generation < m.note.Generation || db.Position < m.note.Position || db.Seal < m.note.Seal:
		return fmt.Sprintf("the database stands at event %d, it had come to %d: it was restored from a backup", db.Position, m.note.Position)
	}
	return ""
}

var (
	lastPosition = statement(`SELECT COALESCE(MAX(pos), 0) FROM events`)
	lastSealNo   = statement(`SELECT COALESCE(MAX(number), 0) FROM seals`)
	lastEventAt  = statement(`SELECT COALESCE(MAX(at), 0) FROM (SELECT at FROM events ORDER BY pos DESC LIMIT 1) AS newest`)
)

// Recognise finds out whether this is the database that the mark knows, without writing anything. A joined store (PostgreSQL) is opened by many
// nodes: a node without a mark is a new node, not a copy.
func (db *DB) Recognise(conn Conn, joined bool) error {
	q := bare{conn}
	var note markNote
	var err error
	if note.Instance, err = readMetaText(q, "instance"); err != nil {
		return err
	}
	for name, into := range map[string]*int64{"restores": &note.Restores, "generation": &note.Generation} {
		if *into, err = readMeta(q, name); err != nil {
			return err
		}
	}
	progress, err := ReadProgress(conn)
	if err != nil {
		return err
	}
	note.Position, note.Seal = progress.Position, progress.Seal
	// A store that died before it wrote its first mark has no event either: nothing can be missing from it.
	reason := db.Mark.suspicion(note, joined || note.Instance == "" || note.Position == 0)
	db.quarantine.Store(&reason)
	db.identity = note
	return nil
}

func newInstance() string {
	id := make([]byte, 8)
	rand.Read(id)
	return "ins_" + hex.EncodeToString(id)
}

// Identify recognises the database, writes the instance into a new one and counts the opening.
func (db *DB) Identify(conn Conn, joined bool) error {
	if err := db.Recognise(conn, joined); err != nil || db.Quarantine() != "" {
		return err
	}
	note := &db.identity
	var writes []Write
	if note.Instance == "" {
		note.Instance = newInstance()
		writes = append(writes, writeMeta("instance", note.Instance))
	}
	if !joined { // there nodes come and go
		note.Generation++
		writes = append(writes, writeMeta("generation", strconv.FormatInt(note.Generation, 10)))
	}
	return conn.Apply(writes)
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
