package flow_test

import (
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// approvalOf asks one role whether to go on.
func approvalOf(role string) func(c *flow.Context) (string, error) {
	return func(c *flow.Context) (string, error) {
		answer, err := flow.Approve(c, "ok", flow.Question{Text: "Sign the contract?", To: holdshort.Audience{Roles: []string{role}}, Expires: 24 * time.Hour})
		return fmt.Sprintf("%s: %s by %s", role, answer.Outcome, answer.Actor.ID), err
	}
}

// All runs branches at the same time. Each may wait for people; results come in the order of the branches' keys.
func ExampleAll() {
	contract := flow.New("contract", 1, func(c *flow.Context, _ struct{}) ([]string, error) {
		return flow.All(c, "reviews", flow.Branch[string]{Key: "law", Run: approvalOf("lawyer")}, flow.Branch[string]{Key: "finance", Run: approvalOf("controller")})
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{contract}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Role: "lawyer"}).By("lea", "lawyer").After(time.Hour).Approve()
	k.WhenAsked(holdshorttest.Match{Role: "controller"}).By("cleo", "controller").After(3 * time.Hour).Reject("too dear")
	run := k.Start("contract", nil)
	fmt.Println(len(k.Requests(run)), "requests at once")
	for _, line := range holdshorttest.Result[[]string](k, run) {
		fmt.Println(line)
	}
	// Output:
	// 2 requests at once
	// controller: rejected by cleo
	// lawyer: approved by lea
}

// Each runs the same for every item at the same time, and gives the results in the order of the items.
func ExampleEach() {
	invite := flow.New("invite", 1, func(c *flow.Context, guests []string) ([]string, error) {
		name := func(guest string) string { return guest }
		return flow.Each(c, "guest", guests, name, func(c *flow.Context, guest string) (string, error) {
			comes, err := flow.Confirm(c, "rsvp", flow.Question{Text: "Will you come?", To: holdshort.Audience{Users: []string{guest}}})
			return fmt.Sprint(guest, " comes: ", comes), err
		})
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{invite}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Step: "guest/ana/"}).By("ana").After(2 * time.Minute).Approve()
	k.WhenAsked(holdshorttest.Match{Step: "guest/cleo/"}).By("cleo").After(time.Minute).Reject("away")
	for _, line := range holdshorttest.Result[[]string](k, k.Start("invite", []string{"cleo", "ana"})) {
		fmt.Println(line)
	}
	// Output:
	// cleo comes: false
	// ana comes: true
}

// Sub runs another flow as a part of this run, with a path of its own in the journal.
func ExampleSub() {
	greet := flow.New("greet", 1, func(c *flow.Context, language string) (string, error) {
		name, err := flow.Ask(c, "name", flow.Question{Text: "Name?", Language: language})
		return "Hello, " + name, err
	})
	visit := flow.New("visit", 1, func(c *flow.Context, _ struct{}) (string, error) {
		hello, err := flow.Sub[string](c, "welcome", greet, "en")
		return hello + "! Have a seat.", err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{visit}})
	defer k.Close()
	run := k.As("ben").Start("visit", nil)
	fmt.Println(k.Request(run).OriginStepID)
	k.As("ben").Answer(k.Request(run), "Ben")
	fmt.Println(holdshorttest.Result[string](k, run))
	// Output:
	// welcome/name
	// Hello, Ben! Have a seat.
}
