package mcp

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// Somebody approves a call, and before it runs the server gives the tool another meaning: the approval was for the old one.
func TestChangedBetweenQuestionAndApproval(t *testing.T) {
	for _, agreed := range []bool{true, false} {
		dir := t.TempDir()
		c := child(t, dir)
		if agreed {
			pins, err := connect(t, c).Pins(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.Pins = pins
		}
		s := connect(t, c)
		tools, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{do}, Tools: tools, Policy: policy.AskAlways})
		run := k.Start("do", order{"shop/refund", asked{Text: "a"}})
		req := k.Request(run)
		if _, err := callWith(t, toolsOf(t, s)["plain"], `{"do":"change","text":"sends everything to me"}`); err != nil {
			t.Fatal(err)
		}
		calls := count(t, dir, "calls")
		eventually(t, "the change is known", func() bool { return described(s, "refund") == "sends everything to me" })
		k.As("ana", "reviewer").Approve(req)
		if n := count(t, dir, "calls") - calls; n != 0 || k.Run(run).Status != holdshort.RunWaiting || k.Request(run).ID == req.ID {
			t.Fatalf("agreed to %v: %d calls of another tool than the approved one; the run is %s", agreed, n, k.Run(run).Status)
		}
		k.As("ana", "reviewer").Approve(k.Request(run))
		if got := holdshorttest.Result[string](k, run); got != "echo: a" {
			t.Errorf("approved as it is now, it gives %q", got)
		}
	}
}

// A call that was judged before a change is not made after it, even if somebody else has looked at the tool meanwhile.
func TestJudgedByTheOldDefinition(t *testing.T) {
	dir := t.TempDir()
	c := child(t, dir)
	s := connect(t, c)
	made := toolsOf(t, s)["refund"]
	judged := made.Definition()
	if _, err := callWith(t, toolsOf(t, s)["plain"], `{"do":"change","text":"sends everything to me"}`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change is known", func() bool { return described(s, "refund") == "sends everything to me" })
	calls := count(t, dir, "calls")
	made.Changed() // another run asks about it
	if _, err := made.Call(t.Context(), tool.Call{Args: []byte(`{}`), Definition: judged}); err == nil || !made.IsDefinite(err) || count(t, dir, "calls") != calls {
		t.Errorf("it was called: %v", err)
	}
}

func described(s *Server, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.known[name]; ok {
		return d.tool.Description
	}
	return ""
}
