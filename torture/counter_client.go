package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/holdshort/holdshort/tool"
)

// outside is how a process speaks with the counter.
type outside struct {
	address string
	client  *http.Client
	timed   bool // the store's clock is the machine's, as far as anybody knows: deadlines mean something here
}

func newOutside(address string) outside {
	return outside{address: address, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

func (w outside) post(ctx context.Context, path string, query url.Values, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+w.address+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, tool.NotSent(err)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return nil, tool.NotSent(err)
		}
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, tool.StatusError(answer.StatusCode, string(bytes.TrimSpace(text)))
	}
	return text, nil
}

// call takes effect.
func (w outside) call(ctx context.Context, name string, once bool, call tool.Call) (tool.Result, error) {
	query := url.Values{"operation": {call.OperationID}, "tool": {name}, "attempt": {strconv.Itoa(call.Attempt)}}
	if w.timed {
		query.Set("deadline", strconv.FormatInt(call.Deadline.UnixMicro(), 10))
	}
	if once {
		query.Set("once", "1")
	}
	text, err := w.post(ctx, "/effect", query, call.Args)
	if err != nil {
		return tool.Result{}, err
	}
	var receipt map[string]string
	if err := json.Unmarshal(text, &receipt); err != nil {
		return tool.Result{}, err // a truncated answer: nobody knows
	}
	return tool.Result{Value: bytes.TrimSpace(text), ExternalIDs: map[string][]string{"receipt": {receipt["receipt"]}}}, nil
}

// settle asks what became of an operation, and keeps what did not happen from happening.
func (w outside) settle(ctx context.Context, operation string, attempt int) (Effect, error) {
	var e Effect
	text, err := w.post(ctx, "/settle", url.Values{"operation": {operation}, "attempt": {strconv.Itoa(attempt)}}, nil)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	return e, err
}

func (w outside) mark(ctx context.Context, at string, m Mark) error {
	body, err := json.Marshal(m)
	if err == nil {
		_, err = w.post(ctx, "/mark", url.Values{"at": {at}}, body)
	}
	return err
}

func (w outside) deliver(ctx context.Context, run, key string) error {
	_, err := w.post(ctx, "/deliver", url.Values{"run": {run}, "key": {key}}, nil)
	return err
}

func (w outside) seen(ctx context.Context) (Seen, error) {
	var s Seen
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+"/seen", nil)
	if err != nil {
		return s, err
	}
	answer, err := w.client.Do(r)
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	return s, json.NewDecoder(answer.Body).Decode(&s)
}
