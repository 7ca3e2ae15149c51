package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/tool"
)

var ana = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceLogin}

// TestPauseMessages: whatever way a pause ends, the history has its question, its answer or decision, and what was said with it, each once
// and linked to run and request.
func TestPauseMessages(t *testing.T) {
	options := []holdshort.Option{{ID: "red", Label: "Red"}, {ID: "blue", Label: "Blue"}}
	flows := []flow.Flow{asker("ask"), confirmer("confirm"),
		flow.New("choose", 1, func(c *flow.Context, q string) ([]string, error) {
			return flow.ChooseMany(c, "q", flow.Question{Text: q}, options...)
		}),
		flow.New("form", 1, func(c *flow.Context, q string) (map[string]any, error) {
			return flow.Form[map[string]any](c, "q", flow.Question{Text: q}, []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`))
		}),
		flow.New("approve", 1, func(c *flow.Context, q string) (bool, error) {
			a, err := flow.Approve(c, "q", flow.Question{Text: q})
			return a.Approved(), err
		}),
		flow.New("two", 1, func(c *flow.Context, q string) (bool, error) {
			a, err := flow.Approve(c, "q", flow.Question{Text: q, To: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})
			return a.Approved(), err
		}),
	}
	bert := ana
	bert.ID = "bert"
	for _, c := range []struct {
		name, flow string
		reply      string
		decide     []DecideInput
		want       string // type, visible to the model (+ or -), author, text
	}{
		{"a reply in chat", "confirm", "yes", nil, "hitl_question+ q?|hitl_reply+ yes"},
		{"an answer from the inbox", "ask", "", []DecideInput{{Action: holdshort.Answer, Actor: ben, Value: []byte(`"Lisbon"`)}}, "hitl_question+ q?|hitl_reply+ Lisbon"},
		{"a form", "form", "", []DecideInput{{Action: holdshort.Answer, Actor: ben, Value: []byte(`{"n":3}`)}}, `hitl_question+ q?|hitl_reply+ {"n":3}`},
		{"a choice", "choose", "", []DecideInput{{Action: holdshort.Select, Actor: ben, OptionIDs: []string{"blue", "red"}}}, "hitl_question+ q?|hitl_reply+ Red, Blue"},
		{"a text to the request", "confirm", "", []DecideInput{{Action: holdshort.Approve, Actor: ben, Raw: "Yes!"}}, "hitl_question+ q?|hitl_reply+ Yes!"},
		{"an approval", "approve", "", []DecideInput{{Action: holdshort.Approve, Actor: ana}}, `hitl_decision+ ana {"action":"approve","request_id":"{req}"}`},
		{"a rejection with a reason", "approve", "", []DecideInput{{Action: holdshort.Reject, Actor: ana, Message: "use 1:1 instead"}},
			`hitl_feedback+ ana use 1:1 instead|hitl_decision+ ana {"action":"reject","request_id":"{req}"}`},
		{"canceled", "ask", "", []DecideInput{{Action: holdshort.Cancel, Actor: ben, Message: "never mind"}},
			`hitl_question+ q?|hitl_feedback+ never mind|hitl_decision- {"action":"cancel","request_id":"{req}"}`},
		{"two approvals", "two", "", []DecideInput{{Action: holdshort.Approve, Actor: ana, Message: "fine"}, {Action: holdshort.Approve, Actor: bert, Message: "fine"}},
			`hitl_feedback+ ana fine|hitl_feedback+ bert fine|hitl_decision+ bert {"action":"approve","request_id":"{req}"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t, Config{Flows: flows})
			s := r.chatting("")
			run := r.begin(c.flow, s, `"q?"`)
			req := r.requests(s)[0]
			r.clock.move(time.Second)
			if c.reply != "" {
				r.hear(s, c.reply)
			}
			for _, d := range c.decide {
				d.Request = req.ID
				if _, err := r.Decide(t.Context(), acme, d); err != nil {
					t.Fatal(err)
				}
				r.settle()
				if _, err := r.Decide(t.Context(), acme, d); err == nil { // again: nothing comes of it
					t.Fatal("decided twice")
				}
			}
			r.restart()
			r.settle()
			var got []string
			for _, m := range r.history(s) {
				if m.RunID != run.ID || m.RequestID != req.ID {
					t.Errorf("%+v belongs to no run or request", m)
				}
				text, sign := m.Parts[0].Text, "-"
				if text == "" {
					text = string(m.Parts[0].Data)
				}
				if m.ModelVisible {
					sign = "+"
				}
				if m.Author != "" {
					sign += " " + m.Author
				}
				got = append(got, m.Type+sign+" "+text)
			}
			if want := strings.ReplaceAll(c.want, "{req}", string(req.ID)); strings.Join(got, "|") != want {
				t.Errorf("%q\nwant %q", got, want)
			}
		})
	}
}

// TestFeedbackPerCall: what is said about one call of a batch is kept too; a response is a result and not feedback.
func TestFeedbackPerCall(t *testing.T) {
	r := newRoom(t, Config{Tools: []tool.Tool{{Name: "pay", Schema: []byte(`{"type":"object"}`), Timeout: time.Second, Call: nothing}},
		Flows: []flow.Flow{flow.New("pay", 1, func(c *flow.Context, _ string) (string, error) {
			_, err := flow.Call[json.RawMessage](c, "p", "pay", map[string]int{"n": 1})
			return string(holdshort.CodeOf(err)), nil
		})}})
	s := r.session(OpenSessionInput{})
	r.begin("pay", s, `""`)
	req := r.requests(s)[0]
	_, err := r.Decide(t.Context(), acme, DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana, Message: "no",
		Calls: []holdshort.CallDecision{{CallID: req.Actions[0].CallID, Action: holdshort.Reject, Message: "too much"}}})
	if err != nil {
		t.Fatal(err)
	}
	r.settle()
	var got []string
	for _, m := range r.history(s) {
		if m.Type == holdshort.TypeFeedback {
			got = append(got, m.Parts[0].Text)
		}
	}
	if strings.Join(got, "|") != "no|too much" {
		t.Errorf("%q", got)
	}
}

// TestPauseMessagesOnPostgres: decisions of two nodes in one session at once leave one message each.
func TestPauseMessagesOnPostgres(t *testing.T) {
	r := onPostgres(t, Config{Flows: []flow.Flow{flow.New("approve", 1, func(c *flow.Context, q string) (bool, error) {
		a, err := flow.Approve(c, "q", flow.Question{Text: q})
		return a.Approved(), err
	})}})
	s := r.session(OpenSessionInput{})
	const many = 8
	for range many {
		r.begin("approve", s, `"q?"`)
	}
	done := make(chan error)
	for _, req := range r.requests(s) {
		for range 2 { // two decide each
			go func() {
				_, err := r.Decide(t.Context(), acme, DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Message: "ok " + string(req.ID)})
				done <- err
			}()
		}
	}
	won := 0
	for range 2 * many {
		switch err := <-done; holdshort.CodeOf(err) {
		case "":
			won++
		case holdshort.Closed:
		default:
			t.Error(err)
		}
	}
	r.settle()
	count := map[string]int{}
	seqs := map[int64]bool{}
	for _, m := range r.history(s) {
		count[m.Type]++
		seqs[m.Seq] = true
	}
	if won != many || count[holdshort.TypeFeedback] != many || count[holdshort.TypeDecision] != many || len(seqs) != 2*many {
		t.Errorf("%d won: %v", won, count)
	}
}
