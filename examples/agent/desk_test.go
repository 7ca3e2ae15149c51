package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/holdshorttest"
)

type payment struct {
	order  string
	amount float64
}

// kit is an engine with the agent in it, and the shop's own books.
func kit(t *testing.T) (*holdshorttest.Kit, *[]payment) {
	t.Helper()
	var books []payment
	desk, err := newDesk(&shop{paid: func(order string, amount float64) { books = append(books, payment{order, amount}) }})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	return holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{desk}, Policy: rules}), &books
}

// What a person approves is what the shop pays, once, however often the process ends in between.
func TestRefund(t *testing.T) {
	k, books := kit(t)
	session := k.Chat("ben", "desk")
	run := k.As("ben").Say(session, "please refund order 77 for 100")
	req := k.Request(run)
	if req.Question != "Refund 100 EUR for order 77?" || string(req.Actions[0].Args) != `{"amount":100,"order":"77"}` || len(*books) != 0 {
		t.Fatalf("asks %q about %s, after %v", req.Question, req.Actions[0].Args, *books)
	}
	k.Restart()
	k.As("ana", "finance").Approve(k.Request(run))
	k.Restart()
	if got := holdshorttest.Result[agent.Result](k, run); got.Text != "Paid back: rc-1." {
		t.Errorf("says %q", got.Text)
	}
	if want := []payment{{"77", 100}}; !slices.Equal(*books, want) {
		t.Errorf("the books have %v, want %v", *books, want)
	}
}

func TestEditsAndRefusals(t *testing.T) {
	k, books := kit(t)
	ben, ana := k.As("ben"), k.As("ana", "finance")
	session := k.Chat("ben", "desk")

	run := ben.Say(session, "refund order 77 for 300")
	ana.Edit(k.Request(run), json.RawMessage(`{"order":"77","amount":150}`))
	holdshorttest.Result[agent.Result](k, run)
	if want := []payment{{"77", 150}}; !slices.Equal(*books, want) {
		t.Errorf("the books have %v, want %v", *books, want)
	}

	run = ben.Say(session, "refund order 77 for 200")
	ana.Reject(k.Request(run), "not again")
	if got := holdshorttest.Result[agent.Result](k, run); !strings.HasPrefix(got.Text, "That was not done.") || !strings.Contains(got.Text, "not again") {
		t.Errorf("says %q", got.Text)
	}

	run = ben.Say(session, "refund order 77 for 200")
	k.Request(run)
	k.Advance(time.Hour) // nobody decides
	if f := k.Failure(run); f.Code != holdshort.Expired || len(*books) != 1 {
		t.Errorf("ended with %+v, the books have %v", f, *books)
	}
}

// Small refunds need nobody, up to five a day.
func TestLimit(t *testing.T) {
	k, books := kit(t)
	session := k.Chat("ben", "desk")
	for range 5 {
		holdshorttest.Result[agent.Result](k, k.As("ben").Say(session, "refund order 78 for 2"))
	}
	run := k.As("ben").Say(session, "refund order 78 for 2")
	if req := k.Request(run); len(*books) != 5 || req.Status != holdshort.RequestOpen {
		t.Errorf("after %d payments the request is %s", len(*books), req.Status)
	}
}

// The program itself: a question outlives the process that asked it.
func TestProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "refunds.db")
	var first, second strings.Builder
	if err := run(t.Context(), file, strings.NewReader("where is order 77?\nrefund order 77 for 100\n"), &first); err != nil {
		t.Fatal(err)
	}
	const card = "? Refund 100 EUR for order 77?\n  orders.refund {\"amount\":100,\"order\":\"77\"}\n"
	if want := "Order 77 is a lamp, 320 EUR.\n" + card; first.String() != want {
		t.Errorf("it prints\n%swant\n%s", first.String(), want)
	}
	if err := run(t.Context(), file, strings.NewReader("yes\nhello\n"), &second); err != nil {
		t.Fatal(err)
	}
	if want := card + "  (the shop pays 100 for order 77)\nPaid back: rc-1.\nI look orders up and refund them.\n"; second.String() != want {
		t.Errorf("it prints\n%swant\n%s", second.String(), want)
	}
}
