package inbox

import (
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
)

// What cannot be undone is approved by typing a word: a finger that slips types none. It holds for every page, whatever its scripts do.

// toolWord is the last part of a tool's name.
func toolWord(tool string) string {
	if i := strings.LastIndexAny(tool, "./:"); i >= 0 && i < len(tool)-1 {
		return tool[i+1:]
	}
	return tool
}

// confirmation is what has to be typed so that the calls for which runs reports true may run, "" where nothing has to be. Of a single call
// it is the tool's short name, of several how many of them cannot be undone.
func confirmation(req holdshort.Request, runs func(call int) bool) string {
	word, final := "", 0
	for i, a := range req.Actions {
		if a.NeedsApproval && a.Reversible == "no" && a.Effect != "read" && runs(i) {
			final++
			word = toolWord(a.Tool)
		}
	}
	if final > 0 && needed(req) > 1 {
		return strconv.Itoa(final)
	}
	return word
}

// confirmationOfAll is what has to be typed to approve a request as a whole.
func confirmationOfAll(req holdshort.Request) string {
	return confirmation(req, func(int) bool { return true })
}

// unseen refuses a decision that lets something run of which this person does not see all. What the rule lists as blind may be approved so.
func unseen(s sight, verb holdshort.Verb, calls []holdshort.CallDecision) error {
	if verb != holdshort.Approve && verb != holdshort.Edit || !s.audience { // whoever may not decide at all hears that
		return nil
	}
	for _, a := range s.Request.Actions {
		runs := len(calls) == 0
		for _, c := range calls {
			runs = runs || c.CallID == a.CallID && (c.Action == holdshort.Approve || c.Action == holdshort.Edit)
		}
		if runs && a.NeedsApproval && s.hidesOf(a) {
			return misfit("proof", "part of what would run is withheld from you", "reveal it first: that you looked is logged")
		}
	}
	return nil
}

// confirmed refuses a decision that lets something run that cannot be undone, if nobody typed what says so.
func confirmed(req holdshort.Request, verb holdshort.Verb, calls []holdshort.CallDecision, typed string) error {
	if verb != holdshort.Approve && verb != holdshort.Edit {
		return nil
	}
	want := confirmation(req, func(i int) bool {
		if len(calls) == 0 {
			return true
		}
		for _, c := range calls {
			if c.CallID == req.Actions[i].CallID {
				return c.Action == holdshort.Approve || c.Action == holdshort.Edit
			}
		}
		return false
	})
	if want == "" || strings.EqualFold(strings.TrimSpace(typed), want) {
		return nil
	}
	hint := "type " + want + " to say that it may run"
	if needed(req) > 1 {
		hint = "type " + want + ": so many of the calls cannot be undone"
	}
	return misfit("confirm", "this cannot be undone, and it was not confirmed", hint)
}
