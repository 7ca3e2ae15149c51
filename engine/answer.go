package engine

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// answerEntry is what the flow reads in place of having asked. A decision about calls is not their outcome: it goes beside them, and the
// executor checks the decision itself before anything runs.
func (c *change) answerEntry(run *holdshort.Run, req holdshort.Request, d holdshort.Decision) (holdshort.JournalEntry, error) {
	a := flow.Answer{Request: req.ID, Status: req.Status, Outcome: req.Outcome, Action: d.Action, Actor: d.Actor, Message: d.Message, OptionIDs: d.OptionIDs,
		Value: d.Value, Calls: d.Calls, Decision: d.ID, At: c.now}
	entry := c.entry(run, req)
	if req.Status == holdshort.RequestCanceled {
		entry.Error = &holdshort.Failure{Code: holdshort.Canceled, Message: "the question was canceled", Step: req.OriginStepID}
	}
	raw, err := json.Marshal(a)
	entry.Outcome = raw
	return entry, err
}

// timeoutEntry is what the flow reads when nobody answered.
func (c *change) timeoutEntry(run *holdshort.Run, req holdshort.Request) (holdshort.JournalEntry, error) {
	entry := c.entry(run, req)
	answer := flow.Answer{Request: req.ID, Status: req.Status, OnTimeout: req.OnTimeout, At: c.now}
	for _, a := range req.Actions { // whom it concerns: an older approval of theirs no longer counts
		if a.NeedsApproval {
			answer.Calls = append(answer.Calls, holdshort.CallDecision{CallID: a.CallID})
		}
	}
	raw, err := json.Marshal(answer)
	entry.Outcome = raw
	entry.Error = &holdshort.Failure{Code: holdshort.Expired, Message: "nobody answered in time", Step: req.OriginStepID}
	return entry, err
}

func (c *change) entry(run *holdshort.Run, req holdshort.Request) holdshort.JournalEntry {
	entry := holdshort.JournalEntry{RunID: run.ID, Key: req.OriginStepID, Attempt: run.Attempt, Kind: flow.KindAsk, Started: req.CreatedAt, Ended: c.now}
	if len(req.Actions) > 0 {
		entry.Key, entry.Kind = approvalKey(req.OriginStepID, run.Wake, req.ID), kindApproval
	}
	return entry
}
