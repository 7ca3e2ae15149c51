package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

type keyBody struct {
	Name      string   `json:"name,omitempty"`
	Prefix    string   `json:"prefix,omitempty"`
	Roles     []string `json:"roles,omitempty"`
	Scopes    []string `json:"scopes,omitempty"`
	User      string   `json:"user,omitempty"`
	CreatedBy string   `json:"created_by,omitempty"`
}

// No update names what a key may: nobody widens one that is out there.
var insertKey, updateKey = puts("keys", []string{"revoked_at"}, []string{"hash", "created_at", "expires_at", "last_used_at", "body"})

const keyColumns = `id, revision, hash, created_at, expires_at, last_used_at, revoked_at, body`

var (
	selectKey       = point(`SELECT ` + keyColumns + ` FROM keys WHERE tenant = ? AND id = ?`)
	selectKeys      = statement(`SELECT ` + keyColumns + ` FROM keys WHERE tenant = ? ORDER BY id DESC`)
	selectKeyByHash = statement(`SELECT tenant, ` + keyColumns + ` FROM keys WHERE hash = ?`)
	touchKey        = statement(`UPDATE keys SET last_used_at = ? WHERE tenant = ? AND id = ? AND last_used_at < ?`)
)

func (tx *Tx) Key(id holdshort.KeyID) (holdshort.Key, error) {
	return one(tx, selectKey, "key", string(id), tx.scanKey)
}

func (tx *Tx) Keys() ([]holdshort.Key, error) {
	return all(tx, selectKeys, []any{string(tx.tenant)}, tx.scanKey)
}

func (tx *Tx) scanKey(scan func(...any) error) (k holdshort.Key, id string, err error) {
	var created, expires, used, revoked int64
	var body []byte
	if err = scan(&id, &k.Revision, &k.Hash, &created, &expires, &used, &revoked, &body); err != nil {
		return k, id, err
	}
	k.ID, k.CreatedAt, k.ExpiresAt, k.LastUsedAt, k.RevokedAt = holdshort.KeyID(id), fromMicros(created), fromMicros(expires), fromMicros(used), fromMicros(revoked)
	var b keyBody
	if err := tx.decode("key", id, body, &b); err != nil {
		return k, id, err
	}
	k.Name, k.Prefix, k.Roles, k.Scopes, k.User, k.CreatedBy = b.Name, b.Prefix, b.Roles, b.Scopes, b.User, b.CreatedBy
	return k, id, nil
}

func (tx *Tx) PutKey(k holdshort.Key) error {
	id := string(k.ID)
	if err := tx.required("key", id, k.Hash); err != nil {
		return err
	}
	var once []any
	if k.Revision == 0 {
		body, err := tx.encode("key", id, keyBody{Name: k.Name, Prefix: k.Prefix, Roles: k.Roles, Scopes: k.Scopes, User: k.User, CreatedBy: k.CreatedBy})
		if err != nil {
			return err
		}
		once = []any{k.Hash, micros(k.CreatedAt), micros(k.ExpiresAt), micros(k.LastUsedAt), body}
	}
	return tx.put("key", id, k.Revision, insertKey, updateKey, []any{micros(k.RevokedAt)}, once)
}

func (tx *Tx) TouchKey(id holdshort.KeyID, at time.Time) error {
	if err := tx.required("key", string(id)); err != nil {
		return err
	}
	return tx.write(Write{Statement: touchKey, Args: []any{micros(at), string(tx.tenant), string(id), micros(at)}, Want: Any})
}

func (db *DB) KeyByHash(ctx context.Context, hash string) (holdshort.TenantID, holdshort.Key, error) {
	return byHash(ctx, db, selectKeyByHash, "key", hash, (*Tx).scanKey)
}

// byHash finds the one row of all tenants that has the hash.
func byHash[T any](ctx context.Context, db *DB, s *Statement, noun, hash string, scanRow func(*Tx, func(...any) error) (T, string, error)) (tenant holdshort.TenantID, row T, err error) {
	found := false
	if !isText(hash) {
		return "", row, notFound(noun, "")
	}
	err = db.Backend.Snapshot(ctx, func(conn Conn, now time.Time) error {
		found = false
		return conn.Query(s, []any{hash}, func(scan func(...any) error) (err error) {
			reader := &Tx{db: db}
			row, _, err = scanRow(reader, func(dest ...any) error {
				err := scan(append([]any{&tenant}, dest...)...)
				reader.tenant = tenant
				return err
			})
			found = err == nil
			return err
		})
	})
	if err == nil && !found {
		err = notFound(noun, "") // what somebody tried is nobody's business
	}
	if err != nil {
		var none T
		return "", none, err
	}
	return tenant, row, nil
}
