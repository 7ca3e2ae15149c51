package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// systems: what works across tenants says whose each thing is, and touches only whose turn it is.
func (w *twins) systems() map[string]func(*bed) {
	ctx := context.Background()
	untouched := func(b *bed, tenants []holdshort.TenantID, do func()) {
		b.Helper()
		var before []string
		for _, tenant := range tenants {
			before = append(before, b.dump(tenant))
		}
		do()
		for i, tenant := range tenants {
			if after := b.dump(tenant); after != before[i] {
				b.Errorf("%s's rows changed from\n%s\nto\n%s", tenant, before[i], after)
			}
		}
	}
	both := []holdshort.TenantID{acme, rival}
	noError := func(b *bed, err error) {
		b.Helper()
		if err != nil {
			b.Errorf("got %v", err)
		}
	}
	ofBoth := func(b *bed, tenants []holdshort.TenantID) {
		b.Helper()
		slices.Sort(tenants)
		if !slices.Equal(tenants, both) {
			b.Errorf("got those of %v, want one of each tenant", tenants)
		}
	}
	return map[string]func(*bed){
		"Now": func(b *bed) { untouched(b, both, func() { b.now() }) },
		"AcceptRestore": func(b *bed) {
			untouched(b, both, func() { b.refused(b.system().AcceptRestore(ctx, holdshort.SystemActor("test")), holdshort.WrongState) })
		},
		"Acquire": func(b *bed) {
			untouched(b, both, func() {
				_, err := b.system().Acquire(ctx, string(w.run.ID), "node", time.Minute)
				noError(b, err)
			})
		},
		"Index": func(b *bed) {
			b.index()
			for _, tenant := range both {
				page := loadOf(b, tenant, func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
					return tx.Search(store.SearchQuery{Words: "of"})
				})
				if len(page.Items) != 1 || page.Items[0].Question != "of "+string(tenant) {
					b.Errorf("%s finds %+v", tenant, page.Items)
				}
			}
		},
		"Release": func(b *bed) {
			untouched(b, both, func() {
				noError(b, b.system().Release(ctx, string(w.run.ID), holdshort.Lease{Owner: "node", Epoch: 1}))
			})
		},
		"ClaimRuns": func(b *bed) {
			untouched(b, []holdshort.TenantID{rival}, func() {
				var seen []holdshort.TenantID
				_, err := b.system().ClaimRuns(ctx, store.RunClaim{Flows: []store.FlowVersion{{Flow: "refund", Version: 1}}, Limit: 10},
					func(tx store.Tx, r holdshort.Run) error {
						if seen = append(seen, tx.Tenant()); string(r.Input) != fmt.Sprintf("%q", "of "+string(tx.Tenant())) {
							return fmt.Errorf("%s was handed %s", tx.Tenant(), r.Input)
						}
						if tx.Tenant() == rival {
							return nil
						}
						r.Wake++
						return tx.PutRun(r)
					})
				noError(b, err)
				ofBoth(b, seen)
			})
		},
		"ClaimDeliveries": func(b *bed) {
			untouched(b, []holdshort.TenantID{rival}, func() {
				var seen []holdshort.TenantID
				_, err := b.system().ClaimDeliveries(ctx, store.DeliveryClaim{Channels: []string{"chat"}, Limit: 10},
					func(tx store.Tx, d holdshort.Delivery) error {
						if seen = append(seen, tx.Tenant()); string(d.Body) != fmt.Sprintf("%q", "of "+string(tx.Tenant())) {
							return fmt.Errorf("%s was handed %s", tx.Tenant(), d.Body)
						}
						if tx.Tenant() == rival {
							return nil
						}
						d.Attempt++
						return tx.PutDelivery(d)
					})
				noError(b, err)
				ofBoth(b, seen)
			})
		},
		"DueTimers": func(b *bed) {
			due, _, err := b.system().DueTimers(ctx, 10)
			noError(b, err)
			var seen []holdshort.TenantID
			for _, d := range due {
				seen = append(seen, d.Tenant)
			}
			ofBoth(b, seen)
		},
		"UnroutedInbound": func(b *bed) {
			refs, err := b.system().UnroutedInbound(ctx, b.now(), 10)
			noError(b, err)
			var seen []holdshort.TenantID
			for _, r := range refs {
				seen = append(seen, r.Tenant)
			}
			ofBoth(b, seen)
		},
		"KeyByHash": func(b *bed) {
			for _, tenant := range both {
				whose, key, err := b.system().KeyByHash(ctx, w.hash(w.key.Hash, tenant))
				if err != nil || whose != tenant || key.Name != "of "+string(tenant) || key.ID != w.key.ID {
					b.Errorf("the key of %s is %+v of %s (%v)", tenant, key, whose, err)
				}
			}
		},
		"LoginByHash": func(b *bed) {
			for _, tenant := range both {
				whose, login, err := b.system().LoginByHash(ctx, w.hash(w.login.Hash, tenant))
				if err != nil || whose != tenant || login.Actor.Name != "of "+string(tenant) {
					b.Errorf("the login of %s is %+v of %s (%v)", tenant, login, whose, err)
				}
			}
		},
		"LaggingWebhooks": func(b *bed) {
			refs, err := b.system().LaggingWebhooks(ctx, 10)
			noError(b, err)
			var seen []holdshort.TenantID
			for _, r := range refs {
				seen = append(seen, r.Tenant)
			}
			ofBoth(b, seen)
		},
		"Prune": func(b *bed) {
			untouched(b, []holdshort.TenantID{rival}, func() {
				b.updateOf(acme, func(tx store.Tx) error {
					r, err := tx.Run(w.run.ID)
					if err != nil {
						return err
					}
					q, err := tx.Request(w.request.ID)
					if err != nil {
						return err
					}
					o, err := tx.Operation(w.operation.ID)
					r.Status, r.EndedAt, q.Status, o.Status, o.ClosedAt = holdshort.RunCanceled, birth.AddDate(-20, 0, 0), holdshort.RequestCanceled, holdshort.OperationDone, tx.Now()
					return firstError(err, tx.PutRun(r), tx.PutRequest(q), tx.PutOperation(o))
				})
				_, err := b.system().Prune(ctx, store.Retention{Journals: 24 * time.Hour, Records: 24 * time.Hour})
				noError(b, err)
				absent(b, "acme's pruned run", func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(w.run.ID) })
			})
		},
		"Stamp":  func(b *bed) { untouched(b, both, func() { b.stamp() }) },
		"Seal":   func(b *bed) { untouched(b, both, func() { b.seal(1000) }) },
		"Verify": func(b *bed) { untouched(b, both, func() { b.verifies() }) },
		"VerifyTail": func(b *bed) {
			untouched(b, both, func() {
				if v := b.tail(10); v.Events == 0 || len(v.Faults) > 0 {
					b.Errorf("the tail of both is %+v", v)
				}
			})
		},
		"Export": func(b *bed) {
			noError(b, b.system().Export(ctx, func(r store.Record) error {
				if r.Event != nil && strings.HasPrefix(r.Event.Actor, "of ") && r.Event.Actor != "of "+string(r.Tenant) {
					return errors.New("an event " + r.Event.Actor + " is exported as one of " + string(r.Tenant))
				}
				return nil
			}))
		},
		"ExamineRuns": func(b *bed) {
			untouched(b, both, func() {
				found, err := b.system().ExamineRuns(ctx, 1000)
				noError(b, err)
				tenants := map[holdshort.TenantID]bool{}
				for _, f := range found.Faults { // the twins' runs are stored without digests
					tenants[f.Tenant] = true
				}
				if len(tenants) != 2 {
					b.Errorf("the examination names runs of %v, want each under its own tenant", tenants)
				}
			})
		},
		"Health": func(b *bed) {
			h, err := b.system().Health(ctx)
			noError(b, err)
			if h.Tenants != 2 {
				b.Errorf("health counts %d tenants of 2", h.Tenants)
			}
		},
	}
}

func testTenantNames(b *bed) {
	for _, name := range []holdshort.TenantID{"", "Acme", "a b", "../a", "a\x00b", "é", "_system", "-a", ".a", "_a", holdshort.TenantID(strings.Repeat("a", 65))} {
		ran := false
		err := b.store().Update(context.Background(), name, func(store.Tx) error { ran = true; return nil })
		b.refused(err, holdshort.Invalid)
		if name != holdshort.SystemTenant {
			b.refused(b.store().View(context.Background(), name, func(store.ReadTx) error { ran = true; return nil }), holdshort.Invalid)
		}
		if ran {
			b.Errorf("the function ran for tenant %q", name)
		}
	}
	for _, name := range []holdshort.TenantID{"a", "0", "a.b-c_d", holdshort.TenantID(strings.Repeat("a", 64))} {
		b.viewOf(name, func(store.ReadTx) error { return nil })
	}
}
