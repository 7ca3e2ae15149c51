package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// Watching selects events. The zero value is everything that happens from now on.
type Watching struct {
	Session holdshort.SessionID
	Run     holdshort.RunID
	Types   []string // globs over names
	// After is the position of the last event that was seen. Default: none, events begin where the server's stream begins.
	After int64
	// Connected is called each time that the stream stands, before its first event. Default: nothing.
	Connected func()
	// Delta gets the pieces of texts that runs of the session, or the run, are making. It is called where fn is. Default: they are passed over.
	Delta func(Delta)
	// Lost is told each time that the stream broke off and is going to be tried again. Default: nothing.
	Lost func(error)
}

// silence after which a stream counts as dead: three keep-alives of the server were missed.
const silence = 50 * time.Second

// Watch hands every event to fn, each position once and in order, and connects again where it broke off, until ctx ends or fn returns an
// error, which it returns. Refusals end it too.
func (c *Client) Watch(ctx context.Context, w Watching, fn func(holdshort.Event) error) error {
	last := w.After
	if last == 0 {
		last = unknown
	}
	for attempt := 0; ; attempt++ {
		before := last
		err := c.stream(ctx, w, &last, fn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if refused, ok := errors.AsType[*Refusal](err); ok && refused.Status != http.StatusServiceUnavailable && refused.Status != http.StatusTooManyRequests {
			return err
		}
		if ended, ok := errors.AsType[stopped](err); ok {
			return ended.error
		}
		if last != before {
			attempt = 0
		}
		if w.Lost != nil {
			w.Lost(err)
		}
		if err := c.pause(ctx, backoff(min(attempt, 5))); err != nil {
			return err
		}
	}
}

// unknown position: the server says where its stream begins.
const unknown = -1

// stopped is what fn wanted.
type stopped struct{ error }

func (c *Client) stream(ctx context.Context, w Watching, last *int64, fn func(holdshort.Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	path := "/v1/events" + query("run", string(w.Run), "session", string(w.Session))
	for _, t := range w.Types {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		path += sep + strings.TrimPrefix(query("type", t), "?")
	}
	in := call{method: http.MethodGet, path: path}
	r, err := c.request(ctx, in, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	if *last != unknown {
		r.Header.Set("Last-Event-ID", strconv.FormatInt(*last, 10))
	}
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	answer, err := c.options.HTTP.Do(r)
	if err != nil {
		return c.unreachable(ctx, in, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
		return refusal(in, answer, raw)
	}
	return frames(answer.Body, func(f frame) error {
		quiet.Reset(silence)
		return w.take(f, last, fn)
	})
}

func (w Watching) take(f frame, last *int64, fn func(holdshort.Event) error) error {
	position, err := strconv.ParseInt(f.id, 10, 64)
	if f.event == "connected" {
		if *last == unknown && err == nil {
			*last = position
		}
		if w.Connected != nil {
			w.Connected()
		}
		return nil
	}
	if len(f.data) == 0 {
		return nil // a keep-alive
	}
	if f.event == "message.delta" || f.event == "message.reset" { // no fact: it has no position, and moves none
		var d Delta
		if json.Unmarshal(f.data, &d) == nil && w.Delta != nil {
			d.Reset = f.event == "message.reset"
			w.Delta(d)
		}
		return nil
	}
	var e holdshort.Event
	if err := json.Unmarshal(f.data, &e); err != nil {
		return stopped{&holdshort.Error{Code: holdshort.Internal, Op: "read event " + f.id, Message: "the stream is not what this client knows", Hint: "check that it is a holdshort server of about the same version", Err: err}}
	}
	if err == nil {
		if position <= *last {
			return nil // seen before the connection broke
		}
		if e.Position == 0 {
			e.Position = position
		}
	}
	if e.Type == "" {
		e.Type = f.event
	}
	if err := fn(e); err != nil {
		return stopped{err}
	}
	if position > 0 {
		*last = position
	}
	return nil
}

// frame is one message of a stream.
type frame struct {
	id, event string
	data      []byte
}

// frames reads a stream of server-sent events to its end.
func frames(body io.Reader, each func(frame) error) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), 4<<20)
	var f frame
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			f.data = []byte(strings.TrimSuffix(string(f.data), "\n"))
			if err := each(f); err != nil {
				return err
			}
			f = frame{}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = append(append(f.data, value...), '\n')
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
