package rulebook

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/policy"
)

// bad are conditions and arguments that cannot be evaluated together. Each must end the evaluation, in whatever rule it stands.
var bad = []struct{ name, when, args string }{
	{"a missing field", `args.amount > 500`, `{}`},
	{"a missing field within", `args.customer.tier == "gold"`, `{"customer":{}}`},
	{"a field of no object", `args.customer.tier == "gold"`, `{"customer":"ana"}`},
	{"a field of null", `args.customer.tier == "gold"`, `{"customer":null}`},
	{"a field of arguments that are a list", `args.amount > 500`, `[1,2]`},
	{"a field of arguments that are a text", `args.amount > 500`, `"amount"`},
	{"whether null has a field", `has(args.customer.tier)`, `{"customer":null}`},
	{"whether a text has a field", `!has(args.customer.tier)`, `{"customer":"ana"}`},
	{"another type", `args.amount > 500`, `{"amount":"501"}`},
	{"null", `args.amount > 500`, `{"amount":null}`},
	{"a list", `args.amount > 500`, `{"amount":[501]}`},
	{"an object", `args.amount > 500`, `{"amount":{"value":501}}`},
	{"a truth", `args.amount > 500`, `{"amount":true}`},
	{"no truth", `args.ok`, `{"ok":"yes"}`},
	{"no truth, null", `args.ok`, `{"ok":null}`},
	{"no truth, negated", `!args.ok`, `{"ok":0}`},
	{"no truth beside one", `args.ok && tool == "orders.refund"`, `{"ok":1}`},
	{"a division by zero", `args.total / args.count > 10`, `{"total":100,"count":0}`},
	{"a division by zero that is negative", `args.total / args.count < 10`, `{"total":-100,"count":0}`},
	{"nothing by nothing", `args.total / args.count < 10`, `{"total":0,"count":0}`},
	{"a whole division by zero", `100 / (size(args.items) - 1) > 3`, `{"items":[1]}`},
	{"a remainder of zero", `args.total % args.count == 1`, `{"total":7,"count":0}`},
	{"a remainder of a fraction", `args.total % 2 == 1`, `{"total":7.5}`},
	{"a sum beyond all numbers", `args.x * args.x > 1`, `{"x":1e300}`},
	{"a difference of infinities", `args.x * 1e308 - args.x * 1e308 < 1`, `{"x":1e300}`},
	{"a whole sum beyond all numbers", `cost * 9223372036854775807 > 0`, `{}`},
	{"no number in a text", `int(args.amount) > 500`, `{"amount":"five hundred"}`},
	{"no whole number", `int(args.amount) > 500`, `{"amount":1e300}`},
	{"a text and a number", `args.a + args.b == "x"`, `{"a":"x","b":1}`},
	{"an index past the end", `args.items[3] == 1`, `{"items":[1]}`},
	{"an index before the beginning", `args.items[-1] == 1`, `{"items":[1]}`},
	{"an index that is no number", `args.items["x"] == 1`, `{"items":[1]}`},
	{"a pattern of the caller's", `tool.matches(args.pattern)`, `{"pattern":"("}`},
	{"a huge pattern of the caller's", `tool.matches(args.pattern)`, `{"pattern":"(((a{30}){30}){30}){30}"}`},
	{"a time zone of the caller's", `now.getHours(args.zone) > 3`, `{"zone":"Nowhere"}`},
	{"no time", `timestamp(args.at) < now`, `{"at":"yesterday"}`},
	{"no list", `args.items.exists(x, x > 3)`, `{"items":7}`},
	{"a list with other things", `args.items.all(x, x > 3)`, `{"items":[4,"5"]}`},
	{"arguments that say two things", `args.amount > 500`, `{"amount":1,"amount":501}`},
	{"arguments that are cut off", `args.amount > 500`, `{"amount":1`},
	{"arguments that are no JSON", `args.amount > 500`, `amount=1`},
	{"arguments that no number can hold", `args.amount > 500`, `{"amount":1e999}`},
	{"arguments that a number would round", `args.amount > 500`, `{"amount":9007199254740993}`},
	{"arguments too deep", `args.a != 1`, `{"a":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}`},
	{"arguments too large", `args.a != "x"`, `{"a":"` + strings.Repeat("a", 2<<20) + `"}`},
	{"loops in loops", `args.l.all(a, args.l.all(b, args.l.all(c, a + b + c >= 0)))`, `{"l":[` + strings.Repeat("1,", 499) + `1]}`},
	{"loops over what loops make", `args.l.map(a, args.l.map(b, args.l)).all(c, size(c) > 0)`, `{"l":[` + strings.Repeat("1,", 2999) + `1]}`},
	{"a text that grows", `args.l.map(a, args.t + args.t).all(t, size(t) > 0)`, `{"l":[` + strings.Repeat("1,", 999) + `1],"t":"` + strings.Repeat("a", 100_000) + `"}`},
	{"a text that grows by itself", `size(` + strings.Repeat("args.t + ", 60) + `args.t) > 0`, `{"t":"` + strings.Repeat("a", 500_000) + `"}`},
	{"patterns in a loop", `args.l.exists(a, args.t.matches("(x+x+)+y"))`, `{"l":[` + strings.Repeat("1,", 999) + `1],"t":"` + strings.Repeat("x", 100_000) + `"}`},
}

// costly names the conditions that are evaluated up to the cost limit.
func costly(name string) bool {
	return strings.Contains(name, "loop") || strings.Contains(name, "grows")
}

// Nothing that cannot be evaluated is ever allowed: whatever comes after it, and whatever the rule itself says.
func TestWhatCannotBeEvaluatedEndsTheEvaluation(t *testing.T) {
	finance := policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			call := refund(tt.args)
			begin := time.Now()
			for _, then := range []policy.Verdict{{Decision: policy.Allow}, finance, {Decision: policy.Deny}} {
				for i, before := range [][]Rule{nil, {deny("false"), allow(`tool == "another"`)}} {
					if costly(tt.name) && (i > 0 || then.Decision == policy.Deny) && !testall.Enabled() {
						continue
					}
					rules := append(slices.Clone(before), Rule{Name: "bad", When: tt.when, Then: then}, Rule{Name: "all", When: "true", Then: policy.Verdict{Decision: policy.Allow}})
					b := book(t, rules...)
					v, err := b.Explain(call)
					if err == nil {
						t.Fatalf("%s with %.80s is %+v", tt.when, tt.args, v)
					}
					v = policy.Judge(t.Context(), b, call)
					want := policy.Ask
					if then.Decision == policy.Deny {
						want = policy.Deny
					}
					if v.Decision != want || v.Rule != "bad" || v.Reason != "policy_error" {
						t.Errorf("%s: %+v", then.Decision, v)
					}
					if then.Decision == policy.Ask && !reflect.DeepEqual(v.Audience, finance.Audience) || then.Decision == policy.Allow && !slices.Equal(v.Audience.Roles, []string{"reviewer"}) {
						t.Errorf("%s asks %+v", then.Decision, v.Audience)
					}
				}
			}
			if took := time.Since(begin); took > time.Minute { // far more than the cost limit allows
				t.Errorf("it took %s", took)
			}
		})
	}
}

// What is false already stays so: CEL's and does not look at what cannot be evaluated beside it, on either side.
func TestFalseIsFalseWhateverStandsBesideIt(t *testing.T) {
	for _, tt := range bad {
		for _, when := range []string{`tool == "another" && (` + tt.when + `)`, `(` + tt.when + `) && tool == "another"`, `false && (` + tt.when + `)`} {
			if costly(tt.name) {
				continue // what costs too much ends the evaluation before anybody knows
			}
			b := book(t, Rule{Name: "bad", When: when, Then: policy.Verdict{Decision: policy.Deny}}, Rule{Name: "all", When: "true", Then: policy.Verdict{Decision: policy.Ask}})
			if v, err := b.Explain(refund(tt.args)); err != nil || v.Rule != "all" {
				t.Errorf("%s: %+v, %v", when, v, err)
			}
		}
	}
}

// A rule that could not be evaluated may not have been meant for the call: the clock does not approve it, nor the user alone.
func TestWhoIsAskedWhenNobodyKnows(t *testing.T) {
	b := book(t, Rule{Name: "own", When: "args.amount > 5", Then: policy.Verdict{Decision: policy.Ask, OnTimeout: holdshort.TimeoutApprove, Audience: holdshort.Audience{Owner: true}}})
	v := policy.Judge(t.Context(), b, refund(`{"amount":6}`))
	if v.OnTimeout != holdshort.TimeoutApprove || !v.Audience.Owner {
		t.Errorf("as written: %+v", v)
	}
	v = policy.Judge(t.Context(), b, refund(`{}`))
	if v.OnTimeout != holdshort.TimeoutFail || v.Audience.Owner || !slices.Equal(v.Audience.Roles, []string{"reviewer"}) {
		t.Errorf("not evaluated: %+v", v)
	}
}

func TestFailedIsHeard(t *testing.T) {
	var heard []string
	b, err := Compile([]Rule{ask("args.amount > 5")}, Options{Failed: func(rule string, call policy.Call, cause error) {
		heard = append(heard, fmt.Sprint(rule, " ", call.Tool, " ", cause))
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"amount":1}`, `{}`} {
		if _, err := b.Judge(t.Context(), refund(args)); err != nil {
			t.Error(err)
		}
	}
	if want := []string{`rule 1 orders.refund evaluate rule "rule 1": no such key: amount`}; !slices.Equal(heard, want) {
		t.Errorf("%q", heard)
	}
}

// One rule after the other may spend what is left, no more.
func TestTheBudgetIsForTheWholeBook(t *testing.T) {
	list := `{"l":[` + strings.Repeat("1,", 999) + `1]}`
	one := `args.l.exists(x, x > 1)`
	b, err := Compile([]Rule{allow(one)}, Options{Budget: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := b.Explain(refund(list)); err != nil || v.Rule != NoMatch {
		t.Fatalf("%+v, %v", v, err)
	}
	rules := slices.Repeat([]Rule{allow(one)}, 20)
	rules = append(rules, allow("true"))
	if b, err = Compile(rules, Options{Budget: 20_000}); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Explain(refund(list)); err == nil || v.Decision != policy.Ask || v.Reason != "policy_error" {
		t.Errorf("%+v, %v", v, err)
	}
}

// The cost that is counted is never more than the bound that lets it go uncounted.
func TestUncountedIsLittle(t *testing.T) {
	for _, when := range []string{`args.l.exists(x, x > 1)`, `args.l.all(x, args.l.exists(y, y == x))`, `args.l.map(x, x + x).exists(x, x == 7)`, `args.l.filter(x, args.t.contains("b")).size() > 3`,
		`[1,2,3,4,5,6,7,8,9].exists(x, x in args.l)`, `(args.l + args.l + args.l).all(x, x == 1)`, `args.l.exists_one(x, string(x) + args.t == "x")`, `args.all(k, args[k] == args[k])`, `args.t + args.t + args.t + args.t + args.t != args.t + "x"`, `args.l.exists(x, args.t.matches("^(a|b)+$"))`, `args.l.exists(x, args.t.matches(args.t))`,
		`args.l.exists(x, "a long text that stands in the condition itself, and not among the arguments".contains(args.t))`} {
		for _, args := range []string{`{"l":[],"t":""}`, `{"l":[1],"t":"a"}`, `{"l":[` + strings.Repeat("1,", 40) + `1],"t":"` + strings.Repeat("a", 300) + `"}`} {
			b := book(t, allow(when))
			f := &facts{call: refund(args)}
			_, details, err := b.rules[0].metered.Eval(f)
			if err != nil {
				t.Fatal(when, err)
			}
			if cost, most := costOf(details), b.rules[0].shape.most(f.weigh()); float64(cost) > most {
				t.Errorf("%s with %.40s cost %d, more than %.0f", when, args, cost, most)
			}
		}
	}
}

// Many at once see one book.
func TestManyAtOnce(t *testing.T) {
	b := book(t, deny(`args.l.exists(x, x > args.most)`), allow(`args.amount * 1.5 < 100`), ask(`true`))
	done := make(chan error)
	for i := range 8 {
		go func() {
			for j := range 200 {
				want := "rule 3"
				if j%3 == 0 {
					want = "rule 1"
				}
				args := fmt.Sprintf(`{"l":[%d],"most":%d,"amount":%d}`, i, map[bool]int{true: -1, false: 99}[j%3 == 0], 100+j)
				if v, err := b.Explain(refund(args)); err != nil || v.Rule != want {
					done <- fmt.Errorf("%s: %+v, %v", args, v, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// What nobody thought of: a panic in a condition's evaluation is an error like any other.
func TestArgumentsAreNotChanged(t *testing.T) {
	args := json.RawMessage(`{"b":1, "a":[2]}`)
	call := refund("")
	call.Args = args
	book(t, allow(`args.a.map(x, x * 2).exists(x, x == 4)`)).Explain(call)
	if string(args) != `{"b":1, "a":[2]}` {
		t.Error(string(args))
	}
}
