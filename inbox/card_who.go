package inbox

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// whoView is who decides: who has, and who is still needed.
type whoView struct {
	Votes         []voteView
	Given, Needed int
	Missing       string // "one more of finance"
	Mine          bool   // whoever looks has voted
	Open          bool
}

type voteView struct {
	Who, Initial, What, Message string
	At                          time.Time
	Self                        bool // they asked for it themselves
}

var past = map[holdshort.Verb]string{holdshort.Approve: "approved", holdshort.Reject: "rejected", holdshort.Edit: "changed and approved", holdshort.Answer: "answered",
	holdshort.Select: "chose", holdshort.Respond: "answered for the tool", holdshort.Cancel: "canceled"}

func whoOf(seen engine.RequestView, s sight, me holdshort.Actor) whoView {
	req := seen.Request
	w := whoView{Needed: req.Audience.Needed(), Mine: s.voted, Open: req.Status == holdshort.RequestOpen}
	for _, vote := range seen.Votes {
		w.Votes = append(w.Votes, voteOf(vote, me))
	}
	w.Given = len(w.Votes)
	if d := seen.Decision; d != nil && d.Actor.Kind != holdshort.System {
		last := voteOf(*d, me)
		if n := len(w.Votes); n == 0 || w.Votes[n-1].Who != last.Who {
			w.Votes = append(w.Votes, last)
		}
	}
	if w.Open {
		of := audienceOf(req.Audience)
		switch more := w.Needed - w.Given; {
		case of == "":
			w.Missing = "nobody may decide this"
		case len(req.Audience.Roles) == 0 && w.Needed == 1:
			w.Missing = of
		case w.Given == 0:
			w.Missing = fewWords(more) + " of " + of
		default:
			w.Missing = fewWords(max(more, 1)) + " more of " + of
		}
	}
	return w
}

func voteOf(d holdshort.Decision, me holdshort.Actor) voteView {
	name := nameOf(d.Actor)
	v := voteView{Who: name, Initial: initial(name), What: past[d.Action], Message: d.Message, At: d.At, Self: d.SelfApproved}
	if d.Actor.Same(me) {
		v.Who = "you"
	}
	return v
}

func initial(name string) string {
	for _, r := range strings.ToUpper(name) {
		if !odd(r) {
			return string(r)
		}
	}
	return "?"
}

// standingView says how a request that is no longer open ended.
type standingView struct {
	Text, Tone string
	Overtook   string // who was faster, and did what
	Message    string // what the decider said
	Chosen     []string
	Value      []argNode // of an answer
	At         time.Time
	Mine       bool
	By         string
	Next       string // what is asked in its place
}

func standingOf(seen engine.RequestView, me holdshort.Actor, now time.Time) standingView {
	req := seen.Request
	out := standingView{At: req.ClosedAt, Next: string(seen.Next)}
	switch req.Status {
	case holdshort.RequestExpired:
		out.Text, out.Tone = "Expired. Nobody decided it in time, and nothing of it runs.", "no"
		if req.OnTimeout == holdshort.TimeoutResume && len(req.Actions) == 0 {
			out.Text = "Expired. Nobody answered in time; the run went on without an answer."
		}
		if out.At.IsZero() {
			out.At = req.Due()
		}
	case holdshort.RequestCanceled:
		out.Text, out.Message = "Canceled. There is nothing left to decide.", req.CancelReason
		if d := seen.Decision; d != nil {
			out.By = nameOf(d.Actor)
		}
	case holdshort.RequestResolved:
		out.Text, out.Tone = "Decided: "+string(req.Outcome)+".", "yes"
		if req.Outcome == holdshort.Rejected {
			out.Tone = "no"
		}
		if d := seen.Decision; d != nil {
			out.decided(*d, req, me)
		}
	}
	return out
}

func (out *standingView) decided(d holdshort.Decision, req holdshort.Request, me holdshort.Actor) {
	out.By, out.Mine, out.Message, out.At = nameOf(d.Actor), d.Actor.Same(me), d.Message, d.At
	verb := past[d.Action]
	if req.Outcome == holdshort.Edited {
		verb = "changed and approved"
	}
	object := " this."
	if req.Outcome == holdshort.Edited && out.Next != "" {
		verb, object = "changed", " this. Others have to approve the changed form."
	}
	if run := runCalls(d); len(d.Calls) > 1 && run > 0 && run < len(d.Calls) {
		object = " " + strconv.Itoa(run) + " of " + strconv.Itoa(len(d.Calls)) + " calls."
	}
	switch {
	case out.Mine:
		out.Text = "You " + verb + object
	case d.Actor.Kind == holdshort.System:
		out.Text = capitalized(verb) + " by " + strings.ReplaceAll(strings.TrimPrefix(d.Actor.ID, "system:"), "policy:", "the rule ") + "."
	default:
		out.Text = out.By + " " + verb + object
	}
	out.Overtook = strings.TrimSuffix(out.Text, ".")
	for _, id := range d.OptionIDs {
		for _, o := range req.Options {
			if o.ID == id {
				out.Chosen = append(out.Chosen, o.Label)
			}
		}
	}
	if (d.Action == holdshort.Answer || d.Action == holdshort.Respond || d.Action == holdshort.Select) && len(d.Value) > 0 {
		out.Value = nodesOf(d.Value, nil, "answer")
	}
}

// runCalls counts the calls that a decision lets run.
func runCalls(d holdshort.Decision) (n int) {
	for _, c := range d.Calls {
		if c.Action == holdshort.Approve || c.Action == holdshort.Edit {
			n++
		}
	}
	return n
}

func capitalized(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
