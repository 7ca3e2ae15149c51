package inbox

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
)

// outcomeView is what became of what was decided, up to what the tool said.
type outcomeView struct {
	Lines []outcomeLine
	Run   string // how its run stands, in words
	Tone  string
	Going bool // more is to come
}

type outcomeLine struct {
	Tool, Text, Tone string
	Took             string
	Since            time.Time // of what is under way
	Result           []argNode
	Ask              string // the request about what became of it
}

func (v *visit) outcomeOf(s sight) (out outcomeView) {
	req := s.Request
	if req.Status != holdshort.RequestResolved || s.Decision == nil {
		return out
	}
	operations := s.Operations
	var journal []holdshort.JournalEntry
	if s.run != nil {
		if out.runState(*s.run); req.Outcome == holdshort.Rejected && out.Tone == "yes" {
			out.Tone = "" // it went on without what was asked for
		}
		all, err := v.engine.Operations(v.ctx, v.tenant(), req.RunID)
		if err != nil { // the card is worth showing without it
			return out
		}
		for _, op := range all {
			if op.RequestID == req.ID {
				operations = append(operations, op)
			}
		}
		if s.seesRun {
			journal, _ = v.engine.JournalFor(v.ctx, v.tenant(), req.RunID, v.actor()) // results are shown as the role allows
		}
	}
	for _, op := range operations {
		line := lineOf(op, journal, s.secrets())
		if op.Status == holdshort.OperationUnknown && !op.Settled && s.run != nil {
			line.Ask = v.reconcileOf(*s.run, op)
		}
		out.Lines, out.Going = append(out.Lines, line), out.Going || op.Status == holdshort.OperationStarted
	}
	if len(operations) == 0 && (req.Outcome == holdshort.Approved || req.Outcome == holdshort.Edited) && len(req.Actions) > 0 {
		text := "waits to be run"
		if s.run == nil {
			text = "waits to be claimed by whoever asked"
		}
		if s.Next == "" {
			out.Lines = append(out.Lines, outcomeLine{Tool: toolsOf(s), Text: text, Tone: "hold"})
			out.Going = true
		}
	}
	return out
}

func toolsOf(s sight) string {
	var names []string
	for _, a := range s.Request.Actions {
		if c := s.decided(a.CallID); a.NeedsApproval && (c == nil || c.Action == holdshort.Approve || c.Action == holdshort.Edit) {
			names = append(names, a.Tool)
		}
	}
	return strings.Join(names, ", ")
}

func (out *outcomeView) runState(run holdshort.Run) {
	switch {
	case run.Held != nil:
		out.Run, out.Tone = "The run is held: "+strings.ReplaceAll(string(run.Held.Code), "_", " ")+".", "no"
	case run.Status == holdshort.RunFailed:
		out.Run, out.Tone = "The run failed.", "no"
	case run.Status == holdshort.RunCanceled:
		out.Run, out.Tone = "The run was canceled.", "no"
	case run.Status == holdshort.RunCompleted:
		out.Run, out.Tone = "The run is completed.", "yes"
	default:
		out.Run, out.Going = "The run goes on.", true
		if run.Status == holdshort.RunWaiting {
			out.Run = "The run waits."
		}
	}
}

func lineOf(op holdshort.Operation, journal []holdshort.JournalEntry, secrets []string) outcomeLine {
	line := outcomeLine{Tool: op.Capability, Since: op.StartedAt}
	switch op.Status {
	case holdshort.OperationStarted:
		line.Text, line.Tone = "running…", "hold"
	case holdshort.OperationDone:
		line.Text, line.Tone, line.Took = "done", "yes", span(op.ClosedAt.Sub(op.StartedAt))
	case holdshort.OperationFailed:
		line.Text, line.Tone, line.Took = "failed, and nothing happened", "no", span(op.ClosedAt.Sub(op.StartedAt))
	case holdshort.OperationUnknown:
		line.Text, line.Tone = "nobody knows whether it happened", "no"
	}
	for _, e := range journal {
		if e.Key != outcomeStep(op) || e.Kind != flow.KindCall {
			continue
		}
		var result flow.CallOutcome
		if len(e.Outcome) > 0 && json.Unmarshal(e.Outcome, &result) == nil && len(result.Value) > 0 && string(result.Value) != "null" {
			for _, n := range nodesOf(result.Value, nil, "result") {
				line.Result = append(line.Result, n.without(secrets))
			}
		}
		if e.Error != nil && op.Status == holdshort.OperationFailed && !slices.ContainsFunc(secrets, func(text string) bool { return strings.Contains(e.Error.Message, text) }) {
			line.Text = "failed, and nothing happened: " + e.Error.Message
		}
	}
	return line
}

// calledOf is the call whose answer was lost, as it was approved, to those who may see that; nobody can look there without knowing it.
func (v *visit) calledOf(s sight, d draft) (calls []callView, by string) {
	req := s.Request
	if req.Kind != holdshort.Reconcile || s.run == nil {
		return nil, ""
	}
	operations, err := v.engine.Operations(v.ctx, v.tenant(), req.RunID)
	if err != nil {
		return nil, ""
	}
	for _, op := range operations {
		if op.RequestID == "" || !strings.HasPrefix(req.OriginStepID, outcomeStep(op)+"!") {
			continue
		}
		seen, err := v.engine.RequestFor(v.ctx, v.tenant(), op.RequestID, v.actor())
		if err != nil {
			return nil, ""
		}
		for _, c := range v.callsOf(v.sightOf(seen, draft{token: d.token}), draft{}) {
			if c.Tool == op.Capability {
				calls = append(calls, c)
			}
		}
		return calls, string(op.RequestID)
	}
	return nil, ""
}

// outcomeStep is the step of its run that an operation is of.
func outcomeStep(op holdshort.Operation) string {
	return strings.TrimPrefix(op.StepID, string(op.RunID)+"/")
}

// reconcileOf is the open question about what became of a call, if they may see it.
func (v *visit) reconcileOf(run holdshort.Run, op holdshort.Operation) string {
	page, err := v.engine.RequestsFor(v.ctx, v.tenant(), engine.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen, Limit: 50}, v.actor())
	if err != nil {
		return ""
	}
	for _, req := range page.Items {
		if req.Kind == holdshort.Reconcile && strings.HasPrefix(req.OriginStepID, outcomeStep(op)+"!") {
			return string(req.ID)
		}
	}
	return ""
}
