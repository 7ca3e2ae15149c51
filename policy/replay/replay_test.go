package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

var ruleSet = []rulebook.Rule{
	{Name: "never", When: `tool == "erase"`, Then: policy.Verdict{Decision: policy.Deny}},
	{Name: "reads", When: `effect == "read"`, Then: policy.Verdict{Decision: policy.Allow}},
	{Name: "broken", When: `tool == "odd" && 1 / (size(args) - 1) > 0`, Then: policy.Verdict{Decision: policy.Deny}},
	{Name: "cheap", When: `cost < 50 && tool == "refund"`, Then: policy.Verdict{Decision: policy.Allow}},
	{Name: "big", When: `tool == "refund" && args.amount > 500`, Then: policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, Redacted: []string{"iban"}}},
}

func declared(name string, change func(*tool.Tool)) tool.Tool {
	return holdshorttest.Counter(name).Declared(func(d *tool.Tool) {
		d.Schema = json.RawMessage(`{"type":"object"}`)
		change(d)
	}).Tool()
}

func amountOf(args json.RawMessage) int64 {
	var in struct{ Amount *int64 }
	if json.Unmarshal(args, &in) != nil || in.Amount == nil {
		panic("no amount")
	}
	return *in.Amount
}

func testTools() []tool.Tool {
	return []tool.Tool{
		declared("refund", func(d *tool.Tool) { d.Cost = amountOf }), declared("lookup", func(d *tool.Tool) { d.Effect = tool.Read }), declared("erase", func(*tool.Tool) {}), declared("odd", func(*tool.Tool) {}),
		declared("guarded", func(d *tool.Tool) { d.Effect, d.Guarded = tool.Read, true }), declared("changed", func(d *tool.Tool) { d.Effect, d.Changed = tool.Read, func() bool { panic("cannot say") } }),
		declared("served", func(d *tool.Tool) { d.Hints = &tool.Hints{Server: "s", Trusted: true, ReadOnly: true} }),
	}
}

func bed(t *testing.T) (*holdshorttest.Kit, *replay.Rules) {
	t.Helper()
	book, err := rulebook.Compile(ruleSet, rulebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := holdshorttest.New(t, holdshorttest.Options{Tools: testTools(), Policy: book, Tenant: "default"})
	return k, &replay.Rules{Policy: book, Book: book, Tools: testTools(), Store: k.Store(), Read: func(text []byte) (*rulebook.Book, error) {
		var rules []rulebook.Rule
		if err := json.Unmarshal(text, &rules); err != nil {
			return nil, err
		}
		return rulebook.Compile(rules, rulebook.Options{})
	}}
}

func ask(t *testing.T, k *holdshorttest.Kit, name, args string) holdshort.Request {
	t.Helper()
	out, err := k.Engine().Ask(t.Context(), "default", engine.AskInput{Kind: holdshort.Approval, Actor: holdshort.Actor{ID: "key_1", Kind: holdshort.Service}, Actions: []engine.AskAction{{Tool: name, Args: json.RawMessage(args)}}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Request
}

// Whatever the call, trying it says what the kernel does with it.
func TestTryIsWhatTheKernelDoes(t *testing.T) {
	k, rules := bed(t)
	r := rand.New(rand.NewPCG(5, 6))
	names := []string{"refund", "lookup", "erase", "odd", "guarded", "changed", "served", "elsewhere"}
	seen := map[policy.Decision]int{}
	for range 200 {
		name := names[r.IntN(len(names))]
		args := []string{`{}`, `{"amount":20}`, `{"amount":-1}`, `{"amount":80}`, `{"amount":900}`, `{"amount":"much"}`, `{"other":true}`}[r.IntN(7)]
		req := ask(t, k, name, args)
		did := policy.Ask
		if req.Status == holdshort.RequestResolved {
			if did = policy.Deny; req.Outcome == holdshort.Approved {
				did = policy.Allow
			}
		}
		v := rules.Try(t.Context(), replay.Trial{Outside: true, Call: policy.Call{Tenant: "default", Tool: name, Args: json.RawMessage(args), Now: k.Now()}})
		if v.Decision != did || v.Rule != req.Rule {
			t.Errorf("%s %s: tried %s by %q, the kernel %s by %q", name, args, v.Decision, v.Rule, did, req.Rule)
		}
		seen[did]++
		if open := did == policy.Ask; open && !slices.Equal(v.Audience.Roles, req.Audience.Roles) {
			t.Errorf("%s %s: tried asks %v, the kernel %v", name, args, v.Audience, req.Audience)
		}
	}
	if seen[policy.Ask] == 0 || seen[policy.Allow] == 0 || seen[policy.Deny] == 0 {
		t.Errorf("the calls were too much alike: %v", seen)
	}
}

func TestTrySaysWhy(t *testing.T) {
	_, rules := bed(t)
	for _, tt := range []struct {
		name    string
		trial   replay.Trial
		want    policy.Decision
		matched string
		number  int
		known   bool
		caused  bool
	}{
		{"a rule", replay.Trial{Call: policy.Call{Tool: "lookup"}}, policy.Allow, "reads", 2, true, false},
		{"its owner's word", replay.Trial{Call: policy.Call{Tool: "guarded"}}, policy.Ask, "reads", 2, true, false},
		{"no rule", replay.Trial{Call: policy.Call{Tool: "refund", Args: json.RawMessage(`{"amount":60}`)}}, policy.Ask, rulebook.NoMatch, 0, true, false},
		{"a cost of one's own", replay.Trial{Costs: true, Call: policy.Call{Tool: "refund", Cost: 1, Args: json.RawMessage(`{"amount":60}`)}}, policy.Allow, "cheap", 4, true, false},
		{"a tool that nobody has", replay.Trial{Call: policy.Call{Tool: "elsewhere"}}, policy.Deny, "unknown tool", 0, false, false},
		{"the same over the API", replay.Trial{Outside: true, Call: policy.Call{Tool: "elsewhere"}}, policy.Ask, rulebook.NoMatch, 0, false, false},
		{"a broken rule that denies", replay.Trial{Call: policy.Call{Tool: "odd", Args: json.RawMessage(`{"a":1}`)}}, policy.Deny, "broken", 3, true, true},
	} {
		v := rules.Try(t.Context(), tt.trial)
		if v.Decision != tt.want || v.Matched != tt.matched || v.Number != tt.number || v.Known != tt.known || (v.Cause != "") != tt.caused || !v.Ruled {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
	if v := (&replay.Rules{Tools: testTools()}).Try(t.Context(), replay.Trial{Call: policy.Call{Tool: "lookup"}}); v.Decision != policy.Ask || v.Ruled {
		t.Errorf("without a policy: %+v", v)
	}
}

func TestCostThatCannotBeReckoned(t *testing.T) {
	tools := replay.Registered(testTools())
	for args, want := range map[string]int64{`{"amount":7}`: 7, `{"amount":-7}`: math.MaxInt64 >> 16, `{}`: math.MaxInt64 >> 16} {
		if calls := tools.Declared(policy.Call{Tool: "refund", Args: json.RawMessage(args)}); len(calls) != 1 || calls[0].Cost != want || calls[0].Reversible != "no" || calls[0].Effect != "write" {
			t.Errorf("%s: %+v", args, calls)
		}
	}
	if calls := tools.Declared(policy.Call{Tool: "elsewhere"}); calls != nil {
		t.Errorf("%+v", calls)
	}
}

// A bound takes the latest, and says that there are more.
func TestBounds(t *testing.T) {
	k, rules := bed(t)
	began := k.Now()
	for i := range 30 {
		ask(t, k, "refund", fmt.Sprintf(`{"amount":%d}`, 100+i))
		k.Advance(time.Minute)
	}
	for _, tt := range []struct {
		bound int
		more  bool
		calls int
	}{{0, false, 30}, {30, false, 30}, {29, true, 29}, {7, true, 7}} {
		past, err := replay.Recall(t.Context(), k.Store(), "default", began.Add(-time.Hour), replay.Bounds{Requests: tt.bound})
		if err != nil || past.More != tt.more || len(past.Calls) != tt.calls || string(past.Calls[len(past.Calls)-1].Args) != `{"amount":129}` {
			t.Errorf("bound %d: %d calls, more %v, %v", tt.bound, len(past.Calls), past.More, err)
		}
	}
	rules.Bounds = replay.Bounds{Requests: 7, Runs: 7}
	result, err := rules.Replay(t.Context(), "default", []byte(`[{"Name":"all","When":"true","Then":{"Decision":"allow"}}]`), began.Add(-time.Hour))
	if err != nil || !result.Older || result.Judged != 7 || result.Sums[replay.AskedLess] != 7 {
		t.Errorf("%+v, %v", result, err)
	}
	if result, err = rules.Replay(t.Context(), "default", []byte(`[]`), k.Now()); err != nil || result.Judged != 0 || result.Older {
		t.Errorf("nothing since now: %+v, %v", result, err)
	}
	if result, err = rules.Replay(t.Context(), "other", []byte(`[]`), began.Add(-time.Hour)); err != nil || result.Judged != 0 {
		t.Errorf("another tenant's: %+v, %v", result, err)
	}
}

// waiting is a store whose readers wait until they are told.
type waiting struct {
	store.Store
	there, goOn chan struct{}
}

func (w waiting) View(ctx context.Context, tenant holdshort.TenantID, fn func(store.ReadTx) error) error {
	select {
	case w.there <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-w.goOn:
	case <-ctx.Done():
		return ctx.Err()
	}
	return w.Store.View(ctx, tenant, fn)
}

// One at a time, and whoever leaves makes room.
func TestOneReplayAtATime(t *testing.T) {
	k, rules := bed(t)
	w := waiting{k.Store(), make(chan struct{}), make(chan struct{})}
	rules.Store = w
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := rules.Replay(ctx, "default", []byte(`[]`), k.Now().Add(-time.Hour))
		ended <- err
	}()
	<-w.there
	if _, err := rules.Replay(t.Context(), "default", []byte(`[]`), k.Now().Add(-time.Hour)); holdshort.CodeOf(err) != holdshort.RateLimited || holdshort.HintOf(err) == "" {
		t.Errorf("a second one: %v", err)
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	rules.Store = k.Store()
	if _, err := rules.Replay(t.Context(), "default", []byte(`[]`), k.Now().Add(-time.Hour)); err != nil {
		t.Errorf("after it was called off: %v", err)
	}
	past := &replay.Past{Calls: make([]replay.Record, 3)}
	if _, err := replay.Replay(ctx, replay.Registered(nil), policy.AskAlways, "", past); !errors.Is(err, context.Canceled) {
		t.Errorf("judging goes on: %v", err)
	}
	if _, err := rules.Replay(t.Context(), "default", make([]byte, 200<<10), k.Now()); holdshort.CodeOf(err) != holdshort.Invalid || holdshort.HintOf(err) == "" {
		t.Errorf("a text without an end: %v", err)
	}
	none := &replay.Rules{}
	if _, err := none.Replay(t.Context(), "default", nil, k.Now()); holdshort.CodeOf(err) != holdshort.NotFound {
		t.Errorf("without a store: %v", err)
	}
}

func TestRulesAsData(t *testing.T) {
	_, rules := bed(t)
	rules.Places = []string{"a.yaml:3"}
	list, ruled := rules.Rules()
	if !ruled || len(list) != len(ruleSet) || list[0].Place != "a.yaml:3" || list[1].Place != "" || list[4].When != ruleSet[4].When {
		t.Fatalf("%+v", list)
	}
	if says := list[4].Says; says.ExpiresIn != 10*time.Minute || says.Audience.Quorum != 2 || says.OnTimeout != holdshort.TimeoutFail || list[4].Then.ExpiresIn != 0 {
		t.Errorf("%+v", says)
	}
	if o := rules.Otherwise(); o.Decision != policy.Ask || !slices.Equal(o.Audience.Roles, []string{"reviewer"}) {
		t.Errorf("%+v", o)
	}
	if _, ruled := (&replay.Rules{}).Rules(); ruled {
		t.Error("no book, and rules")
	}
}
