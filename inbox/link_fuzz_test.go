package inbox

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// FuzzDecisionForm: whatever a form says, it is a decision only if it names one and what was seen; what is wrong with it is the sender's to mend.
func FuzzDecisionForm(f *testing.F) {
	for _, seed := range []string{"action=approve&fingerprint=f", "action=edit&fingerprint=f&editing=1&a.0.n=1", "action=each&fingerprint=f&call.0=approve", "action=answer&fingerprint=f&f.n=1", "action=&fingerprint=", "%",
		"action=respond&fingerprint=f&respond=x", "action=select&fingerprint=f&option=a&option=a", "action=answer&fingerprint=f&f.s=%22a%22&f.n=1e999&f.list.%23=0&f.list.0=x", "action=reject&fingerprint=f&reason=x",
		"action=add:f.list&fingerprint=f", "action=drop:f.list.0&fingerprint=f&f.list.%23=0"} {
		f.Add(seed)
	}
	req := holdshort.Request{ExpectedInput: holdshort.Form, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"},"s":{"enum":["a",1]},"list":{"type":"array","items":{"type":"string"}}},"required":["n"]}`), Fingerprint: "f",
		Actions: []holdshort.Action{{CallID: "a", Tool: "t", Args: json.RawMessage(`{"n":1}`), NeedsApproval: true}, {CallID: "b", Tool: "t", Args: json.RawMessage(`{}`)}},
		Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Edit, holdshort.Answer}}
	v := &visit{}
	f.Fuzz(func(t *testing.T, raw string) {
		form, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		if drawn, again := redrawn(form); again {
			form = drawn
		}
		in, err := v.decisionOf(form, sight{RequestView: engine.RequestView{Request: req}})
		if err != nil {
			if status := statusOf(err); status < 400 || status >= 500 {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if _, err := holdshort.ParseVerb(string(in.Action)); err != nil || in.Fingerprint == "" || len(in.Value) > 0 && !json.Valid(in.Value) || len(in.Args) > 0 && !json.Valid(in.Args) {
			t.Fatalf("%q is %+v", raw, in)
		}
	})
}
