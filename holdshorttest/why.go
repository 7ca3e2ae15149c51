package holdshorttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Why says where a run stands and what would let it go on.
func (k *Kit) Why(id holdshort.RunID) string {
	k.t.Helper()
	run := k.Run(id)
	head := fmt.Sprintf("run %s (%s@%d)", id, run.Flow, run.FlowVersion)
	switch {
	case run.Held != nil:
		return head + fmt.Sprintf(" is held: %s: mend the cause, then k.Retry(run)", run.Held.Code)
	case run.Status == holdshort.RunCompleted:
		return head + " completed with " + short(string(run.Result))
	case run.Status == holdshort.RunFailed:
		return head + " failed" + failure(run.Error)
	case run.Status == holdshort.RunCanceled:
		return head + " was canceled" + k.canceledBy(id)
	case run.Status != holdshort.RunWaiting:
		return head + " is " + string(run.Status) + ": nobody has taken it up: are all tools of its flow in Options.Tools?"
	}
	var reasons []string
	for _, req := range k.list(store.RequestQuery{Run: id, Status: holdshort.RequestOpen}) {
		reasons = append(reasons, k.unanswered(req))
	}
	reasons = append(reasons, k.pauses(id)...)
	if len(reasons) == 0 {
		reasons = []string{"waits for something that the kit cannot name: look at k.Journal(run)"}
	}
	return head + " " + strings.Join(reasons, "; and ")
}

// unanswered says how somebody could answer.
func (k *Kit) unanswered(req holdshort.Request) string {
	m := Match{Step: req.OriginStepID}
	if len(req.Actions) > 0 {
		m = Match{Tool: req.Actions[0].Tool}
	}
	verb := map[holdshort.ExpectedInput]string{holdshort.YesNo: "Approve()", holdshort.SingleChoice: "Choose(…)", holdshort.MultiChoice: "Choose(…)",
		holdshort.FreeText: "Answer(…)", holdshort.Form: "Answer(…)"}[req.ExpectedInput]
	text := "waits for " + k.about(req)
	if due := req.Due(); !due.IsZero() {
		text += fmt.Sprintf(", which expires at %s", due.Format(time.TimeOnly))
	}
	return text + fmt.Sprintf(": script somebody with k.WhenAsked(holdshorttest.%s).By(%s).%s, or decide it with k.As(…)", m, k.candidate(req), verb)
}

func (k *Kit) candidate(req holdshort.Request) string {
	for _, a := range k.whoMay(req) {
		if len(a.Roles) > 0 {
			return fmt.Sprintf("%q, %q", "ana", a.Roles[0])
		}
		return fmt.Sprintf("%q", a.ID)
	}
	return "…"
}

// about names a request so that people recognise it.
func (k *Kit) about(req holdshort.Request) string {
	what := fmt.Sprintf("%s %q", req.Kind, short(req.Question))
	if len(req.Actions) > 0 {
		var calls []string
		for _, a := range req.Actions {
			calls = append(calls, a.Tool+" "+short(string(a.Args)))
		}
		what = strings.Join(calls, ", ")
	}
	return fmt.Sprintf("request %s (%s, asked of %s)", req.ID, what, audience(req, k.ownerOf(req)))
}

func audience(req holdshort.Request, owner string) string {
	var who []string
	if req.Audience.Owner {
		who = append(who, "its owner "+owner)
	}
	who = append(who, req.Audience.Users...)
	for _, role := range req.Audience.Roles {
		who = append(who, "role "+role)
	}
	text := strings.Join(who, " or ")
	if n := req.Audience.Needed(); n > 1 {
		text = fmt.Sprintf("%d of %s", n, text)
	}
	if req.Audience.Separate {
		text += " other than " + req.Requester.User
	}
	return text
}

// pauses reads sleeps and waits from the journal: a key with !set that has neither an outcome nor !fired.
func (k *Kit) pauses(id holdshort.RunID) (reasons []string) {
	recorded := map[string]bool{}
	entries := k.Journal(id)
	for _, e := range entries {
		recorded[e.Key] = true
	}
	for _, e := range entries {
		step, ok := strings.CutSuffix(e.Key, "!set")
		if !ok || recorded[step+"!fired"] || recorded[step] {
			continue
		}
		var set struct{ Until time.Time }
		if json.Unmarshal(e.Outcome, &set) == nil && !set.Until.IsZero() {
			reasons = append(reasons, fmt.Sprintf("waits in %q until %s: k.Advance(%s) lets the time pass; if it is a Wait, k.Post ends it", step,
				set.Until.Format(time.DateTime), set.Until.Sub(k.Now())))
			continue
		}
		reasons = append(reasons, fmt.Sprintf("waits for a post: k.Post(run, %q, …)", step))
	}
	return reasons
}

func (k *Kit) canceledBy(id holdshort.RunID) string {
	for _, e := range k.Events(id, "run.canceled") {
		return fmt.Sprintf(" by %s (%s)", e.Actor, e.Code)
	}
	return ""
}

func failure(f *holdshort.Failure) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf(": %s (%s)", f.Message, f.Code)
	if f.Step != "" {
		text += " at " + f.Step
	}
	if f.Stack != "" {
		text += "\n" + f.Stack
	}
	return text
}

func short(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// hint adds what an error advises.
func hint(err error) string {
	var e *holdshort.Error
	if errors.As(err, &e) && e.Hint != "" {
		return " (" + e.Hint + ")"
	}
	return ""
}
