package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// A question waits for the user, for as long as it takes, and costs nothing meanwhile.
func ExampleAsk() {
	greet := flow.New("greet", 1, func(c *flow.Context, _ struct{}) (string, error) {
		name, err := flow.Ask(c, "name", flow.Question{Text: "What is your name?"})
		if errors.Is(err, holdshort.Expired) {
			return "Hello, whoever you are", nil
		}
		return "Hello, " + name, err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{greet}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{User: "ben"}).By("ben").After(time.Minute).Answer("Ben")
	k.WhenAsked(holdshorttest.Match{User: "eve"}).Ignore()
	for _, user := range []string{"ben", "eve"} {
		fmt.Println(holdshorttest.Result[string](k, k.As(user).Start("greet", nil)))
	}
	// Output:
	// Hello, Ben
	// Hello, whoever you are
}

// Confirm is a question that the user answers with yes or no.
func ExampleConfirm() {
	unsubscribe := flow.New("unsubscribe", 1, func(c *flow.Context, list string) (string, error) {
		sure, err := flow.Confirm(c, "sure", flow.Question{Text: "Leave the list " + list + "?"})
		if err != nil || !sure {
			return "nothing changed", err
		}
		return "left " + list, nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{unsubscribe}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Question: "news"}).By("ben").Approve()
	k.WhenAsked(holdshorttest.Match{Question: "offers"}).By("ben").Reject("")
	for _, list := range []string{"news", "offers"} {
		fmt.Println(holdshorttest.Result[string](k, k.As("ben").Start("unsubscribe", list)))
	}
	// Output:
	// left news
	// nothing changed
}

// Choose offers options and gives the id of the one that was chosen.
func ExampleChoose() {
	ship := flow.New("ship", 1, func(c *flow.Context, _ struct{}) (string, error) {
		return flow.Choose(c, "how", flow.Question{Text: "How shall we send it?"},
			holdshort.Option{ID: "post", Label: "By post, three days"}, holdshort.Option{ID: "courier", Label: "By courier, tomorrow"})
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{ship}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Step: "how"}).By("ben").Choose("courier")
	fmt.Println(holdshorttest.Result[string](k, k.As("ben").Start("ship", nil)))
	// Output: courier
}

// ChooseMany gives all that were chosen, in the order of the options.
func ExampleChooseMany() {
	pizza := flow.New("pizza", 1, func(c *flow.Context, _ struct{}) ([]string, error) {
		return flow.ChooseMany(c, "toppings", flow.Question{Text: "What do you want on it?"},
			holdshort.Option{ID: "cheese", Label: "Cheese"}, holdshort.Option{ID: "olives", Label: "Olives"}, holdshort.Option{ID: "capers", Label: "Capers"})
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{pizza}})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Step: "toppings"}).By("ben").Choose("capers", "cheese")
	fmt.Println(holdshorttest.Result[[]string](k, k.As("ben").Start("pizza", nil)))
	// Output: [cheese capers]
}

// A form is a question whose answer has the fields of a JSON Schema. An answer that does not fit is refused, and the question stays open.
func ExampleForm() {
	type address struct {
		Street string `json:"street"`
		City   string `json:"city"`
	}
	schema := json.RawMessage(`{"type":"object","required":["street","city"],"properties":{"street":{"type":"string"},"city":{"type":"string"}}}`)
	deliver := flow.New("deliver", 1, func(c *flow.Context, _ struct{}) (string, error) {
		to, err := flow.Form[address](c, "address", flow.Question{Text: "Where to?"}, schema)
		return to.Street + ", " + to.City, err
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{deliver}})
	defer k.Close()
	run := k.As("ben").Start("deliver", nil)
	half := holdshorttest.Decision(k.Request(run), "ben")
	half.Action, half.Value = holdshort.Answer, json.RawMessage(`{"city":"Bern"}`)
	_, err := k.Decide(half)
	fmt.Println(holdshort.CodeOf(err))
	k.As("ben").Answer(k.Request(run), address{"Marktgasse 1", "Bern"})
	fmt.Println(holdshorttest.Result[string](k, run))
	// Output:
	// does_not_fit
	// Marktgasse 1, Bern
}
