package demo

import (
	"context"
	"encoding/json"
	"fmt"
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
	refund   = "orders.refund"
	cancel   = "orders.cancel"
	sendMail = "mail.send"
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
	if _, ok := d.Shop.Order(in.Order); !ok {
		return tool.Result{}, tool.Definite(fmt.Errorf("there is no order %s", in.Order))
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
