package sqldb

import (
	"slices"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
)

var (
	putMeta = statement(`INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
)

// queryer is what both Tx and a bare connection can do.
type queryer interface {
	read(s *Statement, args []any, each func(scan func(dest ...any) error) error) error
}

// bare reads over a connection that belongs to no tenant.
type bare struct{ Conn }

func (b bare) read(s *Statement, args []any, each func(scan func(dest ...any) error) error) error {
	return b.Query(s, args, each)
}

// readMeta gives a number of the store's own notes, 0 if it is not there.
func readMeta(q queryer, name string) (int64, error) {
	text, err := readMetaText(q, name)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &holdshort.Error{Code: holdshort.SchemaCorrupt, Op: "read " + name, Message: "the store's own notes are damaged", Err: err, Hint: "restore a backup"}
	}
	return n, nil
}

func readMetaText(q queryer, name string) (string, error) {
	var text string
	err := q.read(selectMeta, []any{name}, func(scan func(...any) error) error { return scan(&text) })
	return text, err
}

// readNumber gives the one number that a statement selects.
func readNumber(q queryer, s *Statement, args ...any) (int64, error) {
	var n int64
	err := q.read(s, args, func(scan func(...any) error) error { return scan(&n) })
	return n, err
}

func writeMeta(name, value string) Write {
	return Write{Statement: putMeta, Args: []any{name, value}, Want: 1}
}

// KnownKey is the id of the key that the database was last opened with, "" for a new one.
func KnownKey(conn Conn) (string, error) { return readMetaText(bare{conn}, "key_id") }

// CheckKey refuses a keyring that lacks the key that the database was last opened with.
func CheckKey(known string, keyring *holdshort.Keyring) error {
	if known == "" || slices.Contains(keyring.KeyIDs(), known) {
		return nil
	}
	return &holdshort.Error{Code: holdshort.KeyUnknown, Op: "open the keyring", Message: "the database was written under key " + known + ", which the keyring does not have",
		Hint: "use the keyring that belongs to this database; after a rotation the old keys stay in it"}
}

// RememberKey checks the keyring and notes which key signs from now on.
func RememberKey(conn Conn, known string, keyring *holdshort.Keyring) error {
	if err := CheckKey(known, keyring); err != nil || known == keyring.SigningKeyID() {
		return err
	}
	return conn.Apply([]Write{writeMeta("key_id", keyring.SigningKeyID())})
}

// NewestEvent is when the last event was written.
func NewestEvent(conn Conn) (time.Time, error) {
	at, err := readNumber(bare{conn}, lastEventAt)
	return fromMicros(at), err
}
