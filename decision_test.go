package holdshort_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

var verbs = []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Edit, holdshort.Answer, holdshort.Select, holdshort.Respond, holdshort.Cancel}

func TestParseVerb(t *testing.T) {
	for _, verb := range verbs {
		if got, err := holdshort.ParseVerb(string(verb)); err != nil || got != verb {
			t.Errorf("%s: %s, %v", verb, got, err)
		}
	}
	for _, s := range []string{"", "Approve", "approve ", "approved", "yes", "ok", "deny", "true", "1", "approve\x00", strings.Repeat("approve", 10_000)} {
		got, err := holdshort.ParseVerb(s)
		if !errors.Is(err, holdshort.Invalid) || got != "" || holdshort.HintOf(err) == "" || len(err.Error()) > 300 {
			t.Errorf("%.40q: %s, %.300v", s, got, err)
		}
	}
}

// choice is an open request with options, two calls that need a decision and one that does not, which takes every verb.
func choice(expected holdshort.ExpectedInput) holdshort.Request {
	r := aRequest(holdshort.RequestOpen)
	r.ExpectedInput, r.Allowed = expected, verbs[:6]
	r.Options = []holdshort.Option{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	r.Actions = []holdshort.Action{{CallID: "call_1", NeedsApproval: true}, {CallID: "call_2", NeedsApproval: true}, {CallID: "call_3"}}
	return r
}

func call(id string, verb holdshort.Verb) holdshort.CallDecision {
	c := holdshort.CallDecision{CallID: id, Action: verb}
	if verb == holdshort.Edit {
		c.Args = json.RawMessage(`{}`)
	}
	return c
}

// Every expected input with every verb, each allowed and with what the verb needs: what the request comes to. Without what it needs it does
// not fit.
const wholeTable = `
               approve   reject    edit    answer    select    respond   cancel
yes_no         approved  rejected  edited  answered  selected  answered  canceled
single_choice  approved  rejected  edited  answered  selected  answered  canceled
multi_choice   approved  rejected  edited  answered  selected  answered  canceled
free_text      approved  rejected  edited  answered  selected  answered  canceled
form           approved  rejected  edited  answered  selected  answered  canceled
`

func TestDecideEveryInputWithEveryVerb(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(wholeTable), "\n")
	for _, line := range lines[1:] {
		row := strings.Fields(line)
		for i, name := range strings.Fields(lines[0]) {
			verb, want := holdshort.Verb(name), row[i+1]
			d := holdshort.Decision{Action: verb, Fingerprint: "f", Message: "because"}
			switch verb {
			case holdshort.Edit:
				d.Calls = []holdshort.CallDecision{call("call_1", holdshort.Edit), call("call_2", holdshort.Approve)}
			case holdshort.Answer, holdshort.Respond:
				d.Value = json.RawMessage(`"text"`)
			case holdshort.Select:
				d.OptionIDs = []string{"b"}
			}
			before := choice(holdshort.ExpectedInput(row[0]))
			expected := before
			expected.ClosedAt = noon
			if verb == holdshort.Cancel {
				expected.Status, expected.CancelReason = holdshort.RequestCanceled, "because"
			} else {
				expected.Status, expected.Outcome = holdshort.RequestResolved, holdshort.Outcome(want)
			}
			got, err := before.Decide(d, noon)
			if err != nil || !reflect.DeepEqual(got, expected) {
				t.Errorf("%s of %s: %s %s, %v; want %s", verb, row[0], got.Status, got.Outcome, err, want)
			}

			if verb == holdshort.Approve || verb == holdshort.Reject || verb == holdshort.Cancel {
				continue // they need nothing else
			}
			bare := holdshort.Decision{Action: verb}
			if got, err := before.Decide(bare, noon); !errors.Is(err, holdshort.DoesNotFit) || !reflect.DeepEqual(got, before) {
				t.Errorf("%s of %s without what it needs: %s, %v", verb, row[0], got.Status, err)
			}
		}
	}
}

// Whatever a request takes, it takes nothing else; canceling is always possible, and a word that is no verb never.
func TestDecideTakesOnlyWhatIsAllowed(t *testing.T) {
	for set := range 1 << 6 {
		r := choice(holdshort.MultiChoice)
		r.Allowed = nil
		for i, verb := range verbs[:6] {
			if set>>i&1 == 1 {
				r.Allowed = append(r.Allowed, verb)
			}
		}
		for _, verb := range append(slices.Clone(verbs), "", "yes", "APPROVE", "approved") {
			d := holdshort.Decision{Action: verb, Value: json.RawMessage(`1`), OptionIDs: []string{"a"}}
			if verb == holdshort.Edit {
				d.Calls = []holdshort.CallDecision{call("call_1", holdshort.Edit), call("call_2", holdshort.Edit)}
			}
			_, err := r.Decide(d, noon)
			if fits := verb == holdshort.Cancel || slices.Contains(r.Allowed, verb); fits != (err == nil) || !fits && !errors.Is(err, holdshort.DoesNotFit) {
				t.Errorf("%q where %v is allowed: %v", verb, r.Allowed, err)
			}
		}
	}
	odd := choice(holdshort.YesNo)
	odd.Allowed = []holdshort.Verb{"", "maybe"}
	for _, verb := range odd.Allowed {
		if got, err := odd.Decide(holdshort.Decision{Action: verb}, noon); !errors.Is(err, holdshort.DoesNotFit) || got.Status != holdshort.RequestOpen {
			t.Errorf("%q, which is no verb, where it is allowed: %s %q, %v", verb, got.Status, got.Outcome, err)
		}
	}
}

func TestDecideOptions(t *testing.T) {
	for _, test := range []struct {
		expected holdshort.ExpectedInput
		ids      string
		fits     bool
	}{
		{holdshort.SingleChoice, "a", true},
		{holdshort.SingleChoice, "", false},
		{holdshort.SingleChoice, "a b", false},
		{holdshort.SingleChoice, "a a", false},
		{holdshort.SingleChoice, "d", false},
		{holdshort.SingleChoice, "A", false},
		{holdshort.MultiChoice, "a", true},
		{holdshort.MultiChoice, "c a", true},
		{holdshort.MultiChoice, "a b c", true},
		{holdshort.MultiChoice, "", false},
		{holdshort.MultiChoice, "a a", false},
		{holdshort.MultiChoice, "a b c a", false},
		{holdshort.MultiChoice, "a d", false},
	} {
		got, err := choice(test.expected).Decide(holdshort.Decision{Action: holdshort.Select, OptionIDs: strings.Fields(test.ids)}, noon)
		var e *holdshort.Error
		if test.fits && (err != nil || got.Outcome != holdshort.Selected) ||
			!test.fits && (!errors.As(err, &e) || e.Code != holdshort.DoesNotFit || e.Field != "option_ids" || e.Hint == "" || got.Status != holdshort.RequestOpen) {
			t.Errorf("%q of a %s: %s, %v", test.ids, test.expected, got.Outcome, err)
		}
	}
	none := choice(holdshort.SingleChoice)
	none.Options = nil
	if _, err := none.Decide(holdshort.Decision{Action: holdshort.Select, OptionIDs: []string{""}}, noon); !errors.Is(err, holdshort.DoesNotFit) {
		t.Errorf("a choice of nothing: %v", err)
	}
}

func TestDecideBatches(t *testing.T) {
	for _, test := range []struct {
		name  string
		whole holdshort.Verb
		calls string // call:verb
		want  holdshort.Outcome
	}{
		{"as a whole", "approve", "", "approved"},
		{"rejected as a whole", "reject", "", "rejected"},
		{"each approved", "approve", "1:approve 2:approve", "approved"},
		{"in any order", "approve", "2:approve 1:approve", "approved"},
		{"each rejected", "approve", "1:reject 2:reject", "rejected"},
		{"each rejected, and the whole", "reject", "1:reject 2:reject", "rejected"},
		{"each answered", "respond", "1:respond 2:respond", "answered"},
		{"edited comes first", "approve", "1:approve 2:edit", "edited"},
		{"edited before rejected", "edit", "1:reject 2:edit", "edited"},
		{"approved before answered", "respond", "1:respond 2:approve", "approved"},
		{"approved before rejected", "approve", "1:reject 2:approve", "approved"},
		{"answered before rejected", "respond", "1:reject 2:respond", "answered"},

		{"one is missing", "approve", "1:approve", ""},
		{"the other is missing", "approve", "2:reject", ""},
		{"one twice, the other missing", "approve", "1:approve 1:approve", ""},
		{"one twice", "approve", "1:approve 2:approve 1:reject", ""},
		{"an unknown call", "approve", "1:approve 2:approve 4:approve", ""},
		{"a call that needs none", "approve", "1:approve 2:approve 3:approve", ""},
		{"a call that needs none, rejected", "approve", "1:approve 2:approve 3:reject", ""},
		{"a call is not selected", "approve", "1:approve 2:select", ""},
		{"a call is not answered but responded to", "approve", "1:approve 2:answer", ""},
		{"a call is not canceled alone", "approve", "1:approve 2:cancel", ""},
		{"an unknown word", "approve", "1:approve 2:yes", ""},
		{"no word", "approve", "1:approve 2:", ""},
		{"the whole rejected, a call approved", "reject", "1:reject 2:approve", ""},
		{"the whole rejected, a call edited", "reject", "1:edit 2:reject", ""},
		{"the whole rejected, a call answered", "reject", "1:reject 2:respond", ""},
		{"the whole canceled, calls approved", "cancel", "1:approve 2:approve", ""},
		{"the whole answered, calls approved", "answer", "1:approve 2:approve", ""},
		{"the whole selected, calls approved", "select", "1:approve 2:approve", ""},
	} {
		d := holdshort.Decision{Action: test.whole, Value: json.RawMessage(`1`), OptionIDs: []string{"a"}}
		for _, entry := range strings.Fields(test.calls) {
			id, verb, _ := strings.Cut(entry, ":")
			d.Calls = append(d.Calls, call("call_"+id, holdshort.Verb(verb)))
		}
		before := choice(holdshort.YesNo)
		got, err := before.Decide(d, noon)
		if test.want != "" {
			if err != nil || got.Status != holdshort.RequestResolved || got.Outcome != test.want {
				t.Errorf("%s: %s %s, %v; want %s", test.name, got.Status, got.Outcome, err, test.want)
			}
			continue
		}
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.DoesNotFit || e.Field != "calls" || e.Hint == "" || !reflect.DeepEqual(got, before) {
			t.Errorf("%s: %s %s, %v; want does_not_fit", test.name, got.Status, got.Outcome, err)
		}
	}
}

func TestDecideBatchTakesOnlyWhatIsAllowed(t *testing.T) {
	r := choice(holdshort.YesNo)
	r.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Reject}
	for _, verb := range []holdshort.Verb{holdshort.Edit, holdshort.Respond} {
		d := holdshort.Decision{Action: holdshort.Approve, Calls: []holdshort.CallDecision{call("call_1", holdshort.Approve), call("call_2", verb)}}
		if _, err := r.Decide(d, noon); !errors.Is(err, holdshort.DoesNotFit) {
			t.Errorf("%s of a call where it is not allowed: %v", verb, err)
		}
	}
	r = choice(holdshort.YesNo)
	d := holdshort.Decision{Action: holdshort.Edit, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Edit}, call("call_2", holdshort.Approve)}}
	if _, err := r.Decide(d, noon); !errors.Is(err, holdshort.DoesNotFit) {
		t.Errorf("an edit without arguments: %v", err)
	}
	r.Actions = nil
	d = holdshort.Decision{Action: holdshort.Approve, Calls: []holdshort.CallDecision{call("call_1", holdshort.Approve)}}
	if _, err := r.Decide(d, noon); !errors.Is(err, holdshort.DoesNotFit) {
		t.Errorf("a call of a request without calls: %v", err)
	}
}

// What is wrong with a decision is told in one order: expired, closed, fingerprint, does not fit.
func TestDecideOrderOfChecks(t *testing.T) {
	misfit, mismatch := holdshort.Decision{Action: holdshort.Edit, Fingerprint: "f"}, holdshort.Decision{Action: holdshort.Edit, Fingerprint: "g"}
	expired := choice(holdshort.YesNo)
	expired.ExpiresAt = noon
	resolved := choice(holdshort.YesNo)
	resolved.Status, resolved.ExpiresAt = holdshort.RequestResolved, noon
	for _, test := range []struct {
		name    string
		request holdshort.Request
		d       holdshort.Decision
		want    holdshort.Code
	}{
		{"expired and all else wrong", expired, mismatch, holdshort.Expired},
		{"closed, past its time, and all else wrong", resolved, mismatch, holdshort.Closed},
		{"another fingerprint, and does not fit", choice(holdshort.YesNo), mismatch, holdshort.FingerprintMismatch},
		{"does not fit", choice(holdshort.YesNo), misfit, holdshort.DoesNotFit},
		{"no fingerprint sent", choice(holdshort.YesNo), holdshort.Decision{Action: holdshort.Approve}, ""},
		{"the fingerprint that stands", choice(holdshort.YesNo), holdshort.Decision{Action: holdshort.Approve, Fingerprint: "f"}, ""},
		{"to cancel, another fingerprint", choice(holdshort.YesNo), holdshort.Decision{Action: holdshort.Cancel, Fingerprint: "g"}, holdshort.FingerprintMismatch},
	} {
		got, err := test.request.Decide(test.d, noon)
		if holdshort.CodeOf(err) != test.want || err != nil && (holdshort.HintOf(err) == "" || !reflect.DeepEqual(got, test.request)) {
			t.Errorf("%s: %s, %v; want %q", test.name, got.Status, err, test.want)
		}
	}
}
