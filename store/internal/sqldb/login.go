package sqldb

import (
	"context"

	"github.com/holdshort/holdshort"
)

type loginBody struct {
	Actor holdshort.Actor `json:"actor"`
}

const loginColumns = `hash, kind, created_at, expires_at, used_at, body`

var (
	insertLogin       = inserts("logins", []string{"tenant", "hash", "kind", "created_at", "expires_at", "used_at", "body"}, "", "", "")
	selectLogin       = point(`SELECT ` + loginColumns + ` FROM logins WHERE tenant = ? AND hash = ?`)
	selectLoginByHash = statement(`SELECT tenant, ` + loginColumns + ` FROM logins WHERE hash = ?`)
	useLogin          = statement(`UPDATE logins SET used_at = ? WHERE tenant = ? AND hash = ? AND used_at = 0`)
	oldLogins         = statement(`SELECT tenant, hash FROM logins WHERE expires_at <= ? ORDER BY expires_at LIMIT ?{skip locked}`)
	pruneLogin        = statement(`DELETE FROM logins WHERE tenant = ? AND hash = ?`)
)

func (tx *Tx) Login(hash string) (holdshort.Login, error) {
	return first(tx, selectLogin, []any{string(tx.tenant), hash}, "login", "", tx.scanLogin)
}

func (tx *Tx) scanLogin(scan func(...any) error) (l holdshort.Login, hash string, err error) {
	var created, expires, used int64
	var body []byte
	if err = scan(&hash, &l.Kind, &created, &expires, &used, &body); err != nil {
		return l, hash, err
	}
	l.Hash, l.CreatedAt, l.ExpiresAt, l.UsedAt = hash, fromMicros(created), fromMicros(expires), fromMicros(used)
	var b loginBody
	if err := tx.decode("login", hash, body, &b); err != nil {
		return l, hash, err
	}
	l.Actor = b.Actor
	return l, hash, nil
}

func (tx *Tx) AddLogin(l holdshort.Login) error {
	if err := tx.required("login", l.Hash, string(l.Kind)); err != nil {
		return err
	}
	body, err := tx.encode("login", l.Hash, loginBody{Actor: l.Actor})
	if err != nil {
		return err
	}
	return tx.write(Write{Statement: insertLogin, Want: 1, Noun: "login", ID: l.Hash,
		Args: []any{string(tx.tenant), l.Hash, string(l.Kind), micros(l.CreatedAt), micros(l.ExpiresAt), micros(l.UsedAt), body}})
}

func (tx *Tx) UseLogin(hash string) error {
	if err := tx.required("login", hash); err != nil {
		return err
	}
	return tx.write(Write{Statement: useLogin, Args: []any{micros(tx.now), string(tx.tenant), hash}, Want: 1, Noun: "login", ID: hash})
}

func (db *DB) LoginByHash(ctx context.Context, hash string) (holdshort.TenantID, holdshort.Login, error) {
	return byHash(ctx, db, selectLoginByHash, "login", hash, (*Tx).scanLogin)
}
