package sqlite

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort/store"
)

// TestBoundedReads: what is counted, and what is read of a long history, is found by an index that has nothing else.
func TestBoundedReads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read func(tx store.Tx) error
		want []string // each names an index that one of the statements uses
	}{
		"stats": {func(tx store.Tx) error { _, err := tx.Stats(); return err },
			[]string{"requests_kind", "requests_urgency", "requests_lost", "requests_step", "runs_held", "runs_status", "operations_unknown", "outbox_due", "timers", "decisions"}},
		"comments": {func(tx store.Tx) error { _, err := tx.Comments("req_1"); return err }, []string{"events_comments"}},
		"window": {func(tx store.Tx) error {
			_, err := tx.Messages(store.MessageQuery{Session: "ses_1", Since: time.Unix(1, 0)})
			return err
		}, []string{"messages_pinned", "messages_time"}},
		"window from its end": {func(tx store.Tx) error {
			_, err := tx.Messages(store.MessageQuery{Session: "ses_1", Since: time.Unix(1, 0), Newest: true})
			return err
		}, []string{"messages_pinned", "messages_time"}},
		"pinned": {func(tx store.Tx) error {
			_, err := tx.Messages(store.MessageQuery{Session: "ses_1", Pinned: true})
			return err
		}, []string{"messages_pinned"}},
		"by external id": {func(tx store.Tx) error {
			if _, err := tx.MessageNamed("ses_1", "x"); err == nil {
				return fmt.Errorf("there is none")
			}
			return nil
		}, []string{"messages_external"}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var texts []string
			f := newFile(t, Options{OnStatement: func(text string) {
				mu.Lock()
				defer mu.Unlock()
				if strings.HasPrefix(text, "SELECT") {
					texts = append(texts, text)
				}
			}})
			mu.Lock()
			texts = nil
			mu.Unlock()
			if err := f.store.Update(context.Background(), "acme", c.read); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			asked := texts
			mu.Unlock()
			plans := ""
			for _, text := range asked {
				args := make([]any, strings.Count(text, "?"))
				for i := range args {
					args[i] = 1
				}
				plan := fmt.Sprint(f.Rows(t, "EXPLAIN QUERY PLAN "+text, args...))
				for _, table := range []string{"requests", "runs", "messages", "events", "operations", "decisions", "outbox", "timers"} {
					if strings.Contains(plan, "SCAN "+table) {
						t.Errorf("%s\nreads the whole table: %s", text, plan)
					}
				}
				if strings.Contains(plan, "FOR ORDER BY") && name != "comments" { // those of one request are few
					t.Errorf("%s\nputs in order what an index has in order: %s", text, plan)
				}
				plans += plan + "\n"
			}
			for _, index := range c.want {
				if !strings.Contains(plans, index) {
					t.Errorf("nothing uses %s:\n%s", index, plans)
				}
			}
		})
	}
}
