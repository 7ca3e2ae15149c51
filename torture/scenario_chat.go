package torture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
)

// letter is a message as a flow gets it.
type letter struct {
	Text string `json:"text"`
}

// Inbound: six messages of a session, each sent several times, some at once and out of order; each is processed once.
var Inbound = Scenario{
	Name: "duplicate and reordered inbound",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("chatter", 1, func(c *flow.Context, first letter) (string, error) {
			texts := []string{first.Text}
			for len(texts) < 6 {
				next, err := flow.Wait[letter](c, "message", 0)
				if err != nil {
					return "", err
				}
				texts = append(texts, next.Text)
			}
			flow.Say(c, "thanks", "got "+strings.Join(texts, ", "))
			return strings.Join(texts, " "), nil
		})}
	},
	Drive: func(h *Hand) {
		h.session("chatter")
		h.receive("m1", "one")
		h.receive("m1", "one")
		h.atOnce(6, func(i int) func() { return h.receiving("m"+fmt.Sprint(2+i/2), []string{"two", "three", "four"}[i/2]) })
		h.receive("m6", "six")
		h.receive("m5", "five")
		h.receive("m2", "two")
		_, err := h.Engine.Receive(h.ctx, h.Tenant, engine.Inbound{Channel: "chat", Address: User.ID, ID: "m3", Text: "something else"})
		if err == nil {
			h.Violate(InboundOnce, "one id was taken for two messages")
		} else if holdshort.CodeOf(err) != holdshort.Duplicate {
			h.must(err, "receive another body")
		}
		h.Until("the run ends", func() bool {
			page, err := h.Engine.Runs(h.ctx, h.Tenant, engine.RunQuery{})
			h.must(err, "list runs")
			return len(h.outside.heard()) > 0 && len(page.Items) > 0 && !slices.ContainsFunc(page.Items, func(r holdshort.Run) bool { return !r.Status.Ended() })
		})
	},
	Check: func(w *World, f *Facts) {
		var texts []string
		for _, r := range f.Runs {
			texts = append(texts, strings.Fields(strings.Trim(string(r.Result), `"`))...)
		}
		slices.Sort(texts)
		if got := strings.Join(texts, " "); got != "five four one six three two" || len(f.Runs) != 1 {
			w.Violate(InboundOnce, "%d runs processed %q", len(f.Runs), got)
		}
		w.Count(Line{Inbound: 6})
		if heard := w.outside.heard(); len(heard) != 1 {
			w.Violate(NotRepeated, "the user was told %q", heard)
		}
	},
}

// session makes sure that the user has one.
func (h *Hand) session(flow string) holdshort.Session {
	if flow != "" {
		flow = h.flowName(flow)
	}
	s, err := h.Engine.OpenSession(h.ctx, h.Tenant, engine.OpenSessionInput{User: User.ID, Channel: "chat", Address: User.ID, Flow: flow})
	h.must(err, "open the session")
	return s
}

// receiving accepts a message and tells later how it went.
func (h *Hand) receiving(id, text string) func() {
	_, err := h.Engine.Receive(h.ctx, h.Tenant, engine.Inbound{Channel: "chat", Address: User.ID, ID: id, Text: text})
	return func() { h.must(err, "receive "+id) }
}

func (h *Hand) receive(id, text string) {
	h.receiving(id, text)()
	h.settle()
}

// Prompts: three runs of a session ask the user; one question is open at a time, and each answer goes to the one that was read.
var Prompts = Scenario{
	Name: "queued prompts",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("asker", 1, func(c *flow.Context, run string) (string, error) {
			yes, err := flow.Confirm(c, "sure", flow.Question{Text: "sure about " + run + "?", Expires: flow.Never})
			if err == nil {
				flow.Say(c, "done", "done with "+run)
			}
			return fmt.Sprint(yes), err
		})}
	},
	Drive: func(h *Hand) {
		s := h.session("")
		for i, id := range promptRuns {
			h.startIn(id, "asker", s.ID)
			if i == 0 {
				h.Settle()
			}
		}
		words := []string{"yes", "no", "yes"}
		for n := range 12 {
			open := slices.IndexFunc(promptRuns, func(id holdshort.RunID) bool { return h.prompted(id) })
			if open < 0 {
				break
			}
			h.Pass(15 * time.Second) // past the time in which a reply may have been meant for the prompt before
			h.reply(promptRuns[open], fmt.Sprint("reply ", open, " ", n), words[open])
			h.Settle()
		}
		for _, id := range promptRuns {
			h.Ends(id)
			h.Until("the user has read of "+string(id), func() bool { return count(h.outside.heard(), "done with "+string(id)) > 0 })
		}
	},
	Check: func(w *World, f *Facts) {
		for i, id := range promptRuns {
			ended(w, f, id, holdshort.RunCompleted, []string{"true", "false", "true"}[i])
		}
		var asked []holdshort.Request
		for _, r := range f.Requests {
			asked = append(asked, r)
		}
		slices.SortFunc(asked, func(a, b holdshort.Request) int { return a.AskedAt.Compare(b.AskedAt) })
		for i := 1; i < len(asked); i++ {
			if asked[i].AskedAt.Before(asked[i-1].ClosedAt) {
				w.Violate(OneDecision, "two prompts of a session were open at once: %s and %s", asked[i-1].ID, asked[i].ID)
			}
		}
		heard := w.outside.heard()
		for _, id := range promptRuns {
			for _, part := range []string{"sure about " + string(id), "done with " + string(id)} {
				if n := count(heard, part); n < 1 || n > 1 && strings.HasPrefix(part, "done") {
					w.Violate(NotRepeated, "the user read %q %d times: %q", part, n, heard)
				}
			}
		}
	},
}

var promptRuns = []holdshort.RunID{"run_1", "run_2", "run_3"}

func count(texts []string, part string) (n int) {
	for _, t := range texts {
		if strings.Contains(t, part) {
			n++
		}
	}
	return n
}

// reply answers the open prompt: in bare words, or, where two hands speak for one user, to the very question.
func (h *Hand) reply(run holdshort.RunID, id, text string) {
	in := engine.Inbound{Channel: "chat", Address: User.ID, ID: id, Text: text}
	if req, ok := h.Asked(run, "sure"); ok && h.frozen {
		in.ReplyTo = string(req.ID)
	}
	_, err := h.Engine.Receive(h.ctx, h.Tenant, in)
	h.must(err, "receive "+id)
	h.settle()
}

// prompted: the run's question is the one that is open in the chat.
func (h *Hand) prompted(id holdshort.RunID) bool {
	for _, r := range h.Requests(id) {
		if r.Status == holdshort.RequestOpen && !r.AskedAt.IsZero() {
			return true
		}
	}
	return false
}
