package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Comment is what somebody said about a request without deciding it.
type Comment struct {
	ID     holdshort.EventID `json:"id"`
	Actor  string            `json:"actor"`
	Text   string            `json:"text"`
	At     time.Time         `json:"at"`
	Erased bool              `json:"erased,omitempty"` // the text went with its session or run
}

// Comments lists what was said about a request, oldest first, a thousand at most.
func (e *Engine) Comments(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) ([]Comment, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) ([]Comment, error) {
		if _, err := tx.Request(id); err != nil {
			return nil, err
		}
		events, err := tx.Comments(id)
		list := make([]Comment, 0, len(events))
		for _, ev := range events {
			var fact struct {
				Body string `json:"body"`
			}
			if err := json.Unmarshal(ev.Data, &fact); err != nil {
				return nil, &holdshort.Error{Code: holdshort.Corrupt, Op: "read comment " + string(ev.ID), Message: "its event cannot be read", Err: err}
			}
			text, err := tx.Body(fact.Body)
			if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
				return nil, err
			}
			list = append(list, Comment{ID: ev.ID, Actor: ev.Actor, Text: string(text), At: ev.At, Erased: err != nil})
		}
		return list, err
	})
}
