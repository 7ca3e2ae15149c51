package holdshort_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func approval() holdshort.Decision {
	args := json.RawMessage(`{"amount":100,"order":"77"}`)
	return holdshort.Decision{
		ID: "dec_01jc0000000000000000000000", RequestID: "req_01jc0000000000000000000000", Action: holdshort.Approve,
		Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person, Name: "Ana", Roles: []string{"finance"}, Assurance: holdshort.AssuranceLogin,
			ForUser: "ben"},
		Message: "fine", OptionIDs: []string{"a", "b"}, Value: json.RawMessage(`{"n":1,"m":[2]}`),
		Calls: []holdshort.CallDecision{
			{CallID: "call_1", Action: holdshort.Edit, Message: "less", Args: args, ArgsHash: holdshort.ArgsHash(args)},
			{CallID: "call_2", Action: holdshort.Respond, Message: "it rains", ArgsHash: "h2"},
		},
		Raw: "yes", Channel: "web", Fingerprint: "f", At: noon,
	}
}

func sign(t testing.TB, k *holdshort.Keyring, d holdshort.Decision) holdshort.Decision {
	t.Helper()
	signed, err := k.SignDecision("acme", d)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestSignDecision(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	d := sign(t, k, approval())
	if d.KeyID != "one" || len(d.MAC) != 64 || len(d.Nonce) != 32 {
		t.Fatalf("signed as key %q, nonce %q, MAC %q", d.KeyID, d.Nonce, d.MAC)
	}
	if want := noon.Truncate(time.Microsecond); !d.At.Equal(want) || d.At.Location() != time.UTC {
		t.Errorf("at %v, want %v", d.At, want)
	}
	if err := k.VerifyDecision("acme", d); err != nil {
		t.Error(err)
	}
	if again := sign(t, k, approval()); again.Nonce == d.Nonce || again.MAC == d.MAC {
		t.Error("two decisions have the same nonce")
	}
	if again := sign(t, k, d); again.Nonce != d.Nonce || again.MAC != d.MAC {
		t.Error("a decision that has a nonce got another")
	}
	if err := k.Rotate().VerifyDecision("acme", d); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	local := approval()
	local.Nonce, local.At = d.Nonce, noon.In(time.FixedZone("east", 3*3600))
	if got := sign(t, k, local); got.MAC != d.MAC {
		t.Error("the time zone changed the MAC")
	}
}

// The format is a promise: MACs stand in databases.
func TestDecisionMACIsStable(t *testing.T) {
	const wantDecision, wantVote = "1f5bb39818c7e5e8e80a76f2933cf06a4ccf86458e1c9b0e038505e7c47a2f4e", "52bff12cf429ba8a7ae77aceb5c8a114d9affcfbd07b382e1e7188433990fb55"
	k := keyring(t, "one "+secretOne)
	d := approval()
	d.Nonce = "00112233445566778899aabbccddeeff"
	if got := sign(t, k, d).MAC; got != wantDecision {
		t.Errorf("decision %s, want %s: a changed format needs a new name in it", got, wantDecision)
	}
	vote, err := k.SignVote("acme", d)
	if err != nil || vote.MAC != wantVote {
		t.Errorf("vote %s, %v, want %s: a changed format needs a new name in it", vote.MAC, err, wantVote)
	}
}

func TestVerifyDecisionRefusesEveryChange(t *testing.T) {
	k := keyring(t, "one "+secretOne+"\ntwo "+secretTwo)
	type decision = holdshort.Decision
	other := json.RawMessage(`{"amount":999,"order":"77"}`)
	for name, change := range map[string]func(*decision){
		"moved to another request":  func(d *decision) { d.RequestID = "req_01jc0000000000000000000001" },
		"id":                        func(d *decision) { d.ID = "dec_01jc0000000000000000000001" },
		"nonce":                     func(d *decision) { d.Nonce = holdshort.NewSalt() },
		"no nonce":                  func(d *decision) { d.Nonce = "" },
		"key id":                    func(d *decision) { d.KeyID = "two" },
		"fingerprint":               func(d *decision) { d.Fingerprint = "g" },
		"actor":                     func(d *decision) { d.Actor.ID = "ben" },
		"actor kind":                func(d *decision) { d.Actor.Kind = holdshort.Service },
		"actor's user":              func(d *decision) { d.Actor.ForUser = "" },
		"assurance":                 func(d *decision) { d.Actor.Assurance = holdshort.AssuranceChannel },
		"actor and user swapped":    func(d *decision) { d.Actor.ID, d.Actor.ForUser = d.Actor.ForUser, d.Actor.ID },
		"action":                    func(d *decision) { d.Action = holdshort.Reject },
		"message":                   func(d *decision) { d.Message = "fine!" },
		"an option":                 func(d *decision) { d.OptionIDs[1] = "c" },
		"an option less":            func(d *decision) { d.OptionIDs = d.OptionIDs[:1] },
		"options joined":            func(d *decision) { d.OptionIDs = []string{"ab"} },
		"options swapped":           func(d *decision) { d.OptionIDs = []string{"b", "a"} },
		"value":                     func(d *decision) { d.Value = json.RawMessage(`{"n":1,"m":[3]}`) },
		"no value":                  func(d *decision) { d.Value = nil },
		"broken value":              func(d *decision) { d.Value = json.RawMessage(`{`) },
		"call id":                   func(d *decision) { d.Calls[0].CallID = "call_3" },
		"call action":               func(d *decision) { d.Calls[1].Action = holdshort.Approve },
		"call message":              func(d *decision) { d.Calls[1].Message = "it snows" },
		"call args hash":            func(d *decision) { d.Calls[1].ArgsHash = "h3" },
		"call args, hash kept":      func(d *decision) { d.Calls[0].Args = other },
		"call args and their hash":  func(d *decision) { d.Calls[0].Args, d.Calls[0].ArgsHash = other, holdshort.ArgsHash(other) },
		"call args where none were": func(d *decision) { d.Calls[1].Args = other },
		"broken call args":          func(d *decision) { d.Calls[0].Args = json.RawMessage(`{"a":1,"a":2}`) },
		"a call less":               func(d *decision) { d.Calls = d.Calls[:1] },
		"a call more":               func(d *decision) { d.Calls = append(d.Calls, holdshort.CallDecision{}) },
		"calls swapped":             func(d *decision) { d.Calls[0], d.Calls[1] = d.Calls[1], d.Calls[0] },
		"self approved":             func(d *decision) { d.SelfApproved = true },
		"time":                      func(d *decision) { d.At = d.At.Add(time.Microsecond) },
		"no time":                   func(d *decision) { d.At = time.Time{} },
		"MAC":                       func(d *decision) { d.MAC = strings.Repeat("00", 32) },
		"a cut MAC":                 func(d *decision) { d.MAC = d.MAC[:32] },
		"no MAC":                    func(d *decision) { d.MAC = "" },
		"a MAC that is no MAC":      func(d *decision) { d.MAC = "x" + d.MAC[1:] },
		"a text between fields":     func(d *decision) { d.Message, d.Fingerprint = "", d.Fingerprint+d.Message },
	} {
		d := sign(t, k, approval())
		change(&d)
		err := k.VerifyDecision("acme", d)
		if !errors.Is(err, holdshort.MACInvalid) || holdshort.CodeOf(err) != holdshort.MACInvalid || holdshort.HintOf(err) == "" {
			t.Errorf("%s: got %v, want mac_invalid", name, err)
		}
	}
	if err := k.VerifyDecision("globex", sign(t, k, approval())); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("moved to another tenant: %v", err)
	}
	if err := keyring(t, "one "+secretTwo).VerifyDecision("acme", sign(t, k, approval())); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("same key id, other secret: %v", err)
	}
	if err := k.VerifyDecision("acme", approval()); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("never signed: %v", err)
	}
}

// Every field of a decision is either covered or named here, so that a new one is thought about.
func TestDecisionMACCoversOrNamesEveryField(t *testing.T) {
	covered := "ID RequestID Action Actor Message OptionIDs Value Calls SelfApproved Fingerprint Nonce KeyID MAC At"
	told := "Raw Channel ResolvedBy" // how it came, not what was decided; ResolvedBy is a label that its caller chose
	k := keyring(t, "one "+secretOne)
	for field := range reflect.TypeFor[holdshort.Decision]().Fields() {
		name := field.Name
		d := sign(t, k, approval())
		fill(t, reflect.ValueOf(&d).Elem().FieldByName(name))
		err := k.VerifyDecision("acme", d)
		switch {
		case contains(strings.Fields(covered), name):
			if err == nil {
				t.Errorf("%s changed and the decision still verifies", name)
			}
		case contains(strings.Fields(told), name):
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		default:
			t.Errorf("field %s is neither covered by the MAC nor named as left out", name)
		}
	}
	d := sign(t, k, approval())
	d.Actor.Name = "Ana B."
	if err := k.VerifyDecision("acme", d); err != nil {
		t.Errorf("name of the actor: %v", err)
	}
	d.Actor.Roles = append(d.Actor.Roles, "board")
	if err := k.VerifyDecision("acme", d); err == nil {
		t.Error("a role was added and the decision still verifies")
	}
}

func TestVotesAreNotDecisions(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	vote, err := k.SignVote("acme", approval())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.VerifyVote("acme", vote); err != nil {
		t.Error(err)
	}
	if err := k.VerifyDecision("acme", vote); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("a vote as a decision: %v", err)
	}
	if err := k.VerifyVote("acme", sign(t, k, approval())); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("a decision as a vote: %v", err)
	}
	if err := k.VerifyVote("globex", vote); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("a vote of another tenant: %v", err)
	}
	vote.Actor.ID = "ben"
	if err := k.VerifyVote("acme", vote); !errors.Is(err, holdshort.MACInvalid) {
		t.Errorf("a vote of another actor: %v", err)
	}
}

// Stores keep JSON, microseconds and no difference between an empty list and none.
func TestSignedDecisionSurvivesAStore(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	bare := holdshort.Decision{ID: "dec_1", RequestID: "req_1", Action: holdshort.Reject, Actor: holdshort.Actor{ID: "ana"}, Fingerprint: "f", At: noon,
		OptionIDs: []string{}, Calls: []holdshort.CallDecision{}, Value: json.RawMessage{}}
	for name, before := range map[string]holdshort.Decision{"full": approval(), "bare": bare} {
		signed := sign(t, k, before)
		stored, err := json.Marshal(signed)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back holdshort.Decision
		if err := json.Unmarshal(stored, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back.Nonce, back.KeyID, back.MAC = signed.Nonce, signed.KeyID, signed.MAC
		back.At = time.UnixMicro(back.At.UnixMicro()) // local, as a driver might
		if len(back.Value) > 0 {
			back.Value = json.RawMessage(`{ "m": [2.0], "n": 1 }`) // as a JSON column might
		}
		if err := k.VerifyDecision("acme", back); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignDecisionRefusesWhatItCannotBind(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	type decision = holdshort.Decision
	for _, test := range []struct {
		name   string
		change func(*decision)
		code   holdshort.Code
		field  string
	}{
		{"no id", func(d *decision) { d.ID = "" }, holdshort.Invalid, "id"},
		{"no request", func(d *decision) { d.RequestID = "" }, holdshort.Invalid, "request_id"},
		{"no fingerprint", func(d *decision) { d.Fingerprint = "" }, holdshort.Invalid, "fingerprint"},
		{"no actor", func(d *decision) { d.Actor = holdshort.Actor{} }, holdshort.Invalid, "actor"},
		{"no action", func(d *decision) { d.Action = "" }, holdshort.Invalid, "action"},
		{"no time", func(d *decision) { d.At = time.Time{} }, holdshort.Invalid, "at"},
		{"a message that is not text", func(d *decision) { d.Message = "\xff" }, holdshort.Invalid, ""},
		{"a call's message that is not text", func(d *decision) { d.Calls[1].Message = "\xff" }, holdshort.Invalid, ""},
		{"an option that is not text", func(d *decision) { d.OptionIDs[0] = "\xff" }, holdshort.Invalid, ""},
		{"a value beyond a double", func(d *decision) { d.Value = json.RawMessage(`{"n":1e400}`) }, holdshort.NotCanonical, "/value/n"},
		{"args with a key twice", func(d *decision) { d.Calls[0].Args = json.RawMessage(`{"a":1,"a":2}`) }, holdshort.NotCanonical, "/calls/0/args/a"},
		{"args of another hash", func(d *decision) { d.Calls[0].Args = json.RawMessage(`{"amount":999}`) }, holdshort.ArgsChanged, "calls"},
	} {
		d := approval()
		test.change(&d)
		got, err := k.SignDecision("acme", d)
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != test.code || e.Field != test.field || e.Hint == "" || got.MAC != "" {
			t.Errorf("%s: got MAC %q, %#v; want %s at %q", test.name, got.MAC, err, test.code, test.field)
		}
	}
	if _, err := k.SignDecision("", approval()); !errors.Is(err, holdshort.Invalid) {
		t.Errorf("no tenant: %v", err)
	}
}

func BenchmarkSignAndVerify(b *testing.B) {
	k := holdshort.NewKeyring()
	d := approval()
	b.ReportAllocs()
	for b.Loop() {
		if err := k.VerifyDecision("acme", sign(b, k, d)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	req := refund()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := req.ComputeFingerprint("acme"); err != nil {
			b.Fatal(err)
		}
	}
}
