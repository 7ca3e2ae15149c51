package flow_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// A step is done once: on resume its recorded outcome is used.
func ExampleStep() {
	looked := 0
	orders := flow.New("order", 1, func(c *flow.Context, id string) (string, error) {
		customer, err := flow.Step(c, "customer", func(ctx context.Context) (string, error) {
			looked++ // here a database would be asked
			return "customer of " + id, nil
		})
		if err != nil {
			return "", err
		}
		flow.Sleep(c, "a day", 24*time.Hour)
		return customer, nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{orders}})
	defer k.Close()
	run := k.Start("order", "77")
	k.Advance(24 * time.Hour)
	fmt.Println(holdshorttest.Result[string](k, run), "- looked up", looked, "time")
	// Output: customer of 77 - looked up 1 time
}

// A model's answer is stored before anything follows: a restart does not pay for it twice.
func ExampleModel() {
	paid := 0
	answers := flow.New("answer", 1, func(c *flow.Context, question string) (string, error) {
		draft, err := flow.Model(c, "draft", func(ctx context.Context) (string, error) {
			paid++ // here a language model would be asked
			return "You can return it within 30 days.", nil
		}, flow.Retry{Times: 2, Wait: time.Second})
		if err != nil {
			return "", err
		}
		if _, err := flow.Approve(c, "release", flow.Question{Text: "Send this? " + draft}); err != nil {
			return "", err
		}
		return draft, nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{answers}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Step: "release"}).By("ana", "reviewer").Approve()
	run := k.Start("answer", "Can I return it?")
	k.Restart() // as after a crash
	fmt.Println(holdshorttest.Result[string](k, run))
	fmt.Println("paid", paid, "time")
	// Output:
	// You can return it within 30 days.
	// paid 1 time
}

// The time that a flow saw is the same however often it is resumed.
func ExampleNow() {
	greet := flow.New("greet", 1, func(c *flow.Context, _ struct{}) (string, error) {
		at := flow.Now(c, "start")
		flow.Sleep(c, "until the evening", 10*time.Hour)
		return fmt.Sprintf("started at %s, went on at %s", at.Format("15:04"), flow.Now(c, "end").Format("15:04")), nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{greet}})
	defer k.Close()
	run := k.Start("greet", nil)
	k.Advance(10 * time.Hour)
	fmt.Println(holdshorttest.Result[string](k, run))
	// Output: started at 09:00, went on at 19:00
}

// A random number is drawn once and recorded.
func ExampleRandom() {
	var drawn []int64
	lottery := flow.New("lottery", 1, func(c *flow.Context, tickets int64) (int64, error) {
		winner := flow.Random(c, "winner", tickets)
		drawn = append(drawn, winner)
		flow.Sleep(c, "suspense", time.Minute)
		return winner, nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{lottery}})
	defer k.Close()
	run := k.Start("lottery", 1000)
	k.Advance(time.Minute)
	winner := holdshorttest.Result[int64](k, run)
	fmt.Println(len(drawn), drawn[0] == winner, drawn[1] == winner, winner < 1000)
	// Output: 2 true true true
}

// End ends the run from wherever the flow is, a branch or a function deep below.
func ExampleEnd() {
	search := flow.New("search", 1, func(c *flow.Context, shelves []string) (string, error) {
		_, err := flow.Each(c, "shelf", shelves, func(s string) string { return s }, func(c *flow.Context, shelf string) (string, error) {
			if shelf == "b" {
				flow.End(c, "found on shelf "+shelf)
			}
			_, err := flow.Approve(c, "look further", flow.Question{Text: "Open shelf " + shelf + "?"})
			return "", err
		})
		return "not found", err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{search}})
	defer k.Close()
	fmt.Println(holdshorttest.Result[string](k, k.Start("search", []string{"a", "b", "c"})))
	// Output: found on shelf b
}
