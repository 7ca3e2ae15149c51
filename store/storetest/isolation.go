package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const rival holdshort.TenantID = "rival"

// testIsolation walks every method of the contract, found by reflection: one without a case here fails, so none can be forgotten.
func testIsolation(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	w := newTwins(b.now())
	b.updateOf(acme, w.write)
	b.updateOf(rival, w.write)
	b.stamp()
	reads, systems := w.reads(), w.systems()
	written := open(t, d, Options{})
	methods := func(typ reflect.Type) []string {
		var names []string
		for i := range typ.NumMethod() {
			names = append(names, typ.Method(i).Name)
		}
		return names
	}
	reader := map[string]bool{}
	for _, name := range methods(reflect.TypeFor[store.ReadTx]()) {
		reader[name] = true
		t.Run(name, func(t *testing.T) {
			read, ok := reads[name]
			if !ok {
				t.Fatalf("no test shows that %s keeps tenants apart: add one", name)
			}
			testRead(&bed{t, b.db}, read)
		})
	}
	for _, name := range methods(reflect.TypeFor[store.Tx]()) {
		if reader[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			fresh := newTwins(b.now())
			write, ok := fresh.writes()[name]
			if !ok {
				t.Fatalf("no test shows that %s keeps tenants apart: add one", name)
			}
			testWrite(&bed{t, written.db}, fresh, write)
		})
	}
	for _, name := range methods(reflect.TypeFor[store.System]()) {
		t.Run("System."+name, func(t *testing.T) {
			test, ok := systems[name]
			if !ok {
				t.Fatalf("no test shows that System.%s keeps tenants apart: add one", name)
			}
			test(&bed{t, b.db})
		})
	}
	t.Run("names", func(t *testing.T) { testTenantNames(&bed{t, b.db}) })
}

// testRead: each tenant finds its own, and a tenant without rows finds nothing.
func testRead(b *bed, read func(store.ReadTx) (any, error)) {
	for _, tenant := range []holdshort.TenantID{acme, rival} {
		got := loadOf(b, tenant, read)
		text, err := json.Marshal(got)
		if err != nil {
			b.Fatal(err)
		}
		if bytes, ok := got.([]byte); ok {
			text = bytes
		}
		other := map[holdshort.TenantID]holdshort.TenantID{acme: rival, rival: acme}[tenant]
		if !strings.Contains(string(text), "of "+string(tenant)) || strings.Contains(string(text), "of "+string(other)) {
			b.Errorf("%s reads %s", tenant, text)
		}
	}
	var got any
	err := b.store().View(context.Background(), "nobody", func(tx store.ReadTx) (err error) {
		got, err = read(tx)
		return err
	})
	text, _ := json.Marshal(got)
	if strings.Contains(string(text), "of acme") || strings.Contains(string(text), "of rival") || err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
		b.Errorf("a tenant without rows reads %s (%v)", text, err)
	}
}

// testWrite: acme's write changes acme's rows and none of rival's, which have the same names.
func testWrite(b *bed, w *twins, write func(store.Tx) error) {
	b.updateOf(acme, w.write)
	b.updateOf(rival, w.write)
	mine, theirs := b.dump(acme), b.dump(rival)
	b.updateOf(acme, write)
	if b.dump(acme) == mine {
		b.Error("it changed nothing: the test shows nothing")
	}
	if now := b.dump(rival); now != theirs {
		b.Errorf("acme's write changed rival's rows from\n%s\nto\n%s", theirs, now)
	}
}

func (w *twins) reads() map[string]func(store.ReadTx) (any, error) {
	return map[string]func(store.ReadTx) (any, error){
		"Now":          func(tx store.ReadTx) (any, error) { return fmt.Sprint(tx.Now(), " of ", tx.Tenant()), nil },
		"Tenant":       func(tx store.ReadTx) (any, error) { return "of " + tx.Tenant(), nil },
		"Session":      func(tx store.ReadTx) (any, error) { return tx.Session(w.session.ID) },
		"SessionAt":    func(tx store.ReadTx) (any, error) { return tx.SessionAt(w.session.Channel, w.session.Address) },
		"Message":      func(tx store.ReadTx) (any, error) { return tx.Message(w.message.ID) },
		"Messages":     func(tx store.ReadTx) (any, error) { return tx.Messages(store.MessageQuery{Session: w.session.ID}) },
		"MessageNamed": func(tx store.ReadTx) (any, error) { return tx.MessageNamed(w.session.ID, w.message.ExternalID) },
		"Stats": func(tx store.ReadTx) (any, error) {
			s, err := tx.Stats()
			return map[int64]string{1: "one of " + string(tx.Tenant()), 2: "of acme and of rival"}[s.Open.Count], err
		},
		"Sessions": func(tx store.ReadTx) (any, error) { return tx.Sessions(store.SessionQuery{}) },
		"Standing": func(tx store.ReadTx) (any, error) {
			s, err := tx.Standing(birth)
			return map[int64]string{1: "one of " + string(tx.Tenant()), 2: "of acme and of rival"}[s.Open.Count], err
		},
		"ClosedRequests": func(tx store.ReadTx) (any, error) {
			list, _, err := tx.ClosedRequests(time.Time{}, 0)
			return fmt.Sprint("of ", tx.Tenant(), list), err
		},
		"Past": func(tx store.ReadTx) (any, error) { return tx.Past(store.PastQuery{}) },
		"PositionAt": func(tx store.ReadTx) (any, error) {
			first, err := tx.PositionAt(time.Time{})
			if err != nil {
				return nil, err
			}
			seen, err := tx.Events(store.EventQuery{Limit: 1})
			if len(seen.Items) == 1 && seen.Items[0].Position != first {
				return fmt.Sprint(first, " instead of ", seen.Items[0].Position), err
			}
			return fmt.Sprint(first, " of ", tx.Tenant()), err
		},
		"Sealing": func(tx store.ReadTx) (any, error) {
			s, err := tx.Sealing()
			return map[int64]string{3: "of " + string(tx.Tenant()), 6: "of acme and of rival"}[s.Unsealed.Count], err
		},
		"Seated": func(tx store.ReadTx) (any, error) { // of the whole store
			ok, err := tx.Seated()
			return fmt.Sprint(ok, " of ", tx.Tenant()), err
		},
		"Desk": func(tx store.ReadTx) (any, error) { return tx.Desk(store.DeskQuery{Seats: people["all"]}) },
		"DeskTally": func(tx store.ReadTx) (any, error) {
			s, err := tx.DeskTally(people["all"], "", time.Time{})
			return map[int64]string{1: "one of " + string(tx.Tenant()), 2: "of acme and of rival"}[s.All.Count], err
		},
		"Decided": func(tx store.ReadTx) (any, error) {
			page, err := tx.Decided(store.DecidedQuery{})
			return fmt.Sprint("of ", tx.Tenant(), page.Items), err
		},
		"Search": func(tx store.ReadTx) (any, error) { return tx.Search(store.SearchQuery{Words: "of"}) },
		"Alike": func(tx store.ReadTx) (any, error) {
			alike, err := tx.Alike(w.request, time.Time{})
			return fmt.Sprint("of ", tx.Tenant(), alike.Decided), err
		},
		"Comments": func(tx store.ReadTx) (any, error) {
			list, err := tx.Comments(w.request.ID)
			return list, err
		},
		"Run":               func(tx store.ReadTx) (any, error) { return tx.Run(w.run.ID) },
		"Runs":              func(tx store.ReadTx) (any, error) { return tx.Runs(store.RunQuery{}) },
		"Journal":           func(tx store.ReadTx) (any, error) { return tx.Journal(w.run.ID) },
		"Request":           func(tx store.ReadTx) (any, error) { return tx.Request(w.request.ID) },
		"Requests":          func(tx store.ReadTx) (any, error) { return tx.Requests(store.RequestQuery{}) },
		"RequestAt":         func(tx store.ReadTx) (any, error) { return tx.RequestAt(w.run.ID, "ask") },
		"Decision":          func(tx store.ReadTx) (any, error) { return tx.Decision(w.request.ID) },
		"Votes":             func(tx store.ReadTx) (any, error) { return tx.Votes(w.request.ID) },
		"Operation":         func(tx store.ReadTx) (any, error) { return tx.Operation(w.operation.ID) },
		"Operations":        func(tx store.ReadTx) (any, error) { return tx.Operations(w.run.ID) },
		"Delivery":          func(tx store.ReadTx) (any, error) { return tx.Delivery(w.delivery.ID) },
		"PendingDeliveries": func(tx store.ReadTx) (any, error) { return tx.PendingDeliveries(w.session.ID) },
		"Inbound":           func(tx store.ReadTx) (any, error) { return tx.Inbound("chat", "+49", string(w.run.ID)) },
		"Replay": func(tx store.ReadTx) (any, error) {
			r, err := tx.Replay("scope", string(w.run.ID))
			return string(r.Answer), err
		},
		"Counter": func(tx store.ReadTx) (any, error) {
			n, err := tx.Counter(string(w.run.ID))
			return map[int64]string{counted[acme]: "of acme", counted[rival]: "of rival", counted[acme] + counted[rival]: "of acme and of rival"}[n], err
		},
		"Deliveries": func(tx store.ReadTx) (any, error) {
			return tx.Deliveries(store.DeliveryQuery{Prefix: w.delivery.Key[:len(w.delivery.Key)-1]})
		},
		"Key":  func(tx store.ReadTx) (any, error) { return tx.Key(w.key.ID) },
		"Keys": func(tx store.ReadTx) (any, error) { return tx.Keys() },
		"Login": func(tx store.ReadTx) (any, error) {
			own, err := tx.Login(w.hash(w.login.Hash, tx.Tenant()))
			for _, tenant := range []holdshort.TenantID{acme, rival} {
				if tenant == tx.Tenant() {
					continue
				}
				if login, err := tx.Login(w.hash(w.login.Hash, tenant)); err == nil {
					return login, nil
				}
			}
			return own, err
		},
		"Webhook":  func(tx store.ReadTx) (any, error) { return tx.Webhook(w.webhook.ID) },
		"Webhooks": func(tx store.ReadTx) (any, error) { return tx.Webhooks() },
		"Position": func(tx store.ReadTx) (any, error) {
			seen, err := tx.Events(store.EventQuery{})
			if err != nil {
				return nil, err
			}
			last, err := tx.Position()
			if last == 0 || last != seen.Last {
				return fmt.Sprint(last, " instead of ", seen.Last), err
			}
			return fmt.Sprint(last, " of ", tx.Tenant()), err
		},
		"Events": func(tx store.ReadTx) (any, error) { return tx.Events(store.EventQuery{}) },
		"Body": func(tx store.ReadTx) (any, error) {
			own, err := tx.Body(w.digest[tx.Tenant()])
			for tenant, digest := range w.digest {
				if tenant == tx.Tenant() {
					continue
				}
				if body, err := tx.Body(digest); err == nil {
					return body, nil
				}
			}
			return own, err
		},
	}
}

func (w *twins) writes() map[string]func(store.Tx) error {
	session, message, run, request, operation, delivery, inbound := w.session, w.message, w.run, w.request, w.operation, w.delivery, w.inbound
	for _, r := range []*int64{&session.Revision, &message.Revision, &run.Revision, &request.Revision, &operation.Revision, &delivery.Revision, &inbound.Revision} {
		*r = 1
	}
	other := newRequest(w.request.CreatedAt)
	key, webhook := w.key, w.webhook
	key.Revision, webhook.Revision = 1, 1
	return map[string]func(store.Tx) error{
		"PutSession": func(tx store.Tx) error { return tx.PutSession(session) },
		"EraseSession": func(tx store.Tx) error {
			// Nothing may be open.
			ended, closed, done := run, request, operation
			ended.Status, ended.EndedAt, closed.Status, done.Status = holdshort.RunCanceled, tx.Now(), holdshort.RequestCanceled, holdshort.OperationDone
			return firstError(tx.PutRun(ended), tx.PutRequest(closed), tx.PutOperation(done), tx.EraseSession(w.session.ID, "ana"))
		},
		"PutMessage": func(tx store.Tx) error { return tx.PutMessage(message) },
		"PutRun":     func(tx store.Tx) error { return tx.PutRun(run) },
		"HoldRun": func(tx store.Tx) error {
			return tx.HoldRun(w.run.ID, holdshort.Hold{Code: holdshort.Corrupt, Since: tx.Now()})
		},
		"FenceRun":         func(tx store.Tx) error { return firstError(tx.FenceRun(w.run.ID, 0), tx.PutRun(run)) },
		"AddJournal":       func(tx store.Tx) error { return tx.AddJournal(newEntry(w.run.ID, "another", tx.Now())) },
		"PutRequest":       func(tx store.Tx) error { return tx.PutRequest(request) },
		"CancelUnreadable": func(tx store.Tx) error { return tx.CancelUnreadable(w.request.ID) },
		"AddDecision":      func(tx store.Tx) error { return tx.AddDecision(newDecision(other.ID, "eve", tx.Now())) },
		"AddVote":          func(tx store.Tx) error { return tx.AddVote(newDecision(w.request.ID, "eve", tx.Now())) },
		"UseDecision":      func(tx store.Tx) error { return tx.UseDecision(w.decision.ID, "another", "operation") },
		"PutOperation":     func(tx store.Tx) error { return tx.PutOperation(operation) },
		"PutDelivery":      func(tx store.Tx) error { return tx.PutDelivery(delivery) },
		"PutKey": func(tx store.Tx) error {
			key.RevokedAt = tx.Now()
			return tx.PutKey(key)
		},
		"TouchKey":    func(tx store.Tx) error { return tx.TouchKey(w.key.ID, tx.Now()) },
		"AddLogin":    func(tx store.Tx) error { return tx.AddLogin(newLogin(tx.Now())) },
		"UseLogin":    func(tx store.Tx) error { return tx.UseLogin(w.hash(w.login.Hash, acme)) },
		"PutWebhook":  func(tx store.Tx) error { return tx.PutWebhook(webhook) },
		"DropWebhook": func(tx store.Tx) error { return tx.DropWebhook(w.webhook.ID) },
		"PutInbound":  func(tx store.Tx) error { return tx.PutInbound(inbound) },
		"AddReplay": func(tx store.Tx) error {
			return tx.AddReplay(store.Replay{Scope: "scope", Key: "another", BodyHash: "hash", At: tx.Now()})
		},
		"SetTimer": func(tx store.Tx) error {
			later := w.timer
			later.DueAt = tx.Now().Add(time.Hour)
			return tx.SetTimer(later)
		},
		"DropTimer":  func(tx store.Tx) error { return tx.DropTimer(w.timer.Kind, w.timer.Subject, w.timer.Key) },
		"AddCounter": func(tx store.Tx) error { return tx.AddCounter(string(w.run.ID), 1) },
		"AddEvent":   func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "run.waiting", Run: w.run.ID}) },
		"AddBody": func(tx store.Tx) error {
			_, err := tx.AddBody(w.session.ID, w.run.ID, []byte("another"))
			return err
		},
	}
}
