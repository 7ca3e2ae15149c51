package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

func TestReplayDoesNothingTwice(t *testing.T) {
	m := newMemory()
	called := 0
	m.tools["refund"] = func(args json.RawMessage) (any, error) {
		called++
		return "ref_" + string(args), nil
	}
	var steps, models, passes int
	f := made(func(c *flow.Context) (string, error) {
		passes++
		order := step(c, "order", "77", &steps)
		plan, err := flow.Model(c, "plan", func(context.Context) (string, error) { models++; return "refund " + order, nil })
		if err != nil {
			return "", err
		}
		at, lot := flow.Now(c, "at"), flow.Random(c, "lot", 1_000_000)
		flow.Say(c, "hello", plan)
		if err := flow.Emit(c, "planned", map[string]string{"order": order}); err != nil {
			return "", err
		}
		ok, err := flow.Confirm(c, "sure", flow.Question{Text: "Refund?"})
		if err != nil || !ok {
			return "", fmt.Errorf("confirm: %v, %w", ok, err)
		}
		flow.Sleep(c, "a while", time.Hour)
		word, err := flow.Wait[string](c, "word", 0)
		if err != nil {
			return "", err
		}
		ref, err := flow.Call[string](c, "refund", "refund", map[string]int{"amount": 5})
		return fmt.Sprintf("%s %s %s %d", ref, word, at.Format(time.RFC3339), lot), err
	})

	suspended(t, m.run(f, ""))
	m.answer("sure", yes("sure"))
	suspended(t, m.run(f, ""))
	suspended(t, m.run(f, "")) // woken for nothing
	m.pass(time.Hour)
	suspended(t, m.run(f, ""))
	m.post("word", `"go"`)
	first := m.run(f, "")
	if first.State != flow.Completed {
		t.Fatal(show(first))
	}
	again := m.run(f, "")
	completed(t, again, string(first.Result))

	is(t, "passes", passes, 6)
	is(t, "steps", steps, 1)
	is(t, "model calls", models, 1)
	is(t, "tool calls", called, 1)
	for key, n := range m.did {
		is(t, "times of "+key, n, 1)
	}
	same(t, "journal", m.keys(), []string{"at", "hello", "lot", "order", "plan", "planned", "refund", "sure", "word"})
}

func TestErrorsReplayIdentically(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code holdshort.Code
		text string
	}{
		{"plain", errors.New("no route"), holdshort.Internal, "lookup: no route"},
		{"coded", fmt.Errorf("try: %w", &holdshort.Error{Code: holdshort.NotFound, Message: "no order 77"}), holdshort.NotFound, "lookup: try: no order 77"},
		{"code alone", holdshort.Denied, holdshort.Denied, "lookup: denied"},
		{"no UTF-8", errors.New("byte \xff"), holdshort.Internal, "lookup: byte \uFFFD"},
		{"long", errors.New(strings.Repeat("é", 1500) + "!"), holdshort.Internal, "lookup: " + strings.Repeat("é", 1000) + "…"},
		{"long, cut in a letter", errors.New("x" + strings.Repeat("é", 1500)), holdshort.Internal, "lookup: x" + strings.Repeat("é", 999) + "\uFFFD…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			var got []error
			f := made(func(c *flow.Context) (string, error) {
				_, err := flow.Step(c, "lookup", func(context.Context) (int, error) { return 1, tt.err })
				got = append(got, err)
				flow.Sleep(c, "pause", time.Minute)
				return "", err
			})
			suspended(t, m.run(f, ""))
			m.pass(time.Minute)
			end := m.run(f, "")
			failed(t, end, tt.code)
			is(t, "failed step", end.Failure.Step, "lookup")
			for i, err := range got {
				is(t, fmt.Sprint("text of pass ", i+1), err.Error(), tt.text)
				if !errors.Is(err, tt.code) || holdshort.CodeOf(err) != tt.code {
					t.Errorf("pass %d: code of %v is %s, want %s", i+1, err, holdshort.CodeOf(err), tt.code)
				}
				if errors.Is(err, holdshort.Conflict) {
					t.Errorf("pass %d: %v is also a conflict", i+1, err)
				}
			}
			is(t, "times done", m.times("lookup"), 1)
		})
	}
}

func TestRetriesOfAStep(t *testing.T) {
	tests := []struct {
		name     string
		succeeds int // at which attempt; 0: never
		retry    []flow.Retry
		attempts int
		result   string
	}{
		{"once by default", 2, nil, 1, `"boom"`},
		{"again", 2, []flow.Retry{{Times: 3, Wait: 1}}, 2, `"ok"`},
		{"in vain", 0, []flow.Retry{{Times: 3, Wait: 1}}, 4, `"boom"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			attempts := 0
			f := made(func(c *flow.Context) (string, error) {
				v, err := flow.Step(c, "try", func(context.Context) (string, error) {
					if attempts++; attempts == tt.succeeds {
						return "ok", nil
					}
					return "", errors.New("boom")
				}, tt.retry...)
				if err != nil {
					return "boom", nil
				}
				return v, nil
			})
			completed(t, m.run(f, ""), tt.result)
			completed(t, m.run(f, ""), tt.result)
			is(t, "attempts", attempts, tt.attempts)
			is(t, "records", m.times("try"), 1)
		})
	}
}

func TestOutcomesComeBackAsTheyWereFirstSeen(t *testing.T) {
	type order struct {
		ID     string    `json:"id"`
		At     time.Time `json:"at"`
		Amount float64   `json:"amount"`
		hidden int
	}
	m := newMemory()
	var seen []order
	f := made(func(c *flow.Context) (string, error) {
		v, err := flow.Step(c, "load", func(context.Context) (order, error) {
			return order{"77", time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("here", 3600)), 0.1, 5}, nil
		})
		seen = append(seen, v)
		return "", err
	})
	m.run(f, "")
	m.run(f, "")
	if seen[0].hidden != 0 || !seen[0].At.Equal(seen[1].At) || seen[0].Amount != seen[1].Amount || seen[0].ID != seen[1].ID {
		t.Errorf("the first pass saw %+v, the replay %+v: what is not recorded must not be seen at first either", seen[0], seen[1])
	}
}
