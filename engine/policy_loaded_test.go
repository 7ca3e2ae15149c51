package engine_test

import (
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store/sqlite"
)

// Which rules stood when is in the log, with their version and nothing of what they say.
func TestPolicyLoaded(t *testing.T) {
	s, err := sqlite.OpenTemporary(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := engine.New(s, engine.Config{Node: "here"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.PolicyLoaded(t.Context(), tenant, "a1b2", 9); err != nil {
		t.Fatal(err)
	}
	page, err := e.Events(t.Context(), tenant, engine.EventQuery{Types: []string{"policy.*"}})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v %v", page, err)
	}
	if got := page.Items[0]; got.Type != "policy.loaded" || got.Actor != "system:here" || !strings.Contains(string(got.Data), `"version":"a1b2"`) || got.Session != holdshort.SessionID("") {
		t.Errorf("%+v %s", got, got.Data)
	}
}
