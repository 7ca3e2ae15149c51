package storetest

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testUniqueKeys puts each row, then another that may not stand beside it, with a companion that must go down with it; and then one that may.
func testUniqueKeys(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	session := newSession(birth)
	session.Channel, session.Address = "chat", "+49 1"
	ended := session
	ended.ID, ended.EndedAt = newSession(birth).ID, birth
	twin := session
	twin.ID = newSession(birth).ID
	message, sameSeq, sameExternal := newMessage(session.ID, 1, birth), newMessage(session.ID, 1, birth), newMessage(session.ID, 2, birth)
	message.ExternalID, sameExternal.ExternalID = "wamid.1", "wamid.1"
	elsewhere := newMessage(twin.ID, 1, birth)
	elsewhere.ExternalID = "wamid.1"
	run := newRun(birth)
	asked := newRequest(birth)
	asked.RunID, asked.OriginStepID = run.ID, "ask"
	again, closed := newRequest(birth), newRequest(birth)
	again.RunID, again.OriginStepID = run.ID, "ask"
	closed.RunID, closed.OriginStepID, closed.Status = run.ID, "ask", holdshort.RequestCanceled
	entry := newEntry(run.ID, "step", birth)
	retried := entry
	retried.Attempt = 2
	operation := newOperation(run.ID, "call", birth)
	replay := store.Replay{Scope: "acme ann POST /v1", Key: "k", BodyHash: "h", Status: 201, At: birth}
	otherScope := replay
	otherScope.Scope = "acme bob POST /v1"
	inbound, otherAddress := newInbound("wamid.1", birth), newInbound("wamid.1", birth)
	otherAddress.Address = "+49 2"
	decision := newDecision(asked.ID, "ann", birth)

	for _, c := range []struct {
		name  string
		code  holdshort.Code
		first func(store.Tx) error
		twin  func(store.Tx) error
		other func(store.Tx) error
	}{
		{"one open session per address", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutSession(session) }, func(tx store.Tx) error { return tx.PutSession(twin) },
			func(tx store.Tx) error { return tx.PutSession(ended) }},
		{"one message per place", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutMessage(message) }, func(tx store.Tx) error { return tx.PutMessage(sameSeq) },
			func(tx store.Tx) error { return tx.PutMessage(newMessage(session.ID, 7, birth)) }},
		{"one message per external id", holdshort.Duplicate, nil, func(tx store.Tx) error { return tx.PutMessage(sameExternal) },
			func(tx store.Tx) error { return tx.PutMessage(elsewhere) }},
		{"one run per id", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutRun(run) }, func(tx store.Tx) error { return tx.PutRun(run) }, nil},
		{"one open request per step", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutRequest(asked) }, func(tx store.Tx) error { return tx.PutRequest(again) },
			func(tx store.Tx) error { return tx.PutRequest(closed) }},
		{"one outcome per key and attempt", holdshort.Duplicate, func(tx store.Tx) error { return tx.AddJournal(entry) }, func(tx store.Tx) error { return tx.AddJournal(entry) },
			func(tx store.Tx) error { return tx.AddJournal(retried) }},
		{"one operation per id", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutOperation(operation) }, func(tx store.Tx) error { return tx.PutOperation(operation) }, nil},
		{"one answer per idempotency key", holdshort.Duplicate, func(tx store.Tx) error { return tx.AddReplay(replay) }, func(tx store.Tx) error { return tx.AddReplay(replay) },
			func(tx store.Tx) error { return tx.AddReplay(otherScope) }},
		{"one delivery per key", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutDelivery(newDelivery("k", birth)) },
			func(tx store.Tx) error { return tx.PutDelivery(newDelivery("k", birth)) }, func(tx store.Tx) error { return tx.PutDelivery(newDelivery("l", birth)) }},
		{"one acceptance per message", holdshort.Duplicate, func(tx store.Tx) error { return tx.PutInbound(inbound) },
			func(tx store.Tx) error { return tx.PutInbound(newInbound("wamid.1", birth)) }, func(tx store.Tx) error { return tx.PutInbound(otherAddress) }},
		{"one decision per request", holdshort.Closed, func(tx store.Tx) error { return tx.AddDecision(decision) },
			func(tx store.Tx) error { return tx.AddDecision(newDecision(asked.ID, "bob", birth)) },
			func(tx store.Tx) error { return tx.AddVote(newDecision(asked.ID, "bob", birth)) }},
		{"one vote per actor", holdshort.AlreadyVoted, nil, func(tx store.Tx) error { return tx.AddVote(newDecision(asked.ID, "bob", birth)) },
			func(tx store.Tx) error { return tx.AddVote(newDecision(asked.ID, "eve", birth)) }},
		{"one use per call", holdshort.DecisionUsed, func(tx store.Tx) error { return tx.UseDecision(decision.ID, "call", "o1") },
			func(tx store.Tx) error { return tx.UseDecision(decision.ID, "call", "o2") }, func(tx store.Tx) error { return tx.UseDecision(decision.ID, "other", "o2") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bed{t, b.db}
			if c.first != nil {
				b.update(c.first)
			}
			companion := newRun(birth)
			for _, last := range []bool{true, false} {
				err := b.try(func(tx store.Tx) error {
					if last {
						return firstError(tx.PutRun(companion), c.twin(tx))
					}
					return firstError(c.twin(tx), tx.PutRun(companion))
				})
				b.refused(err, c.code)
				absent(b, "the companion", func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(companion.ID) })
			}
			// Both in one transaction.
			if c.other != nil {
				b.update(c.other)
			}
		})
	}
	if got := load(b, func(tx store.ReadTx) (holdshort.Session, error) { return tx.SessionAt("chat", "+49 1") }); got.ID != session.ID {
		b.Errorf("the address leads to %s, want %s", got.ID, session.ID)
	}
	if got := load(b, func(tx store.ReadTx) (holdshort.Request, error) { return tx.RequestAt(run.ID, "ask") }); got.ID != asked.ID {
		b.Errorf("the step leads to %s, want %s", got.ID, asked.ID)
	}
}
