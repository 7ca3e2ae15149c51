package storetest

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// sequencer takes the right to stamp and seal.
func (b *bed) sequencer() holdshort.Lease {
	b.Helper()
	lease, err := b.system().Acquire(context.Background(), store.SequencerLease, "sequencer", time.Hour)
	if err != nil {
		b.Fatalf("acquire the sequencer's lease: %v", err)
	}
	return lease
}

// stamp gives every committed event its position.
func (b *bed) stamp() {
	b.Helper()
	lease := b.sequencer()
	for {
		n, err := b.system().Stamp(context.Background(), lease, 1000)
		if err != nil {
			b.Fatalf("stamp: %v", err)
		}
		if n == 0 {
			return
		}
	}
}

// seal closes what is there; nil if there is nothing.
func (b *bed) seal(limit int) *holdshort.Seal {
	b.Helper()
	b.stamp()
	seal, err := b.system().Seal(context.Background(), b.sequencer(), limit)
	if err != nil {
		b.Fatalf("seal: %v", err)
	}
	b.stamp()
	return seal
}

func (b *bed) verdict() store.Verdict {
	b.Helper()
	b.stamp()
	v, err := b.system().Verify(context.Background())
	if err != nil {
		b.Fatalf("verify: %v", err)
	}
	return v
}

// verifies wants a log without a fault.
func (b *bed) verifies() store.Verdict {
	b.Helper()
	v := b.verdict()
	for _, f := range v.Faults {
		b.Errorf("verify finds %+v", f)
	}
	for _, f := range b.tail(store.MostTail).Faults {
		b.Errorf("verifying the tail finds %+v", f)
	}
	return v
}

// tail is what is found in the last events alone.
func (b *bed) tail(events int) store.Verdict {
	b.Helper()
	v, err := b.system().VerifyTail(context.Background(), events)
	if err != nil {
		b.Fatalf("verify the tail: %v", err)
	}
	return v
}

// log writes n events, spread over runs, sessions and the tenant, and gives the streams.
func (b *bed) log(n int) []string {
	b.Helper()
	run, other, session := newRun(birth), newRun(birth), newSession(birth)
	for i := range n {
		b.update(func(tx store.Tx) error {
			e := holdshort.Event{Type: "run.created", Trace: "trace", Flow: "refund", Actor: "ann", Channel: "chat", Code: "code", Request: newRequest(birth).ID,
				Data: []byte(`{"n":1}`)}
			switch i % 4 {
			case 0:
				e.Run, e.Session = run.ID, session.ID
			case 1:
				e.Run = other.ID
			case 2:
				e.Session = session.ID
			}
			return tx.AddEvent(e)
		})
	}
	return []string{string(run.ID), string(other.ID), string(session.ID), holdshort.TenantStream}
}

// events reads all stamped events of a tenant.
func (b *bed) events(tenant holdshort.TenantID) []holdshort.Event {
	b.Helper()
	b.stamp()
	var out []holdshort.Event
	for after := int64(0); ; {
		page := loadOf(b, tenant, func(tx store.ReadTx) (store.Events, error) { return tx.Events(store.EventQuery{After: after}) })
		out = append(out, page.Items...)
		if page.Last == after {
			return out
		}
		after = page.Last
	}
}

// export reads the whole log.
func (b *bed) export() []store.Record {
	b.Helper()
	var out []store.Record
	if err := b.system().Export(context.Background(), func(r store.Record) error { out = append(out, r); return nil }); err != nil {
		b.Fatalf("export: %v", err)
	}
	return out
}
