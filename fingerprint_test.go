package holdshort_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

func refund() holdshort.Request {
	return holdshort.Request{
		ID: "req_01jc0000000000000000000000", Version: holdshort.RequestVersion, Code: "K7", Kind: holdshort.Approval,
		Reason: "tool_requires_review", PolicyVersion: "p1", Status: holdshort.RequestOpen, RunID: "run_01jc0000000000000000000000",
		OriginStepID: "refund#1", Question: "Refund 120 EUR to order 77?", ExpectedInput: holdshort.YesNo,
		Options: []holdshort.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}},
		Schema:  json.RawMessage(`{"type":"object"}`),
		Actions: []holdshort.Action{
			{CallID: "call_1", Tool: "refund", Args: json.RawMessage(`{"amount":120,"order":"77"}`), SchemaHash: "s1", NeedsApproval: true},
			{CallID: "call_2", Tool: "notify", Args: json.RawMessage(`{"to":{"user":"ana"}}`), SchemaHash: "s2"},
		},
		Allowed:  []holdshort.Verb{holdshort.Approve, holdshort.Reject},
		Salt:     "00112233445566778899aabbccddeeff",
		Audience: holdshort.Audience{Users: []string{"ana"}, Roles: []string{"finance"}, Quorum: 1},
	}
}

func fingerprint(t *testing.T, tenant holdshort.TenantID, req holdshort.Request) string {
	t.Helper()
	got, err := req.ComputeFingerprint(tenant)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFingerprintCoversWhatAPersonIsAsked(t *testing.T) {
	before := fingerprint(t, "acme", refund())
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(before) {
		t.Fatalf("%q is not SHA-256 in hexadecimal", before)
	}
	if again := fingerprint(t, "acme", refund()); again != before {
		t.Fatal("the same request has two fingerprints")
	}
	if other := fingerprint(t, "globex", refund()); other == before {
		t.Error("another tenant has the same fingerprint")
	}
	for name, change := range map[string]func(*holdshort.Request){
		"id":                          func(r *holdshort.Request) { r.ID = "req_01jc0000000000000000000001" },
		"kind":                        func(r *holdshort.Request) { r.Kind = holdshort.Confirmation },
		"question":                    func(r *holdshort.Request) { r.Question += " " },
		"expected input":              func(r *holdshort.Request) { r.ExpectedInput = holdshort.FreeText },
		"schema":                      func(r *holdshort.Request) { r.Schema = json.RawMessage(`{"type":"array"}`) },
		"no schema":                   func(r *holdshort.Request) { r.Schema = nil },
		"option id":                   func(r *holdshort.Request) { r.Options[0].ID = "yes" },
		"option label":                func(r *holdshort.Request) { r.Options[1].Label = "No" },
		"option order":                func(r *holdshort.Request) { r.Options[0], r.Options[1] = r.Options[1], r.Options[0] },
		"an option more":              func(r *holdshort.Request) { r.Options = append(r.Options, holdshort.Option{}) },
		"allowed":                     func(r *holdshort.Request) { r.Allowed = append(r.Allowed, holdshort.Edit) },
		"audience owner":              func(r *holdshort.Request) { r.Audience.Owner = true },
		"audience users":              func(r *holdshort.Request) { r.Audience.Users = []string{"ben"} },
		"audience roles":              func(r *holdshort.Request) { r.Audience.Roles = append(r.Audience.Roles, "intern") },
		"a user becomes a role":       func(r *holdshort.Request) { r.Audience.Users, r.Audience.Roles = r.Audience.Roles, r.Audience.Users },
		"audience quorum":             func(r *holdshort.Request) { r.Audience.Quorum = 2 },
		"audience separate":           func(r *holdshort.Request) { r.Audience.Separate = true },
		"run":                         func(r *holdshort.Request) { r.RunID = "run_01jc0000000000000000000001" },
		"step":                        func(r *holdshort.Request) { r.OriginStepID = "refund#2" },
		"action call id":              func(r *holdshort.Request) { r.Actions[0].CallID = "call_3" },
		"action tool":                 func(r *holdshort.Request) { r.Actions[0].Tool = "payout" },
		"action args":                 func(r *holdshort.Request) { r.Actions[0].Args = json.RawMessage(`{"amount":121,"order":"77"}`) },
		"nested args":                 func(r *holdshort.Request) { r.Actions[1].Args = json.RawMessage(`{"to":{"user":"ben"}}`) },
		"number becomes text":         func(r *holdshort.Request) { r.Actions[0].Args = json.RawMessage(`{"amount":"120","order":"77"}`) },
		"no args":                     func(r *holdshort.Request) { r.Actions[0].Args = nil },
		"tool schema":                 func(r *holdshort.Request) { r.Actions[1].SchemaHash = "s3" },
		"needs approval":              func(r *holdshort.Request) { r.Actions[1].NeedsApproval = true },
		"action order":                func(r *holdshort.Request) { r.Actions[0], r.Actions[1] = r.Actions[1], r.Actions[0] },
		"an action less":              func(r *holdshort.Request) { r.Actions = r.Actions[:1] },
		"editable fields":             func(r *holdshort.Request) { r.Actions[0].Editable = append(r.Actions[0].Editable, "order") },
		"valid for":                   func(r *holdshort.Request) { r.ValidFor += time.Hour },
		"requester":                   func(r *holdshort.Request) { r.Requester.User = "eve" },
		"who raised it":               func(r *holdshort.Request) { r.Requester.RaisedBy = "key_eve" },
		"policy version":              func(r *holdshort.Request) { r.PolicyVersion = "p2" },
		"salt":                        func(r *holdshort.Request) { r.Salt = holdshort.NewSalt() },
		"text moves to another field": func(r *holdshort.Request) { r.OriginStepID, r.PolicyVersion = "", r.OriginStepID+r.PolicyVersion },
	} {
		req := refund()
		change(&req)
		if fingerprint(t, "acme", req) == before {
			t.Errorf("%s changed, the fingerprint did not", name)
		}
	}
}

// Every field of a request is either covered or named here with its reason, so that a new one is thought about.
func TestFingerprintLeavesOutWhatMayChange(t *testing.T) {
	covered := "ID Kind PolicyVersion RunID OriginStepID Question ExpectedInput Options Schema Actions Allowed Salt Audience ValidFor Requester"
	changes := "Revision Status Outcome Assignee Priority Reasks AskedAt QueueUntil ExpiresAt ClosedAt CancelReason" // while it is open or closes
	derived := "Fingerprint Version Code Reason Source PolicySource Rule SessionID TraceID FlowVersion ReturnTo Language Context CreatedAt " +
		"ExpiresIn Undo OnTimeout OnReject Prompt TakeCancel CallbackURL" // about it, not asked
	known := strings.Fields(covered + " " + changes + " " + derived)
	before := fingerprint(t, "acme", refund())
	for field := range reflect.TypeFor[holdshort.Request]().Fields() {
		name := field.Name
		if !contains(known, name) {
			t.Errorf("field %s is neither covered by the fingerprint nor named as left out", name)
		}
		if contains(strings.Fields(covered), name) {
			continue
		}
		req := refund()
		fill(t, reflect.ValueOf(&req).Elem().FieldByName(name))
		if fingerprint(t, "acme", req) != before {
			t.Errorf("%s changed the fingerprint", name)
		}
	}
	req := refund()
	req.Actions[0].ArgsHash, req.Actions[0].Redacted, req.Actions[0].Blind = "x", []string{"x"}, []string{"x"}
	if fingerprint(t, "acme", req) != before {
		t.Error("redaction changed the fingerprint")
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// fill sets v to something other than it is.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = x.Add(time.Hour)
		return
	case *json.RawMessage:
		*x = json.RawMessage(`{"filled":true}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("cannot fill a %s", v.Type())
	}
}

func TestFingerprintSeesThroughSpelling(t *testing.T) {
	before := fingerprint(t, "acme", refund())
	req := refund()
	req.Actions[0].Args = json.RawMessage(` { "order" : "\u0037\u0037" , "amount" : 1.20e2 } `)
	req.Schema = json.RawMessage("{\n\"type\": \"object\"\n}")
	if fingerprint(t, "acme", req) != before {
		t.Error("the same arguments, spelled otherwise, have another fingerprint")
	}

	stored, err := json.Marshal(refund())
	if err != nil {
		t.Fatal(err)
	}
	var back holdshort.Request
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	back.Salt = refund().Salt
	if fingerprint(t, "acme", back) != before {
		t.Error("a trip through JSON changed the fingerprint")
	}

	bare := holdshort.Request{ID: "req_1", Salt: "s"}
	empty := bare
	empty.Options, empty.Allowed, empty.Actions, empty.Schema = []holdshort.Option{}, []holdshort.Verb{}, []holdshort.Action{}, json.RawMessage{}
	empty.Audience = holdshort.Audience{Users: []string{}, Roles: []string{}, Quorum: 1}
	if fingerprint(t, "acme", bare) != fingerprint(t, "acme", empty) {
		t.Error("empty lists and missing ones have different fingerprints")
	}
}

// The format is a promise: fingerprints stand in databases and links.
func TestFingerprintIsStable(t *testing.T) {
	const want = "89068fc5d6ea401a3910be5c76aac8ab3748f24a09dba06bc7e63f85d3e59927"
	if got := fingerprint(t, "acme", refund()); got != want {
		t.Errorf("got %s, want %s: a changed format needs a new name in it", got, want)
	}
}

func TestFingerprintRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*holdshort.Request)
		code   holdshort.Code
		field  string
	}{
		{"a number beyond a double", func(r *holdshort.Request) { r.Actions[1].Args = json.RawMessage(`{"n":[1,12345678901234567890]}`) }, holdshort.NotCanonical, "/actions/1/args/n/1"},
		{"duplicate keys", func(r *holdshort.Request) { r.Actions[0].Args = json.RawMessage(`{"a":1,"a":2}`) }, holdshort.NotCanonical, "/actions/0/args/a"},
		{"half a surrogate pair", func(r *holdshort.Request) { r.Actions[0].Args = json.RawMessage(`"\ud800"`) }, holdshort.NotCanonical, "/actions/0/args"},
		{"broken args", func(r *holdshort.Request) { r.Actions[0].Args = json.RawMessage(`{`) }, holdshort.NotCanonical, "/actions/0/args"},
		{"a broken schema", func(r *holdshort.Request) { r.Schema = json.RawMessage(`{"a":}`) }, holdshort.NotCanonical, "/schema/a"},
		{"a question that is not text", func(r *holdshort.Request) { r.Question = "\xff" }, holdshort.NotCanonical, ""},
		{"an option that is not text", func(r *holdshort.Request) { r.Options[0].Label = "\xff" }, holdshort.NotCanonical, ""},
		{"a tool that is not text", func(r *holdshort.Request) { r.Actions[0].Tool = "\xff" }, holdshort.NotCanonical, ""},
		{"a role that is not text", func(r *holdshort.Request) { r.Audience.Roles[0] = "\xff" }, holdshort.NotCanonical, ""},
		{"no salt", func(r *holdshort.Request) { r.Salt = "" }, holdshort.Invalid, "fingerprint"},
		{"no id", func(r *holdshort.Request) { r.ID = "" }, holdshort.Invalid, "fingerprint"},
		{"large args", func(r *holdshort.Request) {
			r.Actions[0].Args = json.RawMessage(`"` + strings.Repeat("a", holdshort.MaxCanonical) + `"`)
		}, holdshort.TooLarge, "/actions/0/args"},
	} {
		req := refund()
		test.change(&req)
		got, err := req.ComputeFingerprint("acme")
		var e *holdshort.Error
		if !errors.As(err, &e) || got != "" || e.Code != test.code || e.Field != test.field || e.Hint == "" {
			t.Errorf("%s: got %q, %#v; want %s at %q", test.name, got, err, test.code, test.field)
		}
	}
	if _, err := refund().ComputeFingerprint(""); !errors.Is(err, holdshort.Invalid) {
		t.Errorf("no tenant: %v", err)
	}
}

func TestSaltsDiffer(t *testing.T) {
	a, b := holdshort.NewSalt(), holdshort.NewSalt()
	if a == b || len(a) != 32 {
		t.Errorf("salts %q and %q", a, b)
	}
}

func TestArgsHash(t *testing.T) {
	// SHA-256 of "{}", by sha256sum.
	if got, want := holdshort.ArgsHash([]byte("{}")), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
