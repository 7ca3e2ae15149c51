package rulebook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// careful allows only what it could read: whatever the arguments are, they are allowed only as a small amount in euros.
var careful = []Rule{
	{Name: "never", When: `args.amount > 500 || args.amount < 0`, Then: policy.Verdict{Decision: policy.Deny}},
	{Name: "list", When: `has(args.items) && args.items.exists(i, i.price * i.count > 100)`, Then: policy.Verdict{Decision: policy.Deny}},
	{Name: "share", When: `args.discount / args.amount > 0.5`, Then: policy.Verdict{Decision: policy.Ask, Question: "{args.amount} of {args.items} for {args.a.b}?"}},
	{Name: "note", When: `args.note.matches("(?i)urgent") || size(args.note) > 100`, Then: policy.Verdict{Decision: policy.Ask, Redacted: []string{"note"}, Question: "{args.note}"}},
	{Name: "small", When: `args.currency == "EUR"`, Then: policy.Verdict{Decision: policy.Allow}, Limits: []Limit{{Unit: Repeats, Scope: policy.PerRun, Max: 3}}},
}

// Arguments of any kind neither panic nor turn what cannot be evaluated into an allowance.
func FuzzArguments(f *testing.F) {
	for _, args := range []string{``, `{}`, `null`, `[]`, `"x"`, `{"amount":10,"discount":1,"note":"","currency":"EUR"}`, `{"amount":0,"discount":0,"note":"x","currency":"EUR"}`,
		`{"amount":"10"}`, `{"amount":501}`, `{"amount":1e308,"discount":1e308,"note":"a","currency":"EUR","items":[{"price":1e308,"count":1e308}]}`, `{"items":{"a":1},"amount":1}`,
		`{"amount":1,"discount":0,"note":{"a":null},"currency":"EUR"}`, `{"amount":1,"amount":2}`, `{"amount":NaN}`, "{\"amount\":1,\"note\":\"\xff\"}", `{"a":{"b":"\u202e"},"amount":-1}`} {
		f.Add(args)
	}
	b := book(f, careful...)
	f.Fuzz(func(t *testing.T, args string) {
		call := refund(args)
		v, err := b.Explain(call)
		if err != nil && v.Decision == policy.Allow {
			t.Fatalf("%q: allowed although %v", args, err)
		}
		if judged := policy.Judge(t.Context(), b, call); judged.Decision != v.Decision || judged.Rule != v.Rule {
			t.Fatalf("%q: %+v and %+v", args, judged, v)
		}
		if strings.ContainsAny(v.Question, "\n\r\x00\x1b") {
			t.Fatalf("%q: the question is %q", args, v.Question)
		}
		if v.Decision != policy.Allow {
			return
		}
		// What was allowed must be what the rules mean, read in another way.
		var read struct {
			Amount   *float64
			Currency string
			Discount *float64
			Note     *string
		}
		canonical, err := holdshort.Canonical([]byte(args))
		if err != nil || json.Unmarshal(canonical, &read) != nil || read.Amount == nil || read.Discount == nil || read.Note == nil {
			t.Fatalf("%q was allowed: %v", args, err)
		}
		if *read.Amount > 500 || *read.Amount <= 0 || *read.Discount / *read.Amount > 0.5 || read.Currency != "EUR" || len(v.Limits) != 1 {
			t.Fatalf("%q was allowed", args)
		}
	})
}

// Conditions of any kind are refused or evaluated: nothing panics, and what is no condition is a fault with a place.
func FuzzConditions(f *testing.F) {
	for _, tt := range bad {
		f.Add(tt.when)
	}
	for _, r := range careful {
		f.Add(r.When)
	}
	f.Add(`tool == "a" && [1, 2].map(x, x / 0).exists(y, y > args.z ? true : dyn("x"))`)
	call := refund(`{"amount":1,"l":[1,2,{"x":"y"}],"t":"text"}`)
	f.Fuzz(func(t *testing.T, when string) {
		b, err := Compile([]Rule{deny(when), {Name: "last", When: "true", Then: policy.Verdict{Decision: policy.Allow}}}, Options{Budget: 10_000})
		if err != nil {
			for _, fault := range FaultsOf(err) {
				if fault.Message == "" || fault.Rule != 0 {
					t.Fatalf("%q: %+v", when, fault)
				}
			}
			if len(FaultsOf(err)) == 0 {
				t.Fatalf("%q: %v", when, err)
			}
			return
		}
		v, err := b.Explain(call)
		if err != nil && v.Decision != policy.Deny {
			t.Fatalf("%q: %+v although %v", when, v, err)
		}
	})
}
