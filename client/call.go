package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
)

// maxAnswer of a call: more is not an answer of this API.
const maxAnswer = 64 << 20

// call is one call of the API.
type call struct {
	method, path string
	body         any
	key          string        // idempotency key; "" makes one for a POST
	unsafe       bool          // may not be made again when nobody answered: the server takes no key for it
	wait         time.Duration // the server may hold it so long
}

// do makes the call, again where that is safe, and decodes the answer into out. It gives the status of success.
func (c *Client) do(ctx context.Context, in call, out any) (int, error) {
	body, err := encode(in.body)
	if err != nil {
		return 0, err
	}
	if in.method == http.MethodPost && in.key == "" {
		in.key = NewKey()
	}
	for attempt := 0; ; attempt++ {
		status, after, err := c.once(ctx, in, body, out)
		if err == nil || attempt >= c.options.Retries || !again(in, err) || ctx.Err() != nil {
			return status, err
		}
		if c.pause(ctx, max(after, backoff(attempt))) != nil {
			return status, err
		}
	}
}

func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "encode the call", Message: "it does not fit into JSON", Hint: "check raw JSON fields", Err: err}
	}
	return raw, nil
}

// again reports whether the same call may be made once more: it was surely not done, or doing it twice is what its key prevents.
func again(in call, err error) bool {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable && r.Err.Code != holdshort.Quarantined && !in.unsafe
	}
	return holdshort.CodeOf(err) == Unreachable && !in.unsafe
}

func backoff(attempt int) time.Duration {
	d := min(100*time.Millisecond<<attempt, 3*time.Second)
	return d/2 + rand.N(d/2)
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, in call, body []byte, out any) (status int, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout+in.wait)
	defer cancel()
	r, err := c.request(ctx, in, body)
	if err != nil {
		return 0, 0, err
	}
	answer, err := c.options.HTTP.Do(r)
	if err != nil {
		return 0, 0, c.unreachable(ctx, in, err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return 0, 0, c.unreachable(ctx, in, err)
	}
	if answer.StatusCode/100 != 2 {
		return answer.StatusCode, retryAfter(answer.Header), refusal(in, answer, raw)
	}
	if out == nil || len(raw) == 0 {
		return answer.StatusCode, 0, nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return answer.StatusCode, 0, &holdshort.Error{Code: holdshort.Internal, Op: in.method + " " + in.path, Message: "the answer is not what this client knows", Hint: "check that it is a holdshort server of about the same version", Err: err}
	}
	return answer.StatusCode, 0, nil
}

func (c *Client) request(ctx context.Context, in call, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, in.method, c.base+in.path, bytes.NewReader(body))
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: in.method + " " + in.path, Err: err}
	}
	h := r.Header
	h.Set("Accept", "application/json")
	h.Set("User-Agent", c.options.Agent)
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	if c.options.ForUser != "" {
		h.Set("Holdshort-User", c.options.ForUser)
	}
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	if in.key != "" {
		h.Set("Idempotency-Key", in.key)
	}
	return r, nil
}

// unreachable is the error of a call that nobody answered. A caller who gave up is told so, and nothing else.
func (c *Client) unreachable(ctx context.Context, in call, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &holdshort.Error{Code: Unreachable, Op: in.method + " " + in.path, Message: c.base + " does not answer", Hint: "check that the server runs and its address", Err: err}
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, 10*time.Second)
}
