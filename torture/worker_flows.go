package torture

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// plan is the input of every flow: the run's own id and what it is to do.
type plan struct {
	Run       holdshort.RunID     `json:"run"`
	Calls     []planned           `json:"calls,omitempty"`
	Text      string              `json:"text,omitempty"`       // what an agent is told
	Expires   int                 `json:"expires_ms,omitempty"` // of its question
	OnTimeout holdshort.OnTimeout `json:"on_timeout,omitempty"`
	Sleep     int                 `json:"sleep_ms,omitempty"`
	Strict    bool                `json:"strict,omitempty"` // a call that fails fails the run, so that a person can retry it
}

type planned struct {
	Tool string   `json:"tool"`
	Args callArgs `json:"args"`
}

// told is the result of every flow.
type told struct {
	Marks map[string]string `json:"marks"` // by step: the token of the execution that the journal kept
	Calls map[string]string `json:"calls"` // by key: a receipt, or the code of the error
	Post  string            `json:"post,omitempty"`
	Heard []string          `json:"heard,omitempty"` // messages of its session
}

// pass is one pass over a flow. It notes when it began, so that the world can tell a step that is done again on resume from one that was
// under way already.
type pass struct {
	*flow.Context
	w     outside
	node  string
	plan  plan
	began time.Time
}

// The flows.
const (
	singleFlow   = "single"
	batchFlow    = "batch"
	twiceFlow    = "twice"
	branchesFlow = "branches"
	patientFlow  = "patient"
	nestedFlow   = "nested"
	diaryFlow    = "diary" // started by a message
)

func realFlows(w outside, node string) []flow.Flow {
	list := []flow.Flow{}
	add := func(name string, fn func(p pass, out *told) error) flow.Flow {
		f := flow.New(name, 1, func(c *flow.Context, in plan) (told, error) {
			out := told{Marks: map[string]string{}, Calls: map[string]string{}}
			err := fn(pass{c, w, node, in, time.Now()}, &out) //flowcheck:allow when this pass over the flow began is what is examined
			return out, err
		})
		list = append(list, f)
		return f
	}
	single := add(singleFlow, func(p pass, out *told) error {
		p.mark("before", out)
		if err := p.call("act", p.plan.Calls[0], out); err != nil {
			return err
		}
		p.mark("after", out)
		return nil
	})
	add(batchFlow, batch)
	add(twiceFlow, twice)
	add(branchesFlow, branches)
	add(patientFlow, patient)
	add(nestedFlow, func(p pass, out *told) error {
		p.mark("outer", out)
		inner, err := flow.Sub[told](p.Context, "inner", single, p.plan)
		if err != nil {
			return err
		}
		for k, v := range inner.Calls {
			out.Calls["inner/"+k] = v
		}
		p.mark("end", out)
		return nil
	})
	return append(list, flow.New(diaryFlow, 1, diary))
}

// note is what a run gets of a message.
type note struct {
	Text string `json:"text"`
}

// diary takes messages of its session until none comes for a while.
func diary(c *flow.Context, first note) (told, error) {
	out := told{Heard: []string{first.Text}}
	for len(out.Heard) < 4 {
		next, err := flow.Wait[note](c, "message", 500*time.Millisecond)
		if holdshort.CodeOf(err) == holdshort.TimedOut {
			break
		}
		if err != nil {
			return out, err
		}
		out.Heard = append(out.Heard, next.Text)
	}
	flow.Say(c, "thanks", fmt.Sprintf("%d notes", len(out.Heard)))
	return out, nil
}

// mark is a step that the world can count.
func (p pass) mark(name string, out *told) {
	token, err := flow.Step(p.Context, name, func(ctx context.Context) (string, error) {
		m := Mark{Token: rand.Text(), Node: p.node, Began: p.began}
		return m.Token, p.w.mark(ctx, string(p.plan.Run)+"/"+name, m)
	})
	if err != nil {
		token = err.Error()
	}
	out.Marks[name] = token
}

func (p pass) call(name string, c planned, out *told) error {
	value, err := flow.Call[json.RawMessage](p.Context, name, c.Tool, c.Args)
	out.Calls[name] = string(value)
	if err != nil {
		out.Calls[name] = string(holdshort.CodeOf(err))
		if p.plan.Strict {
			return err
		}
	}
	return nil
}

func batch(p pass, out *told) error {
	p.mark("before", out)
	var calls []flow.Request
	for _, c := range p.plan.Calls {
		calls = append(calls, flow.Request{Tool: c.Tool, Args: c.Args})
	}
	results, err := flow.Calls(p.Context, "all", calls)
	if err != nil {
		return err
	}
	for _, r := range results {
		out.Calls[r.ID] = string(r.Value)
		if r.Err != nil {
			out.Calls[r.ID] = string(holdshort.CodeOf(r.Err))
		}
	}
	p.mark("after", out)
	return nil
}

// twice pauses two times: nothing between them may happen again after the second.
func twice(p pass, out *told) error {
	p.mark("before", out)
	q := flow.Question{Text: "Go on with " + string(p.plan.Run) + "?", Expires: flow.Never, OnTimeout: p.plan.OnTimeout}
	if p.plan.Expires > 0 {
		q.Expires = time.Duration(p.plan.Expires) * time.Millisecond
	}
	a, err := flow.Approve(p.Context, "question", q)
	if err != nil || !a.Approved() {
		out.Calls["question"] = string(a.Outcome) + string(holdshort.CodeOf(err))
		return nil
	}
	p.mark("middle", out)
	if err := p.call("act", p.plan.Calls[0], out); err != nil {
		return err
	}
	p.mark("after", out)
	return nil
}

// branches wait at the same time, one of them for the clock.
func branches(p pass, out *told) error {
	list := []flow.Branch[string]{{Key: "clock", Run: func(c *flow.Context) (string, error) {
		flow.Sleep(c, "nap", time.Duration(p.plan.Sleep)*time.Millisecond)
		return "", nil
	}}}
	for _, planned := range p.plan.Calls {
		list = append(list, flow.Branch[string]{Key: planned.Args.Key, Run: func(c *flow.Context) (string, error) {
			p := p
			p.Context = c
			own := told{Marks: map[string]string{}, Calls: map[string]string{}}
			p.mark(planned.Args.Key, &own)
			err := p.call("act", planned, &own)
			return own.Calls["act"], err
		}})
	}
	results, err := flow.All(p.Context, "branches", list...)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(results)
	out.Calls["branches"] = string(raw)
	p.mark("after", out)
	return err
}

// patient waits for the clock and for a post.
func patient(p pass, out *told) error {
	p.mark("before", out)
	flow.Sleep(p.Context, "nap", time.Duration(p.plan.Sleep)*time.Millisecond)
	p.mark("middle", out)
	body, err := flow.Wait[string](p.Context, "news", 0)
	if err != nil {
		return err
	}
	out.Post = body
	p.mark("after", out)
	return nil
}
