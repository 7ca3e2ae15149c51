package flow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// Approve asks reviewers. It gives a decision and grants nothing: what changes the world is a Call.
func ExampleApprove() {
	publish := flow.New("publish", 1, func(c *flow.Context, title string) (string, error) {
		answer, err := flow.Approve(c, "editors", flow.Question{
			Text:    "Publish " + title + "?",
			To:      holdshort.Audience{Roles: []string{"editor"}, Quorum: 2},
			Expires: 24 * time.Hour,
		})
		if err != nil {
			return "", err
		}
		if !answer.Approved() {
			return fmt.Sprintf("%s said no: %s", answer.Actor.ID, answer.Message), nil
		}
		return title + " is out", nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{publish}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Question: "Spring"}).By("ana", "editor").By("cleo", "editor").After(time.Hour).Approve()
	k.WhenAsked(holdshorttest.Match{Question: "Autumn"}).By("ana", "editor").Approve()
	k.WhenAsked(holdshorttest.Match{Question: "Autumn"}).By("cleo", "editor").After(time.Hour).Reject("too long")
	for _, title := range []string{"Spring", "Autumn"} {
		fmt.Println(holdshorttest.Result[string](k, k.As("ben").Start("publish", title)))
	}
	// Output:
	// Spring is out
	// cleo said no: too long
}

// Escalate hands a matter to the operators, who have a day unless the question says otherwise.
func ExampleEscalate() {
	parcel := flow.New("parcel", 1, func(c *flow.Context, id string) (string, error) {
		answer, err := flow.Escalate(c, "lost", flow.Question{Text: "Parcel " + id + " is lost. What shall we do?", Priority: holdshort.PriorityHigh})
		if errors.Is(err, holdshort.Expired) {
			return "nobody cared", nil
		}
		return fmt.Sprintf("%s: %s", answer.Actor.ID, answer.Value), err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{parcel}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Kind: holdshort.Escalation}).By("olga", "operator").After(8 * time.Hour).Answer("send another one")
	fmt.Println(holdshorttest.Result[string](k, k.Start("parcel", "p-1")))
	// Output: olga: "send another one"
}
