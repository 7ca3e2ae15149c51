package identity

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	freshKeys   = 15 * time.Minute // after that the issuer is asked again, behind the calls
	fetchEvery  = 30 * time.Second
	fetchBurst  = 3
	mostKeysDoc = 1 << 20
)

// remoteKeys are those that an issuer publishes. What was seen keeps counting while the issuer is away; an unknown key makes us look again.
type remoteKeys struct {
	where func(context.Context) (string, error)
	http  *http.Client
	clock func() time.Time
	turn  *turn
	seen  atomic.Pointer[seenKeys]
}

type seenKeys struct {
	keys []jose.JSONWebKey
	at   time.Time
}

func newRemoteKeys(c Config, where func(context.Context) (string, error)) *remoteKeys {
	k := &remoteKeys{where: where, http: c.HTTP, clock: c.Clock, turn: newTurn(c, fetchEvery, fetchBurst)}
	k.seen.Store(&seenKeys{})
	return k
}

func (k *remoteKeys) named(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	seen := k.seen.Load()
	if found := byID(seen.keys, id); len(found) > 0 {
		if k.clock().Sub(seen.at) > freshKeys { // a key that the issuer took back must not count for ever
			k.turn.behind(ctx, k.fetch)
		}
		return found, nil
	}
	if err := k.turn.take(ctx, k.fetch); err != nil {
		return nil, err
	}
	return byID(k.seen.Load().keys, id), nil
}

func (k *remoteKeys) fetch(ctx context.Context) error {
	address, err := k.where(ctx)
	if err != nil {
		return err
	}
	body, err := get(ctx, k.http, address)
	if err != nil {
		return err
	}
	found, err := parseJWKS(body)
	if err != nil {
		return fmt.Errorf("read the keys of %s: %w", address, err)
	}
	k.seen.Store(&seenKeys{found, k.clock()})
	return nil
}

func get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostKeysDoc))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("get %s: %s", address, res.Status)
	}
	return body, err
}

// discovery finds out where an issuer has what, once it can be reached.
type discovery struct {
	issuer string
	http   *http.Client
	turn   *turn
	found  atomic.Pointer[oidc.Provider]
}

func newDiscovery(issuer string, c Config) *discovery {
	return &discovery{issuer: issuer, http: c.HTTP, turn: newTurn(c, fetchEvery/6, fetchBurst)}
}

// provider reads the issuer's document the first time, and refuses one of another issuer.
func (d *discovery) provider(ctx context.Context) (*oidc.Provider, error) {
	if p := d.found.Load(); p != nil {
		return p, nil
	}
	err := d.turn.take(ctx, func(ctx context.Context) error {
		p, err := oidc.NewProvider(oidc.ClientContext(ctx, d.http), d.issuer)
		if err == nil {
			d.found.Store(p)
		}
		return err
	})
	return d.found.Load(), err
}

func (d *discovery) keysURL(ctx context.Context) (string, error) {
	p, err := d.provider(ctx)
	if err != nil {
		return "", err
	}
	var doc struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&doc); err != nil {
		return "", err
	}
	return doc.Keys, checkURL("jwks_uri", doc.Keys)
}
