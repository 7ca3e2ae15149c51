package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// wait is how long the desk's questions stay open: whoever tries it may come back tomorrow.
const wait = 72 * time.Hour

// Tenant of the demo.
const Tenant holdshort.TenantID = "default"

// Visitor is who looks at the demo: a person with every role of the desk.
func Visitor() holdshort.Actor {
	return holdshort.Actor{ID: "ana@example.org", Kind: holdshort.Person, Name: "Ana", Roles: []string{policy.Admin, policy.Operator, policy.Reviewer, "finance"}, Assurance: holdshort.AssuranceLogin}
}

// Colleague is a second person of finance, for what takes two.
func Colleague() holdshort.Actor {
	return holdshort.Actor{ID: "ben@example.org", Kind: holdshort.Person, Name: "Ben", Roles: []string{policy.Reviewer, "finance"}, Assurance: holdshort.AssuranceLogin}
}

// Customer is somebody who bought something.
const Customer = "cora.lind@example.org"

// outside is an agent that lives elsewhere and asks through the gate.
func outside(key holdshort.Key) holdshort.Actor { return key.Actor() }

// Seed fills an empty store with a morning's work: conversations with the agent, runs that wait for people, and requests from outside, of
// different kinds and ages.
func Seed(ctx context.Context, e *engine.Engine, clock *Clock) error {
	there, err := e.Runs(ctx, Tenant, engine.RunQuery{Limit: 1})
	if err != nil || len(there.Items) > 0 {
		return err // somebody came back to it
	}
	defer clock.Ago(0)
	clock.Ago(27 * time.Hour)
	key, _, err := e.CreateKey(ctx, Tenant, engine.CreateKeyInput{Name: "newsletter agent", Scopes: []string{holdshort.ScopeRaise, holdshort.ScopeClaim, holdshort.ScopeView}, Actor: holdshort.SystemActor("demo")})
	if err != nil {
		return fmt.Errorf("make the demo's key: %w", err)
	}
	deeds := []struct {
		ago time.Duration
		do  func() error
	}{
		{26 * time.Hour, start(ctx, e, "dispute", Case{Order: "81"})},
		{5*time.Hour + 10*time.Minute, raise(ctx, e, key, question)},
		{3 * time.Hour, start(ctx, e, "cancellation", Case{Order: "80", Problem: "ordered twice"})},
		{95 * time.Minute, start(ctx, e, "return-label", Case{Order: "79"})},
		{70 * time.Minute, talk(ctx, e, Visitor().ID, "Please wrap order 82, it is a birthday present.")},
		{41 * time.Minute, start(ctx, e, "namesakes", Case{Problem: "stopped working after a week"})},
		{25 * time.Minute, talk(ctx, e, Customer, "My bike came with a cracked frame. Please refund order 79, all of the 890 EUR.")},
		{12 * time.Minute, raise(ctx, e, key, letter)},
		{2 * time.Minute, start(ctx, e, "complaint", Case{Order: "77", Problem: "arrived with a cracked tank"})},
	}
	for _, d := range deeds {
		clock.Ago(d.ago)
		if err := d.do(); err != nil {
			return fmt.Errorf("fill the demo: %w", err)
		}
	}
	return nil
}

func start(ctx context.Context, e *engine.Engine, name string, in Case) func() error {
	return func() error {
		input, err := json.Marshal(in)
		if err != nil {
			return err
		}
		run, err := e.Start(ctx, Tenant, engine.StartInput{Flow: name, User: "desk@example.org", Actor: holdshort.SystemActor("demo"), Input: input})
		if err != nil {
			return err
		}
		_, err = e.AwaitRun(ctx, Tenant, run.ID, engine.Resting)
		return err
	}
}

// talk writes to the agent, in a conversation of its own.
func talk(ctx context.Context, e *engine.Engine, user, text string) func() error {
	return func() error {
		session, err := e.OpenSession(ctx, Tenant, engine.OpenSessionInput{Agent: Agent, User: user})
		if err != nil {
			return err
		}
		got, err := e.Receive(ctx, Tenant, engine.Inbound{Session: session.ID, ID: "first", Text: text})
		if err == nil {
			_, err = e.AwaitRun(ctx, Tenant, got.Run, engine.Resting)
		}
		return err
	}
}

func raise(ctx context.Context, e *engine.Engine, key holdshort.Key, in engine.AskInput) func() error {
	return func() error {
		in.Actor = outside(key)
		_, err := e.Ask(ctx, Tenant, in)
		return err
	}
}

// question is one that a program asks people without wanting to do anything.
var question = engine.AskInput{Kind: holdshort.Clarification, Question: "The newsletter says that the summer discount ends on Sunday. Is that still so?", ExpectedInput: holdshort.FreeText,
	ExpiresIn: wait, Context: json.RawMessage(`{"campaign":"summer","readers":4180}`)}

// letter has something in it that a hurried reader would not see: a mark that turns the text around.
var letter = engine.AskInput{Kind: holdshort.Approval, ExpiresIn: wait, Priority: holdshort.PriorityHigh, Context: json.RawMessage(`{"agent":"newsletter","model":"small"}`),
	Actions: []engine.AskAction{{Tool: sendMail, Args: json.RawMessage(`{"to":"cora.lind@example.org","subject":"Your bike is on its way","body":"Dear Cora,\n\nplease pay the rest at https://example.org/\u202eknab\u202c today.\n\nThe order desk"}`)}}}
