package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
)

// endpoint is one row of the table: how it is reached, what it takes and gives, and what does it.
type endpoint struct {
	method, path string
	about        about
	in, out      reflect.Type
	or           reflect.Type      // what else it gives, if a view of it is asked for
	serve        func(*call) error // nil: Options.Pages does
}

// about is what the documentation says of an endpoint, and what a caller must be allowed to.
type about struct {
	tag     string
	summary string
	action  policy.Action // what a scoped key must name; "" = any caller who is known
	open    bool          // also without credentials
	status  int           // of success; default 200
	also    []int         // other statuses of success: 201, 202
	errors  []int         // statuses of refusal besides 400, 401, 403, 404, 429 and 503
	once    bool          // takes an Idempotency-Key
	media   string        // of the answer; default application/json
	wait    bool          // may hold the caller for a while: no write deadline
}

// call is one HTTP request on its way through.
type call struct {
	*Server
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context
	who    identity.Who
	about  about
	status int    // of success, if it is another than the table says
	body   []byte // as it was sent
}

// route makes a row: In is filled from path, query and body; what fn gives is the answer.
func route[In, Out any](method, path string, a about, fn func(*call, In) (Out, error)) endpoint {
	return endpoint{method: method, path: path, about: a, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), serve: func(c *call) error {
		var in In
		if err := c.decode(&in); err != nil {
			return err
		}
		if err := c.allowed(); err != nil {
			return err
		}
		out, err := fn(c, in)
		if err != nil {
			return err
		}
		return c.answer(out)
	}}
}

// stream makes a row whose fn writes the answer itself. An error before the first byte is a problem; after it, fn must say so in the stream.
func stream[In any](method, path string, a about, fn func(*call, In) error) endpoint {
	return endpoint{method: method, path: path, about: a, in: reflect.TypeFor[In](), serve: func(c *call) error {
		var in In
		if err := c.decode(&in); err != nil {
			return err
		}
		if err := c.allowed(); err != nil {
			return err
		}
		return fn(c, in)
	}}
}

// none is the input or the answer of an endpoint that has none.
type none struct{}

// allowed refuses a key whose scopes do not name what it wants.
func (c *call) allowed() error {
	if c.about.action == "" || c.who.Allows(c.about.action) {
		return nil
	}
	return c.deny(c.about.action)
}
