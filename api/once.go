package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

const longestKey = 200 // as long as any name

// key gives the caller's idempotency key, "" if there is none.
func (c *call) key() (string, error) {
	values := c.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	k := values[0]
	if len(values) > 1 || k == "" || len(k) > longestKey {
		return "", &holdshort.Error{Code: holdshort.Invalid, Field: "Idempotency-Key", Message: "it must be one value of 1 to 200 characters", Hint: "send a random id, the same for every repetition"}
	}
	for _, b := range []byte(k) {
		if b < 0x20 || b > 0x7e {
			return "", &holdshort.Error{Code: holdshort.Invalid, Field: "Idempotency-Key", Message: "it has characters other than printable ASCII", Hint: "send a random id"}
		}
	}
	return k, nil
}

// done is what is kept under a key: which resource the call was about. A replay shows it as it stands.
type done struct {
	ID string `json:"id"`
}

// once lets the use case that is called with the returned context store, in its own transaction, that it was done under the caller's key.
func (c *call) once(status int, id string) (context.Context, error) {
	k, err := c.key()
	if err != nil || k == "" {
		return c.ctx, err
	}
	answer, err := json.Marshal(done{id})
	if err != nil {
		return c.ctx, err
	}
	return c.guarded(k, c.body, status, answer), nil
}

// onceOf does the same for one part of a call.
func (c *call) onceOf(key string, part any, id string) (context.Context, error) {
	body, err := json.Marshal(part)
	if err != nil {
		return c.ctx, err
	}
	answer, err := json.Marshal(done{id})
	return c.guarded(key, body, http.StatusOK, answer), err
}

func (c *call) guarded(key string, body []byte, status int, answer []byte) context.Context {
	if query := c.r.URL.Query(); len(query) > 0 { // what the address asks for is as much of the call as the body; how long to wait is not
		query.Del("wait")
		body = append(slices.Clip(body), "\x00"+query.Encode()...)
	}
	hash := sha256.Sum256(body)
	scope := c.who.Actor.ID
	if user := c.who.Actor.ForUser; user != "" { // what was done for one user was not done for another
		scope += " for " + user
	}
	return engine.Once(c.ctx, engine.OnceKey{Scope: scope + " " + c.r.Method + " " + c.r.URL.Path, Key: key, BodyHash: hex.EncodeToString(hash[:]), Status: status, Answer: answer})
}

// replayed reports whether err says that the call was done before under its key, and of which resource.
func (c *call) replayed(err error) (id string, ok bool) {
	var before *engine.Replayed
	if !errors.As(err, &before) {
		return "", false
	}
	var d done
	if json.Unmarshal(before.Answer, &d) != nil {
		return "", false
	}
	c.again(before.Status)
	return d.ID, true
}

// again marks the answer as one that was given before.
func (c *call) again(status int) {
	c.w.Header().Set("Idempotent-Replayed", "true")
	if status != 0 && status != http.StatusNoContent {
		c.status = status
	}
}
