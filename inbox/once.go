package inbox

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/url"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// newOnce is the key of one drawn form: however often it is sent, it is done once.
func newOnce() string { return rand.Text() }

// formOnce lets the use case that is called with the context be done once for a drawn form. id is what a repetition is told.
func (v *visit) formOnce(form url.Values, id string) (context.Context, error) {
	key := form.Get("once")
	if key == "" || len(key) > 100 {
		return v.ctx, &holdshort.Error{Code: holdshort.Invalid, Field: "once", Message: "the form is not whole", Hint: "open the page again"}
	}
	rest := maps.Clone(form)
	delete(rest, "once")
	hash := sha256.Sum256([]byte(rest.Encode()))
	scope := v.actor().ID
	if user := v.actor().ForUser; user != "" { // what was done for one user was not done for another
		scope += " for " + user
	}
	return engine.Once(v.ctx, engine.OnceKey{Scope: scope + " page " + v.r.URL.Path, Key: key, BodyHash: hex.EncodeToString(hash[:]), Status: http.StatusOK, Answer: []byte(id)}), nil
}

// doneBefore reports whether err says that this very form was sent before, and of what.
func doneBefore(err error) (id string, ok bool) {
	var before *engine.Replayed
	if !errors.As(err, &before) {
		return "", false
	}
	return string(before.Answer), true
}
