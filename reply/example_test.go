package reply_test

import (
	"fmt"
	"time"

	"github.com/holdshort/holdshort/reply"
)

func ExampleRead() {
	q := &reply.Question{Expected: reply.YesNo, Actions: true, Languages: []string{"pt-BR"}}
	for _, text := range []string{"Sim!", "👍🏽", "nao", "ok?", "I do not approve", "s", "cancela"} {
		fmt.Println(text, "→", reply.Read(text, q))
	}
	// Output:
	// Sim! → yes
	// 👍🏽 → yes
	// nao → no
	// ok? → none: not_yes_no
	// I do not approve → none: not_yes_no
	// s → none: letter_too_weak
	// cancela → cancel
}

func ExampleRead_choice() {
	q := &reply.Question{Expected: reply.MultiChoice, Options: []reply.Option{
		{ID: "r", Label: "Red"}, {ID: "g", Label: "Green"}, {ID: "b", Label: "Blue"},
	}}
	for _, text := range []string{"1 and 3", "2-3", "Red, blue", "all", "4", "3pm"} {
		fmt.Println(text, "→", reply.Read(text, q))
	}
	// Output:
	// 1 and 3 → selected [0 2]
	// 2-3 → selected [1 2]
	// Red, blue → selected [0 2]
	// all → selected [0 1 2]
	// 4 → none: out_of_range
	// 3pm → none: unknown_option
}

func ExampleRead_form() {
	q := &reply.Question{Expected: reply.Form, Fields: []reply.Field{
		{Name: "amount", Type: reply.Number, Required: true},
		{Name: "reason", Type: reply.Enum, Enum: []string{"damaged", "late"}, Required: true},
	}}
	r := reply.Read("amount: 12.50\nreason = Late", q)
	for _, v := range r.Values {
		fmt.Printf("%s %s\n", q.Fields[v.Field].Name, v.JSON)
	}
	r = reply.Read(`{"amount": "twelve", "reason": "late"}`, q)
	fmt.Println(reply.AskAgainText(r, q, "How much, and why?"))
	// Output:
	// amount 12.5
	// reason "late"
	// I couldn't use the value of amount. Please give it again.
	//
	// How much, and why?
}

func ExampleBind() {
	code, rest, _ := reply.SplitCode("k7: yes")
	asked := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	b := reply.Bind(reply.BindInput{Code: code, SentAt: asked.Add(time.Minute), Prompts: []reply.Prompt{
		{ID: "req_1", Code: "K7", AskedAt: asked, DeliveredAt: asked.Add(time.Second)},
		{ID: "req_2", Code: "K8"},
	}})
	fmt.Println(b.To, b.ID, rest)
	// Output: request req_1 yes
}
