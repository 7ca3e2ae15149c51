package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// canary is a text that must not be found where it should not be.
const canary = "canary-7f3a"

// personal is a history with the canary wherever a person's text can be.
func personal(at time.Time) *history {
	h := newHistory(at)
	raw := []byte(`{"text":"` + canary + `"}`)
	h.session.User, h.session.Data, h.session.Metadata, h.session.Channel, h.session.Address = canary, raw, raw, "chat", canary
	h.run.Input, h.run.Result, h.run.User, h.run.Error = raw, raw, canary, &holdshort.Failure{Code: holdshort.Internal, Message: canary, Stack: canary}
	h.message.Parts = []holdshort.Part{{Type: "text", Text: canary, Data: raw, Name: canary, URL: canary}}
	h.request.Question, h.request.Context, h.request.CancelReason, h.request.Options = canary, raw, canary, []holdshort.Option{{ID: "1", Label: canary}}
	h.request.Actions = []holdshort.Action{{CallID: "call", Tool: "tool", Args: raw, ArgsHash: "hash"}}
	h.decision.Message, h.decision.Value, h.decision.Raw, h.decision.Actor.Name = canary, raw, canary, canary
	h.inbound.Body, h.inbound.Result = raw, raw
	h.delivery.Body, h.delivery.Address, h.delivery.LastError = raw, canary, canary
	return h
}

func (h *history) writePersonal(tx store.Tx) error {
	entry := newEntry(h.run.ID, "personal", h.run.CreatedAt)
	entry.Outcome, entry.Error = []byte(`"`+canary+`"`), &holdshort.Failure{Message: canary}
	_, err1 := tx.AddBody(h.session.ID, "", []byte(canary))
	_, err2 := tx.AddBody("", h.run.ID, []byte(canary))
	return firstError(err1, err2, h.write(tx), tx.AddJournal(entry), tx.AddEvent(holdshort.Event{Type: "run.completed", Run: h.run.ID, Session: h.session.ID}))
}

// canaries names the columns in which the canary is found.
func (b *bed) canaries() []string {
	b.Helper()
	var found []string
	for table, columns := range b.db.Columns(b) {
		for _, row := range b.db.Rows(b, "SELECT "+strings.Join(columns, ", ")+" FROM "+table) {
			for i, value := range row {
				var text []byte
				switch v := value.(type) {
				case string:
					text = []byte(v)
				case []byte:
					text = v
				}
				if name := table + "." + columns[i]; bytes.Contains(text, []byte(canary)) && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

func testErasure(t *testing.T, d Driver) {
	t.Run("nothing of the text is left", func(t *testing.T) { testErased(open(t, d, Options{})) })
	t.Run("nothing while something is open", func(t *testing.T) { testNotErased(open(t, d, Options{})) })
}

func testErased(b *bed) {
	h, other := personal(birth), newHistory(birth)
	waiting := newDelivery("waiting", birth)
	waiting.SessionID, waiting.Body = h.session.ID, []byte(`"`+canary+`"`)
	b.update(func(tx store.Tx) error {
		return firstError(h.writePersonal(tx), other.write(tx), tx.PutDelivery(waiting))
	})
	where := b.canaries()
	for _, column := range []string{"sessions.body", "messages.body", "runs.fixed", "runs.body", "journal.body", "requests.fixed", "requests.body", "decisions.body",
		"outbox.body", "inbound.body", "bodies.body"} {
		if !slices.Contains(where, column) {
			b.Errorf("the test puts no text into %s, only into %v", column, where)
		}
	}
	b.seal(1000)
	b.update(func(tx store.Tx) error { return tx.EraseSession(h.session.ID, "ana") })
	if left := b.canaries(); len(left) != 0 {
		b.Errorf("text is left in %v", left)
	}
	b.expectLeft(h, "erased", "message", "journal")
	b.expectLeft(other, "another session")

	b.view(func(tx store.ReadTx) error {
		session, err := tx.Session(h.session.ID)
		if err != nil || session.EndedAt.IsZero() || session.User != "" || session.Address != "" {
			b.Errorf("the erased session reads %+v (%v)", session, err)
		}
		run, err := tx.Run(h.run.ID)
		if err != nil || run.Status != holdshort.RunCompleted || run.Input != nil || run.Error != nil {
			b.Errorf("the erased run reads %+v (%v)", run, err)
		}
		request, err := tx.Request(h.request.ID)
		if err != nil || request.Status != holdshort.RequestResolved || request.Question != "" || request.Actions != nil {
			b.Errorf("the erased request reads %+v (%v)", request, err)
		}
		decision, err := tx.Decision(h.request.ID)
		if err != nil || decision.Actor.ID != "ann" || decision.MAC == "" || decision.Message != "" {
			b.Errorf("the erased decision reads %+v (%v)", decision, err)
		}
		operation, err := tx.Operation(h.operation.ID)
		if err != nil || operation.Status != holdshort.OperationDone || operation.ArgsHash != "hash" {
			b.Errorf("the ledger reads %+v (%v)", operation, err)
		}
		inbound, err := tx.Inbound(h.inbound.Channel, h.inbound.Address, h.inbound.Key)
		if err != nil || inbound.BodyHash != "hash" || inbound.Body != nil {
			b.Errorf("the erased message reads %+v (%v): its id must still be known", inbound, err)
		}
		dropped, err := tx.Delivery(waiting.ID)
		if err != nil || dropped.Status != holdshort.DeliveryDropped || dropped.Body != nil {
			b.Errorf("a delivery that waited reads %+v (%v)", dropped, err)
		}
		messages, err := tx.Messages(store.MessageQuery{Session: h.session.ID})
		if err != nil || len(messages.Items)+len(messages.Corrupt) != 0 {
			b.Errorf("the erased session has %+v (%v)", messages, err)
		}
		runs, err := tx.Runs(store.RunQuery{Session: h.session.ID})
		if err != nil || len(runs.Items) != 1 || len(runs.Corrupt) != 0 {
			b.Errorf("the list of its runs is %+v (%v)", runs, err)
		}
		requests, err := tx.Requests(store.RequestQuery{Session: h.session.ID})
		if err != nil || len(requests.Items) != 1 || len(requests.Corrupt) != 0 {
			b.Errorf("the list of its requests is %+v (%v)", requests, err)
		}
		return nil
	})
	if v := b.verifies(); v.Erased != 2 {
		b.Errorf("verify counts %d erased bodies of 2", v.Erased)
	}
	last := b.events(acme)
	if e := last[len(last)-1]; e.Type != "session.erased" || e.Session != h.session.ID {
		b.Errorf("the erasure left %+v", e)
	}
	b.update(func(tx store.Tx) error { return tx.EraseSession(h.session.ID, "ana") })
	if err := b.try(func(tx store.Tx) error { return tx.EraseSession(newSession(birth).ID, "ana") }); holdshort.CodeOf(err) != holdshort.NotFound {
		b.Errorf("erasing an unknown session: %v", err)
	}
	b.db.Crash(b)
	if left := b.canaries(); len(left) != 0 {
		b.Errorf("after a crash text is back in %v", left)
	}
}

func testNotErased(b *bed) {
	for name, change := range map[string]func(h *history){
		"a run that waits":       func(h *history) { h.run.Status, h.run.EndedAt = holdshort.RunWaiting, time.Time{} },
		"a run that is queued":   func(h *history) { h.run.Status, h.run.EndedAt = holdshort.RunQueued, time.Time{} },
		"a request that is open": func(h *history) { h.request.Status, h.request.ClosedAt = holdshort.RequestOpen, time.Time{} },
		"an operation that is started": func(h *history) {
			h.operation.Status, h.operation.ClosedAt = holdshort.OperationStarted, time.Time{}
		},
	} {
		h := newHistory(birth)
		h.session.Data = []byte(fmt.Sprintf("%q", name))
		change(h)
		b.update(h.write)
		before := b.dump(acme)
		err := b.try(func(tx store.Tx) error { return tx.EraseSession(h.session.ID, "ana") })
		b.refused(err, holdshort.WrongState)
		if holdshort.HintOf(err) == "" {
			b.Errorf("%s: %v does not say what to do", name, err)
		}
		if b.dump(acme) != before {
			b.Errorf("%s: something was erased", name)
		}
	}
}
