package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// effect is one node of a random flow.
type effect struct {
	kind, name string
	fails      bool
	within     [][]effect // of branches, and of a flow
}

func effects(depth int) *rapid.Generator[[]effect] {
	return rapid.Custom(func(t *rapid.T) []effect {
		kinds := []string{"step", "model", "call", "slow call", "batch", "say", "emit", "now", "random", "ask", "sleep", "wait"}
		if depth > 0 {
			kinds = append(kinds, "all", "all", "sub")
		}
		nodes := make([]effect, rapid.IntRange(0, 4).Draw(t, "effects"))
		for i := range nodes {
			n := effect{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), fails: rapid.Bool().Draw(t, "fails")}
			switch n.kind {
			case "all":
				n.within = rapid.SliceOfN(effects(depth-1), 0, 3).Draw(t, "branches")
			case "sub":
				n.within = [][]effect{effects(depth-1).Draw(t, "flow")}
			}
			nodes[i] = n
		}
		return nodes
	})
}

// play does the effects and says what each gave. Every outcome that is made is another one: only a journal can repeat it.
func play(c *flow.Context, nodes []effect, fresh *atomic.Int64) (said []string, err error) {
	say := func(v any, err error) {
		if err != nil {
			v = err.Error()
		}
		said = append(said, fmt.Sprint(v))
	}
	do := func(n effect) func(context.Context) (string, error) {
		return func(context.Context) (string, error) {
			v := fmt.Sprint("v", fresh.Add(1))
			if n.fails {
				return "", errors.New(v)
			}
			return v, nil
		}
	}
	for _, n := range nodes {
		switch n.kind {
		case "step":
			v, failure := flow.Step(c, n.name, do(n))
			say(v, failure)
			if failure != nil {
				err = failure
			}
		case "model":
			say(flow.Model(c, n.name, do(n)))
		case "call":
			say(flow.Call[string](c, n.name, "tool", n.fails))
		case "slow call":
			say(flow.Call[string](c, n.name, "slow", n.fails))
		case "batch":
			results, failure := flow.Calls(c, n.name, []flow.Request{{Tool: "tool", Args: n.fails}, {Tool: "slow"}})
			for _, r := range results {
				say(string(r.Value), r.Err)
			}
			if failure != nil {
				say("", failure)
			}
		case "say":
			flow.Say(c, n.name, "hello")
		case "emit":
			say("emitted", flow.Emit(c, n.name, 1))
		case "now":
			say(flow.Now(c, n.name).Format(time.RFC3339Nano), nil)
		case "random":
			say(flow.Random(c, n.name, 1<<40), nil)
		case "ask":
			say(flow.Ask(c, n.name, flow.Question{}))
		case "sleep":
			flow.Sleep(c, n.name, time.Hour)
			say("slept", nil)
		case "wait":
			say(flow.Wait[string](c, n.name, 0))
		case "sub":
			say(flow.Sub[[]string](c, n.name, made(func(c *flow.Context) ([]string, error) {
				said, _ := play(c, n.within[0], fresh)
				return said, nil
			}), nil))
		case "all":
			keys := make([]int, len(n.within))
			for i := range keys {
				keys[i] = i
			}
			got, failure := flow.Each(c, n.name, keys, strconv.Itoa, func(c *flow.Context, i int) ([]string, error) { return play(c, n.within[i], fresh) })
			say(fmt.Sprint(got, "|", failure), nil)
		}
	}
	return said, err
}

// read says the same from the journal alone, by a key scheme of its own, and lists the keys.
func read(m *memory, path string, nodes []effect, keys map[string]bool) (said []string, failed string) {
	text := func(key string) string {
		keys[key] = true
		e, ok := m.stored[key]
		if !ok {
			return "nothing at " + key
		}
		if e.Error != nil {
			return key + ": " + e.Error.Message
		}
		var s string
		var answer flow.Answer
		var call flow.CallOutcome
		switch {
		case e.Kind == flow.KindCall && json.Unmarshal(e.Outcome, &call) == nil:
			_ = json.Unmarshal(call.Value, &s)
			return s
		case e.Kind == flow.KindAsk && json.Unmarshal(e.Outcome, &answer) == nil:
			_ = json.Unmarshal(answer.Value, &s)
			return s
		case json.Unmarshal(e.Outcome, &s) == nil:
			return s
		}
		return string(e.Outcome)
	}
	seen := map[string]int{}
	for _, n := range nodes {
		key := path + n.name
		if seen[n.name]++; seen[n.name] > 1 {
			key += fmt.Sprint("#", seen[n.name])
		}
		switch n.kind {
		case "say", "emit":
			keys[key] = true
			if n.kind == "emit" {
				said = append(said, "emitted")
			}
		case "batch":
			for _, k := range []string{key + "/1", key + "/2"} {
				if v := text(k); m.stored[k].Error == nil {
					said = append(said, strconv.Quote(v))
				} else {
					said = append(said, v)
				}
			}
		case "sleep":
			keys[key] = true
			said = append(said, "slept")
		case "sub":
			inner, _ := read(m, key+"/", n.within[0], keys)
			said = append(said, fmt.Sprint(slices.Concat([]string{}, inner)))
		case "all":
			got := make([][]string, len(n.within))
			var faults []string
			for i, branch := range n.within {
				inner, failure := read(m, fmt.Sprint(key, "/", i, "/"), branch, keys)
				if got[i] = inner; failure != "" {
					faults = append(faults, fmt.Sprint(i, ": ", failure))
				}
			}
			failure := "<nil>"
			if faults != nil {
				failure = strings.Join(faults, "\n")
			}
			said = append(said, fmt.Sprint(got, "|", failure))
		default:
			v := text(key)
			said = append(said, v)
			if n.kind == "step" && n.fails {
				failed = v
			}
		}
	}
	return said, failed
}

// A random flow is executed again and again, with crashes at random moments and answers that come in any order. It ends with what its journal
// says, and everything in it happened once, but for what a crash took back.
func TestRandomFlows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := effects(2).Draw(t, "flow")
		m := newMemory()
		var fresh atomic.Int64
		tool := func(args json.RawMessage) (any, error) {
			if v := fmt.Sprint("v", fresh.Add(1)); string(args) != "true" {
				return v, nil
			} else {
				return nil, errors.New(v)
			}
		}
		m.tools["tool"], m.tools["slow"] = tool, tool
		m.parked["slow"] = true
		f := made(func(c *flow.Context) ([]string, error) {
			said, _ := play(c, nodes, &fresh)
			return said, nil
		})
		var ending flow.Ending
		for pass := 0; ; pass++ {
			if pass > 500 {
				t.Fatalf("no end after %d passes: %s", pass, show(ending))
			}
			left := rapid.IntRange(-20, 30).Draw(t, "calls until a crash") // below 0: none
			if pass > 50 {
				left = -1
			}
			m.fault = func(string, string) error {
				if left--; left == -1 {
					left = 0
					return errCrash
				}
				left = max(left, -20)
				return nil
			}
			ending = m.run(f, "")
			if m.busy != 0 {
				t.Fatalf("%d effects are under way after %s", m.busy, show(ending))
			}
			if ending.State == flow.Completed {
				break
			}
			if ending.State == flow.Suspended {
				settleOne(t, m)
			} else if ending.State != flow.Abandoned || !errors.Is(ending.Err, errCrash) {
				t.Fatal(show(ending))
			}
		}
		m.fault = nil
		keys := map[string]bool{}
		want, _ := read(m, "", nodes, keys)
		raw, _ := json.Marshal(want)
		if string(ending.Result) != string(raw) {
			t.Fatalf("result is %s, the journal says %s", ending.Result, raw)
		}
		if got, want := slices.Sorted(maps.Keys(m.did)), slices.Sorted(maps.Keys(keys)); !slices.Equal(got, want) {
			t.Fatalf("what happened is at %q, the flow has %q", got, want)
		}
		made := int64(0)
		for key, n := range m.did {
			if n != 1+m.lost[key] {
				t.Errorf("%s happened %d times, and was lost %d times", key, n, m.lost[key])
			}
			if k := m.stored[key].Kind; k == flow.KindStep || k == flow.KindModel || k == flow.KindCall {
				made += int64(n)
			}
		}
		if made != fresh.Load() {
			t.Errorf("%d outcomes were made, %d recorded", fresh.Load(), made)
		}
		did := maps.Clone(m.did)
		again := m.run(f, "")
		if again.State != flow.Completed || string(again.Result) != string(ending.Result) || !maps.Equal(did, m.did) {
			t.Errorf("once more gives %s, want %s and nothing done", show(again), ending.Result)
		}
	})
}

// settleOne lets one of the things happen that the flow waits for.
func settleOne(t *rapid.T, m *memory) {
	waiting := map[string]func(){}
	for key := range m.asked {
		if _, ok := m.stored[key]; !ok {
			raw, _ := json.Marshal("answer to " + key)
			waiting["answer "+key] = func() { m.answer(key, flow.Answer{Status: holdshort.RequestResolved, Value: raw}) }
		}
	}
	for _, due := range m.until {
		if m.now.Before(due) {
			waiting["time"] = func() { m.pass(time.Hour) }
		}
	}
	open := map[string]int{"a": 0, "b": 0}
	for key := range m.until {
		if _, ok := m.stored[key]; !ok {
			open[strings.SplitN(key[strings.LastIndex(key, "/")+1:], "#", 2)[0]]++ // a sleep looks the same: posts in vain do no harm
		}
	}
	for name, n := range open {
		if n > 0 {
			waiting["post "+name] = func() { m.post(name, strconv.Quote(fmt.Sprint("post ", len(m.posts)))) }
		}
	}
	if m.parked["slow"] && len(m.batches) > 0 {
		waiting["approval"] = func() { m.parked["slow"] = false }
	}
	if len(waiting) == 0 {
		t.Fatal("it waits for nothing")
	}
	waiting[rapid.SampledFrom(slices.Sorted(maps.Keys(waiting))).Draw(t, "settles")]()
}
