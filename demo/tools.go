package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort/tool"
)

// Desk is the order desk over its shop.
type Desk struct {
	Shop *Shop
	// Slow is how long a refund takes. Default: no time.
	Slow time.Duration
}

const (
	lookUp   = "orders.lookup"
	listAll  = "orders.list"
	refund   = "orders.refund"
	cancel   = "orders.cancel"
	wrap     = "orders.wrap"
	sendMail = "mail.send"
	erase    = "customers.erase"
)

type refundArgs struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
	Reason string  `json:"reason,omitempty"`
}

type orderArgs struct {
	Order  string `json:"order"`
	Reason string `json:"reason,omitempty"`
}

type wrapArgs struct {
	Order string `json:"order"`
	Paper string `json:"paper"`
}

type mailArgs struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// Receipt is what a refund gives.
type Receipt struct {
	Receipt string  `json:"receipt"`
	Amount  float64 `json:"amount"`
}

// Tools are what the desk can do. Those that change something name the operation to the shop, which does it once.
func (d *Desk) Tools() []tool.Tool {
	return []tool.Tool{
		{Name: lookUp, Description: "Look an order up by its number.", Effect: tool.Read, Idempotent: true, Call: d.lookUp,
			Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}`)},
		{Name: refund, Description: "Pay money back for an order.", Idempotent: true, Timeout: 2*d.Slow + 2*time.Second, Call: d.refund,
			Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number","exclusiveMinimum":0,"maximum":10000},"reason":{"type":"string"}},"required":["order","amount"],"additionalProperties":false}`)},
		{Name: cancel, Description: "Cancel an order that has not left the house.", Reversible: tool.Yes, Idempotent: true, Call: d.cancel,
			Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"reason":{"type":"string"}},"required":["order"],"additionalProperties":false}`)},
		{Name: listAll, Description: "List all orders, one line each.", Effect: tool.Read, Idempotent: true, Call: d.list,
			Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
		{Name: wrap, Description: "Wrap an order that has not left the house as a present.", Reversible: tool.Yes, Idempotent: true, Call: d.wrap,
			Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"paper":{"type":"string"}},"required":["order","paper"],"additionalProperties":false}`)},
		{Name: erase, Description: "Erase a customer and all that is known of them.", Call: d.erase,
			Schema: json.RawMessage(`{"type":"object","properties":{"mail":{"type":"string"}},"required":["mail"],"additionalProperties":false}`)},
		{Name: sendMail, Description: "Write to a customer.", Idempotent: true, Call: d.mail,
			Schema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}},"required":["to","subject","body"],"additionalProperties":false}`)},
	}
}

func (d *Desk) lookUp(_ context.Context, call tool.Call) (tool.Result, error) {
	var in orderArgs
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, tool.Definite(err)
	}
	order, ok := d.Shop.Order(in.Order)
	if !ok {
		return tool.Result{}, tool.Definite(fmt.Errorf("there is no order %s", in.Order))
	}
	return value(order)
}

func (d *Desk) refund(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in refundArgs
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, tool.Definite(err)
	}
	order, ok := d.Shop.Order(in.Order)
	if !ok {
		return tool.Result{}, tool.Definite(fmt.Errorf("there is no order %s", in.Order))
	}
	if in.Amount > order.Total {
		return tool.Result{}, &tool.Fault{Class: tool.Validation, Field: "amount", Value: number(in.Amount), Message: fmt.Sprintf("order %s cost %v EUR: no more can be paid back", order.ID, order.Total)}
	}
	if d.Slow > 0 {
		select {
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		case <-time.After(d.Slow):
		}
	}
	if err := d.Shop.do(call.OperationID, refund, call.Args, in.Order, "refunded"); err != nil {
		return tool.Result{}, err
	}
	out, err := value(Receipt{"rc-" + in.Order, in.Amount})
	out.ExternalIDs = map[string][]string{"receipt": {"rc-" + in.Order}}
	return out, err
}

func (d *Desk) cancel(_ context.Context, call tool.Call) (tool.Result, error) {
	var in orderArgs
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, tool.Definite(err)
	}
	order, ok := d.Shop.Order(in.Order)
	if !ok || order.Status != "packed" && order.Status != "canceled" {
		return tool.Result{}, tool.Definite(fmt.Errorf("order %s cannot be canceled any more", in.Order))
	}
	if err := d.Shop.do(call.OperationID, cancel, call.Args, in.Order, "canceled"); err != nil {
		return tool.Result{}, err
	}
	return value("canceled")
}

func (d *Desk) list(context.Context, tool.Call) (tool.Result, error) {
	var lines []string
	for _, o := range d.Shop.Orders() {
		lines = append(lines, fmt.Sprintf("%s  %-18s %-12s %6.2f EUR  %s", o.ID, o.Item, o.Customer, o.Total, o.Status))
	}
	return value(strings.Join(lines, "\n"))
}

// papers that the shop has.
var papers = []string{"plain", "stars", "stripes"}

// wrap refuses a paper that the shop does not have as most interfaces do: with the field, its value, and those that it takes.
func (d *Desk) wrap(_ context.Context, call tool.Call) (tool.Result, error) {
	var in wrapArgs
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, tool.Definite(err)
	}
	if !slices.Contains(papers, in.Paper) {
		fault := &tool.Fault{Class: tool.Validation, Status: 422, Field: "paper", Value: quoted(in.Paper), Message: "paper must be one of " + strings.Join(papers, ", ")}
		for _, p := range papers {
			fault.Allowed = append(fault.Allowed, quoted(p))
		}
		return tool.Result{}, fault
	}
	if order, ok := d.Shop.Order(in.Order); !ok || order.Status != "packed" {
		return tool.Result{}, tool.Definite(fmt.Errorf("order %s has left the house, or never was", in.Order))
	}
	if err := d.Shop.do(call.OperationID, wrap, call.Args, "", ""); err != nil {
		return tool.Result{}, err
	}
	return value(in)
}

// erase is there to be denied: no rule lets it run, and nobody is asked.
func (d *Desk) erase(_ context.Context, call tool.Call) (tool.Result, error) {
	return tool.Result{}, d.Shop.do(call.OperationID, erase, call.Args, "", "")
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a text always fits
	return raw
}

func number(n float64) json.RawMessage { return json.RawMessage(strconv.FormatFloat(n, 'f', -1, 64)) }

func (d *Desk) mail(_ context.Context, call tool.Call) (tool.Result, error) {
	if err := d.Shop.do(call.OperationID, sendMail, call.Args, "", ""); err != nil {
		return tool.Result{}, err
	}
	return value("sent")
}

func value(v any) (tool.Result, error) {
	raw, err := json.Marshal(v)
	return tool.Result{Value: raw}, err
}
