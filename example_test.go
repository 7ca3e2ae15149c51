package holdshort_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
)

// However arguments are spelled, what they say has one hash.
func ExampleCanonical() {
	for _, args := range []string{`{"order":"77", "amount":1.20e2}`, `{ "amount": 120, "order": "\u0037\u0037" }`} {
		canonical, err := holdshort.Canonical([]byte(args))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s %.8s\n", canonical, holdshort.ArgsHash(canonical))
	}
	_, err := holdshort.Canonical([]byte(`{"account":12345678901234567890}`))
	var refused *holdshort.Error
	fmt.Println(errors.As(err, &refused), refused.Code, refused.Field)
	// Output:
	// {"amount":120,"order":"77"} 09c8b4d3
	// {"amount":120,"order":"77"} 09c8b4d3
	// true not_canonical /account
}

// A decision is bound to one request of one tenant. Changed or moved, it is refused.
func ExampleKeyring_SignDecision() {
	keys := holdshort.NewKeyring()
	decision, err := keys.SignDecision("acme", holdshort.Decision{
		ID: "dec_1", RequestID: "req_1", Action: holdshort.Approve, Fingerprint: "9f86d081",
		Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin},
		At:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("as signed:", keys.VerifyDecision("acme", decision))
	fmt.Println("with a new key:", keys.Rotate().VerifyDecision("acme", decision))

	moved := decision
	moved.RequestID = "req_2"
	fmt.Println("moved:", holdshort.CodeOf(keys.VerifyDecision("acme", moved)))
	fmt.Println("by another keyring:", holdshort.CodeOf(holdshort.NewKeyring().VerifyDecision("acme", decision)))
	// Output:
	// as signed: <nil>
	// with a new key: <nil>
	// moved: mac_invalid
	// by another keyring: key_unknown
}

// One decision wins. Who comes later hears what stands.
func ExampleRequest_Decide() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	request := holdshort.Request{
		ID: holdshort.NewRequestID(now), Kind: holdshort.Approval, Status: holdshort.RequestOpen, Salt: holdshort.NewSalt(),
		Question: "Refund 120 EUR to order 77?", ExpectedInput: holdshort.YesNo, Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Reject},
		Actions:   []holdshort.Action{{CallID: "call_1", Tool: "refund", Args: json.RawMessage(`{"amount":120,"order":"77"}`), NeedsApproval: true}},
		ExpiresAt: now.Add(10 * time.Minute),
	}
	var err error
	if request.Fingerprint, err = request.ComputeFingerprint("acme"); err != nil {
		panic(err)
	}
	seen := request.Fingerprint // what the person had before their eyes

	decided, err := request.Decide(holdshort.Decision{Action: holdshort.Approve, Fingerprint: seen}, now)
	fmt.Println(decided.Status, decided.Outcome, err)

	_, err = decided.Decide(holdshort.Decision{Action: holdshort.Reject}, now)
	fmt.Println(holdshort.CodeOf(err))

	_, err = request.Decide(holdshort.Decision{Action: holdshort.Approve}, now.Add(10*time.Minute))
	fmt.Println(holdshort.CodeOf(err))
	// Output:
	// resolved approved <nil>
	// closed
	// expired
}
