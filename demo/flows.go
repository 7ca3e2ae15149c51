package demo

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
)

// reviewers are asked where a question is not about a call.
var reviewers = holdshort.Audience{Roles: []string{policy.Reviewer}}

// Case is what a customer wrote about.
type Case struct {
	Order   string `json:"order"`
	Problem string `json:"problem,omitempty"`
}

// Closed is how a case ended.
type Closed struct {
	Order   string `json:"order"`
	Outcome string `json:"outcome"`
	Receipt string `json:"receipt,omitempty"`
}

// Flows of the desk.
func Flows() []flow.Flow { return []flow.Flow{complaint, cancellation, dispute, namesakes, label} }

// complaint refunds an order whose customer is right. Whether somebody has to say yes is the rules' business, not the flow's.
var complaint = flow.New("complaint", 1, func(c *flow.Context, in Case) (Closed, error) {
	order, err := flow.Call[Order](c, "look up", lookUp, orderArgs{Order: in.Order})
	if err != nil {
		return Closed{}, err
	}
	receipt, err := flow.Call[Receipt](c, "refund", refund, refundArgs{Order: order.ID, Amount: order.Total, Reason: in.Problem})
	if errors.Is(err, holdshort.Denied) {
		return Closed{Order: order.ID, Outcome: "not refunded"}, nil
	}
	return Closed{Order: order.ID, Outcome: "refunded", Receipt: receipt.Receipt}, err
})

// cancellation cancels and tells the customer: two calls, one decision.
var cancellation = flow.New("cancellation", 1, func(c *flow.Context, in Case) (Closed, error) {
	order, err := flow.Call[Order](c, "look up", lookUp, orderArgs{Order: in.Order})
	if err != nil {
		return Closed{}, err
	}
	letter := mailArgs{To: order.Mail, Subject: "Your order " + order.ID, Body: fmt.Sprintf("Dear %s,\n\nwe have canceled your order of %s, as you wished.\n\nThe order desk", order.Customer, order.Item)}
	results, err := flow.Calls(c, "cancel and tell", []flow.Request{{Tool: cancel, Args: orderArgs{Order: order.ID, Reason: in.Problem}}, {Tool: sendMail, Args: letter}})
	if err != nil {
		return Closed{}, err
	}
	done := Closed{Order: order.ID, Outcome: "canceled"}
	for _, r := range results {
		if r.Err != nil {
			done.Outcome = "canceled in part: " + r.Err.Error()
		}
	}
	return done, nil
})

// dispute is for people: the flow only carries out what they say.
var dispute = flow.New("dispute", 1, func(c *flow.Context, in Case) (Closed, error) {
	order, err := flow.Call[Order](c, "look up", lookUp, orderArgs{Order: in.Order})
	if err != nil {
		return Closed{}, err
	}
	answer, err := flow.Escalate(c, "who is right", flow.Question{Text: fmt.Sprintf("%s says that the %s never arrived. The carrier says that it did. What do we tell %s?", order.Customer, order.Item, order.Customer),
		Expires: wait, Priority: holdshort.PriorityCritical, Context: order})
	if err != nil {
		return Closed{}, err
	}
	return Closed{Order: order.ID, Outcome: string(answer.Outcome)}, nil
})

// namesakes asks which of two customers is meant.
var namesakes = flow.New("namesakes", 1, func(c *flow.Context, in Case) (Closed, error) {
	chosen, err := flow.Choose(c, "which one", flow.Question{Text: "Two customers are called Ben Ortega. Whose order is it about?", To: reviewers, Expires: wait},
		holdshort.Option{ID: "78", Label: "ben.ortega@example.org, desk lamp, 48 EUR"}, holdshort.Option{ID: "81", Label: "b.ortega@example.net, headphones, 129 EUR"})
	if err != nil {
		return Closed{}, err
	}
	return flow.Sub[Closed](c, "complaint", complaint, Case{Order: chosen, Problem: in.Problem})
})

// label needs facts that only somebody at the counter has.
var label = flow.New("return-label", 1, func(c *flow.Context, in Case) (Closed, error) {
	parcel, err := flow.Form[struct {
		Weight  float64 `json:"weight_kg"`
		Carrier string  `json:"carrier"`
	}](c, "parcel", flow.Question{Text: "Cora wants to send her folding bike back. How heavy is the parcel, and who fetches it?", To: reviewers, Expires: wait, Priority: holdshort.PriorityLow},
		json.RawMessage(`{"type":"object","properties":{"weight_kg":{"type":"number","exclusiveMinimum":0,"maximum":40},"carrier":{"type":"string","enum":["post","courier"]}},"required":["weight_kg","carrier"],"additionalProperties":false}`))
	if err != nil {
		return Closed{}, err
	}
	return Closed{Order: in.Order, Outcome: fmt.Sprintf("label for %.1f kg by %s", parcel.Weight, parcel.Carrier)}, nil
})
