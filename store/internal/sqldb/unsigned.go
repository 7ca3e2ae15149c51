package sqldb

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// DigestSchema is the schema from which on every run has a digest of its journal.
const DigestSchema = 5

const (
	unsignedName    = "unsigned_until" // in meta
	unsignedPurpose = "unsigned-until"
)

var anyRun = statement(`SELECT COUNT(*) FROM (SELECT 1 FROM runs LIMIT 1) AS found`)

// RememberUnsigned notes, signed under the keyring, that runs from before now may have no digest. It is written once, when a database from
// before digests is migrated: a writer of the database cannot extend the time, and without the note every run needs a digest.
func RememberUnsigned(conn Conn, keyring *holdshort.Keyring, now time.Time) error {
	runs, err := readNumber(bare{conn}, anyRun)
	if err != nil || runs == 0 {
		return err // a new database goes through all migrations: no run of it lacks a digest
	}
	at := strconv.FormatInt(micros(now), 10)
	return conn.Apply([]Write{writeMeta(unsignedName, at+" "+keyring.TenantHash(holdshort.SystemTenant, unsignedPurpose, []byte(at)))})
}

// UnsignedUntil returns the time before which runs may have no digest, the zero time if all have one.
func (db *DB) UnsignedUntil(ctx context.Context) (until time.Time, err error) {
	var note string
	err = db.Backend.Snapshot(ctx, func(conn Conn, _ time.Time) (err error) {
		note, err = readMetaText(bare{conn}, unsignedName)
		return err
	})
	at, hash, ok := strings.Cut(note, " ")
	if err != nil || !ok || db.Keyring == nil {
		return until, err
	}
	same, err := db.Keyring.SameTenantHash(holdshort.SystemTenant, unsignedPurpose, hash, []byte(at))
	if err != nil || !same {
		return until, nil // forged or damaged: no run is exempt
	}
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return until, nil
	}
	return fromMicros(n), nil
}
