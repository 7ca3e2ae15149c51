package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// twins are rows with the same names in two tenants, so that a query which forgets the tenant finds the wrong one.
type twins struct {
	session   holdshort.Session
	message   holdshort.Message
	run       holdshort.Run
	request   holdshort.Request
	decision  holdshort.Decision
	vote      holdshort.Vote
	operation holdshort.Operation
	delivery  holdshort.Delivery
	inbound   holdshort.Inbound
	entry     holdshort.JournalEntry
	replay    store.Replay
	timer     holdshort.Timer
	key       holdshort.Key
	login     holdshort.Login
	webhook   holdshort.Webhook
	digest    map[holdshort.TenantID]string
}

func newTwins(at time.Time) *twins {
	w := &twins{session: newSession(at), run: newRun(at), request: newRequest(at), digest: map[holdshort.TenantID]string{}}
	w.session.Channel, w.session.Address = "chat", string(w.session.ID)
	w.message = newMessage(w.session.ID, 1, at)
	w.message.ExternalID = "wamid.1"
	w.run.SessionID = w.session.ID
	w.request.RunID, w.request.SessionID, w.request.OriginStepID = w.run.ID, w.session.ID, "ask"
	w.decision, w.vote = newDecision(w.request.ID, "ann", at), newDecision(w.request.ID, "ann", at)
	w.operation = newOperation(w.run.ID, "call", at)
	w.delivery = newDelivery(string(w.run.ID), at)
	w.delivery.SessionID = w.session.ID
	w.inbound = newInbound(string(w.run.ID), at)
	w.entry = newEntry(w.run.ID, "step", at)
	w.replay = store.Replay{Scope: "scope", Key: string(w.run.ID), BodyHash: "hash", Status: 200, At: at}
	w.timer = holdshort.Timer{Kind: holdshort.TimerSleep, Subject: string(w.run.ID), DueAt: at}
	w.key, w.login, w.webhook = newKey(at), newLogin(at), newWebhook(at)
	return w
}

// counted is what a tenant adds to its counter: the sum would be another number.
var counted = map[holdshort.TenantID]int64{acme: 4, rival: 5}

// write stores them for a tenant; each carries the tenant's name.
func (w *twins) write(tx store.Tx) error {
	mark := "of " + string(tx.Tenant())
	raw := json.RawMessage(fmt.Sprintf("%q", mark))
	session, message, run, request, decision, vote, operation := w.session, w.message, w.run, w.request, w.decision, w.vote, w.operation
	delivery, inbound, entry, replay := w.delivery, w.inbound, w.entry, w.replay
	session.User, message.Parts, run.Input, request.Question = mark, []holdshort.Part{{Type: "text", Text: mark}}, raw, mark
	decision.Message, vote.Message, operation.ResultHash = mark, mark, mark
	delivery.Body, inbound.Body, entry.Outcome, replay.Answer = raw, raw, raw, []byte(mark)
	key, login, webhook := w.key, w.login, w.webhook
	key.Name, login.Actor.Name, webhook.URL = mark, mark, "https://"+mark
	key.Hash, login.Hash = w.hash(key.Hash, tx.Tenant()), w.hash(login.Hash, tx.Tenant())
	digest, err := tx.AddBody(w.session.ID, w.run.ID, []byte(mark))
	w.digest[tx.Tenant()] = digest
	return firstError(err, tx.PutSession(session), tx.PutMessage(message), tx.PutRun(run), tx.PutRequest(request), tx.AddDecision(decision), tx.AddVote(vote),
		tx.PutOperation(operation), tx.PutDelivery(delivery), tx.PutInbound(inbound), tx.AddJournal(entry), tx.AddReplay(replay), tx.SetTimer(w.timer), tx.AddCounter(string(w.run.ID), counted[tx.Tenant()]),
		tx.UseDecision(w.decision.ID, "call", mark), tx.PutKey(key), tx.AddLogin(login), tx.PutWebhook(webhook),
		tx.AddEvent(holdshort.Event{Type: "run.created", Run: run.ID, Session: session.ID, Actor: mark}),
		tx.AddEvent(holdshort.Event{Type: "hitl.request.commented", Run: run.ID, Session: session.ID, Request: request.ID, Actor: mark}),
		tx.AddEvent(holdshort.Event{Type: "access.denied", Actor: mark}))
}

// hash is the one thing that twins do not share: secrets are told apart before anybody knows the tenant.
func (w *twins) hash(base string, tenant holdshort.TenantID) string {
	return base + " " + string(tenant)
}

// dump is everything that the database has of a tenant, as text.
func (b *bed) dump(tenant holdshort.TenantID) string {
	b.Helper()
	var lines []string
	for table, columns := range b.db.Columns(b) {
		if !slices.Contains(columns, "tenant") {
			continue
		}
		columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == "pos" || c == "ins" }) // the order among tenants
		for _, row := range b.db.Rows(b, "SELECT "+strings.Join(columns, ", ")+" FROM "+table+" WHERE tenant = ?", string(tenant)) {
			lines = append(lines, fmt.Sprintf("%s %#v", table, row))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
