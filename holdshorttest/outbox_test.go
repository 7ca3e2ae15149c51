package holdshorttest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// talk greets and asks in a session's chat.
var talk = flow.New("talk", 1, func(c *flow.Context, _ int) (string, error) {
	flow.Say(c, "hello", "Hello.")
	name, err := flow.Ask(c, "name", flow.Question{Text: "What is your name?"})
	if err != nil {
		return "", err
	}
	flow.Say(c, "bye", "Bye, "+name+".")
	return name, nil
})

func TestSaid(t *testing.T) {
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{talk}})
	k.WhenAsked(holdshorttest.Match{Kind: holdshort.Clarification}).After(time.Minute).Answer("Ben")
	run := k.As("ben").In(k.Session("ben")).Traced("trace-1").Start("talk", 0)
	k.Result(run, new(string))
	if got := k.Said(); !slices.Equal(got, []string{"Hello.", "What is your name?", "Bye, Ben."}) {
		t.Errorf("said %q", got)
	}
	if sent := k.Sent(); sent[0].Address != "ben" || sent[0].Channel != holdshorttest.Channel || k.Run(run).TraceID != "trace-1" {
		t.Errorf("sent %+v in trace %s", sent[0], k.Run(run).TraceID)
	}
}

// TestPromptsTakeTurns: the second question of a session is seen only when the first is answered.
func TestPromptsTakeTurns(t *testing.T) {
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{talk}})
	ben := k.As("ben").In(k.Session("ben"))
	first, second := ben.Start("talk", 0), ben.Start("talk", 0)
	k.WhenAsked(holdshorttest.Match{Run: second}).After(time.Minute).Answer("second")
	if got := k.Wait(second).Status; got != holdshort.RunWaiting {
		t.Fatalf("the second question was answered before it was asked: the run is %s", got)
	}
	ben.Answer(k.Request(first), "first")
	if got := holdshorttest.Result[string](k, second); got != "second" {
		t.Errorf("result %q", got)
	}
}

func TestSendsThatFail(t *testing.T) {
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{talk}})
	k.FailSends(errors.New("away"), errors.New("still away"))
	k.As("ben").In(k.Session("ben")).Start("talk", 0)
	if got := k.Said(); len(got) != 0 {
		t.Fatalf("said %q through a channel that is away", got)
	}
	k.Advance(time.Minute)
	if got := k.Said(); !slices.Equal(got, []string{"Hello.", "What is your name?"}) {
		t.Errorf("said %q", got)
	}
}
