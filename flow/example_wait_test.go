package flow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// Wait takes what somebody outside posts to the run, also what was posted before the flow came to it.
func ExampleWait() {
	payment := flow.New("payment", 1, func(c *flow.Context, _ struct{}) (string, error) {
		paid, err := flow.Wait[int](c, "paid", 14*24*time.Hour)
		if errors.Is(err, holdshort.TimedOut) {
			return "never paid", nil
		}
		return fmt.Sprint("paid ", paid), err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{payment}})
	defer k.Close()
	prompt, late := k.Start("payment", nil), k.Start("payment", nil)
	k.Advance(24 * time.Hour)
	k.Post(prompt, "paid", 120)
	k.Advance(14 * 24 * time.Hour)
	fmt.Println(holdshorttest.Result[string](k, prompt))
	fmt.Println(holdshorttest.Result[string](k, late))
	// Output:
	// paid 120
	// never paid
}

// A sleep costs nothing and outlives the process.
func ExampleSleep() {
	remind := flow.New("remind", 1, func(c *flow.Context, what string) (string, error) {
		flow.Sleep(c, "a week", 7*24*time.Hour)
		return "time to " + what, nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{remind}})
	defer k.Close()
	run := k.Start("remind", "water the plants")
	k.Advance(6 * 24 * time.Hour)
	fmt.Println(k.Run(run).Status)
	k.Restart()
	k.Advance(24 * time.Hour)
	fmt.Println(holdshorttest.Result[string](k, run))
	// Output:
	// waiting
	// time to water the plants
}

// Say puts a message to the session's user into the outbox, together with the record that it was said: it is sent once.
func ExampleSay() {
	order := flow.New("order", 1, func(c *flow.Context, id string) (string, error) {
		flow.Say(c, "thanks", "Thank you for order "+id+".")
		flow.Sleep(c, "shipping", 48*time.Hour)
		flow.Say(c, "shipped", "It is on its way.")
		return "", nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{order}})
	defer k.Close()
	k.As("ben").In(k.Session("ben")).Start("order", "77")
	k.Advance(48 * time.Hour)
	for _, text := range k.Said() {
		fmt.Println(text)
	}
	// Output:
	// Thank you for order 77.
	// It is on its way.
}

// Emit leaves an event of the author's own among the audit facts of the run.
func ExampleEmit() {
	score := flow.New("score", 1, func(c *flow.Context, points int) (int, error) {
		err := flow.Emit(c, "scored", map[string]int{"points": points})
		return points, err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{score}})
	defer k.Close()
	for _, event := range k.Events(k.Start("score", 3), "flow.*") {
		fmt.Println(event.Type, event.Code)
	}
	// Output: flow.emitted scored
}
