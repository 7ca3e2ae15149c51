package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Stage is where parts of a message are on their way to.
type Stage string

const (
	StageStore Stage = "store" // the session's history
	StageShow  Stage = "show"  // a person or a program that reads the history
	StageModel Stage = "model" // a language model
)

// Redaction is what a Redact hook gets to look at.
type Redaction struct {
	Tenant  holdshort.TenantID
	Stage   Stage
	Session holdshort.SessionID
	Role    holdshort.Role
	Parts   []holdshort.Part // a copy: the hook may change it
}

// Withheld stands in place of what a hook could not deal with.
const Withheld = "[withheld]"

// redact asks the hook. It fails closed: what the hook chokes on, nobody sees.
func (e *Engine) redact(ctx context.Context, tenant holdshort.TenantID, stage Stage, m holdshort.Message) (parts []holdshort.Part) {
	hook := e.config.Redact
	if hook == nil {
		return m.Parts
	}
	fail := func(why any) {
		e.log.Error("the redaction hook failed: the message is withheld", "stage", stage, "session_id", m.SessionID, "message_id", m.ID, "error", why)
		parts = slices.Repeat([]holdshort.Part{{Type: "text", Text: Withheld}}, max(len(m.Parts), 1))
	}
	defer func() {
		if p := recover(); p != nil {
			fail(p)
		}
	}()
	given := slices.Clone(m.Parts)
	for i := range given {
		given[i].Data = bytes.Clone(given[i].Data)
	}
	parts, err := hook(ctx, Redaction{Tenant: tenant, Stage: stage, Session: m.SessionID, Role: m.Role, Parts: given})
	if err == nil {
		err = keepable(parts)
	}
	if err != nil {
		fail(err)
	}
	return parts
}

// keepable refuses what a hook made of parts if no store could keep it: a message must not be lost for that.
func keepable(parts []holdshort.Part) error {
	size := 0
	for _, p := range parts {
		size += len(p.Text) + len(p.Data) + len(p.Name) + len(p.URL)
		if !utf8.ValidString(p.Text) || !utf8.ValidString(p.Name) || !utf8.ValidString(p.URL) || !utf8.Valid(p.Data) || len(p.Data) > 0 && !json.Valid(p.Data) {
			return &holdshort.Error{Code: holdshort.Invalid, Op: "redact message", Field: "parts", Message: "the hook gave what is neither text nor JSON"}
		}
	}
	if size > store.MaxBody/4 {
		return &holdshort.Error{Code: holdshort.TooLarge, Op: "redact message", Field: "parts", Message: "the hook gave more than a message can hold"}
	}
	return nil
}

// shown gives a message as it may be shown.
func (e *Engine) shown(ctx context.Context, tenant holdshort.TenantID, m holdshort.Message) holdshort.Message {
	m.Parts = e.redact(ctx, tenant, StageShow, m)
	return m
}
