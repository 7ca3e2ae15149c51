package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/holdshort/holdshort"
)

// Sender carries deliveries of one channel out.
type Sender interface {
	// Send hands a delivery to the channel. Its key is the same for every attempt: a crash after the channel took it, and before that was
	// stored, sends it again. The body of a chat delivery is an Outbound. An error is tried again later, unless it was made by Refused.
	Send(ctx context.Context, tenant holdshort.TenantID, d holdshort.Delivery) error
}

// Patient is a Sender with a timeout of its own. Default: 30 seconds.
type Patient interface {
	Timeout() time.Duration
}

// Attached is a Sender that asks the engine where and with what to send. New hands it the engine.
type Attached interface {
	Attach(*Engine)
}

// Scheduled is a Sender whose channel has a custom of its own for when to try again.
type Scheduled interface {
	// Pause is how long to wait after so many attempts; false: that was the last.
	Pause(attempts int) (time.Duration, bool)
}

// RetryAfter marks an error of Send with what the receiver asked for: no further attempt before that.
func RetryAfter(err error, pause time.Duration) error {
	if err == nil {
		return nil
	}
	return laterSend{err, pause}
}

type laterSend struct {
	error
	pause time.Duration
}

func (l laterSend) Unwrap() error { return l.error }

// nextAttempt says when a delivery is tried again; false: never.
func nextAttempt(s Sender, d holdshort.Delivery, fault error, now time.Time) (time.Time, bool) {
	pause, more := backoff(d.Attempt), d.Attempt < giveUpAt && now.Before(d.CreatedAt.Add(giveUpTime))
	if s, ok := s.(Scheduled); ok {
		pause, more = s.Pause(d.Attempt)
	}
	var later laterSend
	if errors.As(fault, &later) {
		pause = max(pause, min(later.pause, giveUpTime))
	}
	return now.Add(pause), more && !isRefused(fault)
}

// NextAttempt is when the outbox tries again what a Sender failed to send for the first time; false: never. It is for tests of senders.
func NextAttempt(s Sender, fault error, now time.Time) (time.Time, bool) {
	return nextAttempt(s, holdshort.Delivery{Attempt: 1, CreatedAt: now}, fault, now)
}

const sendTimeout = 30 * time.Second

func timeoutOf(s Sender) time.Duration {
	if p, ok := s.(Patient); ok && p.Timeout() > 0 {
		return p.Timeout()
	}
	return sendTimeout
}

// Refused marks an error of Send as final: no further attempt can succeed.
func Refused(err error) error {
	if err == nil {
		return nil
	}
	return refusedSend{err}
}

type refusedSend struct{ error }

func (r refusedSend) Unwrap() error { return r.error }

func isRefused(err error) bool {
	var r refusedSend
	return errors.As(err, &r)
}

// Outbound is the body of a chat delivery: what to show, and what is asked, for channels that have buttons or lists.
type Outbound struct {
	Kind     string              `json:"kind"` // message, question, reask or notice
	Message  holdshort.MessageID `json:"message_id"`
	Parts    []holdshort.Part    `json:"parts"`
	Language string              `json:"language,omitempty"`
	Request  *Prompt             `json:"request,omitempty"` // of a question and a reask
}

// Prompt is what a channel needs to know of the request that it asks.
type Prompt struct {
	ID            holdshort.RequestID     `json:"id"`
	Code          string                  `json:"code,omitempty"`
	Kind          holdshort.Kind          `json:"kind"`
	ExpectedInput holdshort.ExpectedInput `json:"expected_input"`
	Options       []holdshort.Option      `json:"options,omitempty"`
	Schema        json.RawMessage         `json:"schema,omitempty"`
	ExpiresAt     time.Time               `json:"expires_at,omitzero"`
}

func outbound(u utterance, m holdshort.Message, s holdshort.Session) Outbound {
	o := Outbound{Kind: u.shape, Message: m.ID, Parts: m.Parts, Language: s.Language}
	if r := u.request; r != nil {
		o.Request = &Prompt{ID: r.ID, Code: r.Code, Kind: r.Kind, ExpectedInput: r.ExpectedInput, Options: r.Options, Schema: r.Schema, ExpiresAt: r.ExpiresAt}
		if r.Language != "" {
			o.Language = r.Language
		}
	}
	return o
}
