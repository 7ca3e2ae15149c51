package engine

import (
	"context"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	keyTrust  = 5 * time.Second // how long a key that was looked up is believed
	mostKeys  = 10_000          // remembered at once
	touchEach = time.Minute     // how often a use is noted
)

// opened remembers keys that were looked up a moment ago, so that a busy caller does not cost a read each time.
type opened struct {
	mu   sync.Mutex
	keys map[string]openedKey
	used map[holdshort.KeyID]time.Time // when a use was last noted by this node
}

type openedKey struct {
	tenant holdshort.TenantID
	key    holdshort.Key
	now    time.Time // the store's, when it was looked up
	at     time.Time // this process's
}

func (o *opened) get(hash string) (openedKey, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k, ok := o.keys[hash]
	if ok && time.Since(k.at) > keyTrust {
		delete(o.keys, hash)
		ok = false
	}
	return k, ok
}

func (o *opened) put(hash string, k openedKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys == nil || len(o.keys) >= mostKeys {
		o.keys = map[string]openedKey{}
	}
	o.keys[hash] = k
}

func (o *opened) forget(hash string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.keys, hash)
}

// due reports whether a use at now is to be noted, and if so takes it as noted.
func (o *opened) due(key holdshort.Key, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := latest(key.LastUsedAt, o.used[key.ID])
	if now.Sub(last) < touchEach {
		return false
	}
	if o.used == nil || len(o.used) >= mostKeys {
		o.used = map[holdshort.KeyID]time.Time{}
	}
	o.used[key.ID] = now
	return true
}

// KeyBySecret finds the key and the tenant that a secret opens: NotFound if it is unknown, revoked or expired.
func (e *Engine) KeyBySecret(ctx context.Context, secret string) (holdshort.TenantID, holdshort.Key, error) {
	hash := hashSecret(secret)
	k, ok := e.opened.get(hash)
	if !ok {
		var err error
		if k, err = e.lookUpKey(ctx, hash); err != nil {
			return "", holdshort.Key{}, err
		}
		e.opened.put(hash, k)
	}
	now := k.now.Add(time.Since(k.at))
	if !k.key.Live(now) {
		return "", holdshort.Key{}, noSuchKey()
	}
	if e.opened.due(k.key, now) && e.enter() {
		go func() {
			defer e.wg.Done()
			e.touchKey(k.tenant, k.key.ID, now)
		}()
	}
	key := k.key
	key.Hash = ""
	return k.tenant, key, nil
}

func (e *Engine) lookUpKey(ctx context.Context, hash string) (k openedKey, err error) {
	if k.now, err = e.store.System().Now(ctx); err != nil {
		return k, err
	}
	k.at = time.Now()
	k.tenant, k.key, err = e.store.System().KeyByHash(ctx, hash)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		err = noSuchKey()
	}
	return k, err
}

func noSuchKey() error {
	return &holdshort.Error{Code: holdshort.NotFound, Op: "look up key", Message: "no such key, or it was revoked, or it expired", Hint: "send a key that is listed and live"}
}

// touchKey notes that a key was used. Nobody waits for it, and one that is lost is no harm.
func (e *Engine) touchKey(tenant holdshort.TenantID, id holdshort.KeyID, at time.Time) {
	ctx, cancel := context.WithTimeout(store.Patient(e.hard), 10*time.Second)
	defer cancel()
	err := e.store.Update(ctx, tenant, func(tx store.Tx) error { return tx.TouchKey(id, at) }, store.KeyRow(id))
	if err != nil && !e.draining.Load() {
		e.log.Warn("note that a key was used", "key_id", id, "error", err)
	}
}
