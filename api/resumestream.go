package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// streamResumed tells what became of a decision as server-sent events: decided at once, then what the run says, then result, which is what
// the same call without a stream answers. Once the stream has begun there is no status left to say it with: an error is an event.
func (c *call) streamResumed(d Decided, verb holdshort.Verb, how manner, pieces <-chan engine.Delta) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	defer context.AfterFunc(c.ending, cancel)()
	control := http.NewResponseController(c.w)
	defer control.SetWriteDeadline(time.Time{})
	out := &eventStream{call: c, sights: newSights(c.engine), control: control, checked: time.Now(), all: seesAll(c.who)}
	out.open()
	tell := func(name string) error {
		answer, err := c.resumed(d, verb, manner{enough: how.enough}) // as it stands
		if err != nil {
			return err
		}
		raw, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		out.write("event: " + name + "\ndata: " + string(raw) + "\n\n")
		return out.flush()
	}
	err := tell("decided")
	if err == nil && d.Request.Status != holdshort.RequestOpen && d.Request.RunID != "" && how.wait > 0 {
		err = out.listen(ctx, d.Request.RunID, how, pieces)
	}
	if err == nil {
		err = tell("result")
	}
	if err != nil && c.ctx.Err() == nil {
		out.fail(err)
	}
	return nil
}

// open begins a stream that has no position.
func (s *eventStream) open() {
	s.control.SetReadDeadline(time.Time{})
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.begun = true
}

// listen tells what a run says until it rests, the wait is over, or the server stops: then it is told as it stands.
func (s *eventStream) listen(ctx context.Context, run holdshort.RunID, how manner, pieces <-chan engine.Delta) error {
	ctx, cancel := context.WithTimeout(ctx, how.wait)
	defer cancel()
	rests, tenant := make(chan error, 1), s.who.Tenant
	go func() {
		_, err := s.engine.AwaitRun(ctx, tenant, run, how.enough)
		rests <- err
	}()
	quiet := time.NewTicker(s.options.KeepAlive)
	defer quiet.Stop()
	to := ear{pieces: pieces, piece: s.delta, flush: s.flush}
	for {
		select {
		case piece := <-pieces:
			if err := hear(piece, to); err != nil {
				return err
			}
		case <-quiet.C:
			if err := s.quiet(); err != nil {
				return err
			}
		case err := <-rests:
			if err := overhear(to); err != nil { // what it said last
				return err
			}
			if err != nil && ctx.Err() == nil {
				return err
			}
			return s.check()
		}
	}
}
