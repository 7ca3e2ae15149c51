package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/store"
)

// testFairness: one tenant with five thousand rows (five hundred in an ordinary run) delays no other tenant, whatever
// its name is and however old its rows are.
func testFairness(t *testing.T, d Driver) {
	many := 500
	if testall.Enabled() {
		many = 5000
	}
	for heavy, n := range map[holdshort.TenantID]int{"aaa": many, "mmm": 100, "zzz": 100} {
		t.Run("beside "+string(heavy), func(t *testing.T) { testBesideHeavy(open(t, d, Options{}), heavy, n) })
	}
	t.Run("more tenants than places", func(t *testing.T) { testManyTenants(open(t, d, Options{})) })
}

func testBesideHeavy(b *bed, heavy holdshort.TenantID, many int) {
	const limit = 40
	now := b.now()
	burden := func(tenant holdshort.TenantID, n int, age time.Duration) {
		at := now.Add(-age)
		b.updateOf(tenant, func(tx store.Tx) error {
			return firstError(tx.PutRun(newRun(at)), tx.PutDelivery(newDelivery("key", at)), tx.PutInbound(newInbound("key", at)),
				tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "run", DueAt: at}))
		})
		b.multiply("runs", tenant, n-1, "id")
		b.multiply("outbox", tenant, n-1, "id", "key")
		b.multiply("inbound", tenant, n-1, "id", "key")
		b.multiply("timers", tenant, n-1, "subject")
	}
	burden(heavy, many, time.Hour)
	light := []holdshort.TenantID{"bbb", "nnn", "yyy"}
	for i, tenant := range light {
		burden(tenant, i+1, time.Minute)
	}
	check := func(what string, tenants map[holdshort.TenantID]int) {
		b.Helper()
		total := 0
		for _, n := range tenants {
			total += n
		}
		for i, tenant := range light {
			if tenants[tenant] != i+1 {
				b.Errorf("%s: the first %d have %d of %s, want all %d: %v", what, limit, tenants[tenant], tenant, i+1, tenants)
			}
		}
		if total != limit {
			b.Errorf("%s: the first %d are only %d: %v", what, limit, total, tenants)
		}
	}
	tenants := map[holdshort.TenantID]int{}
	due, _, err := b.system().DueTimers(context.Background(), limit)
	if err != nil {
		b.Fatalf("due timers: %v", err)
	}
	for _, d := range due {
		tenants[d.Tenant]++
	}
	check("timers", tenants)

	clear(tenants)
	for _, r := range b.claim("node", limit) {
		tenants[r.tenant]++
	}
	check("runs", tenants)

	clear(tenants)
	_, err = b.system().ClaimDeliveries(context.Background(), store.DeliveryClaim{Channels: []string{"chat"}, Limit: limit},
		func(tx store.Tx, _ holdshort.Delivery) error { tenants[tx.Tenant()]++; return nil })
	if err != nil {
		b.Fatalf("claim deliveries: %v", err)
	}
	check("deliveries", tenants)

	clear(tenants)
	refs, err := b.system().UnroutedInbound(context.Background(), now, limit)
	if err != nil {
		b.Fatalf("list what is not routed: %v", err)
	}
	for _, r := range refs {
		tenants[r.Tenant]++
	}
	check("accepted messages", tenants)
}

// multiply copies the one row that a tenant has in a table, n times, each with other names.
func (b *bed) multiply(table string, tenant holdshort.TenantID, n int, names ...string) {
	b.Helper()
	if n == 0 {
		return
	}
	var values []string
	columns := slices.DeleteFunc(slices.Clone(b.db.Columns(b)[table]), func(c string) bool { return c == "ins" })
	for _, column := range columns {
		if slices.Contains(names, column) {
			column += " || '_' || i"
		}
		values = append(values, column)
	}
	got := b.db.Exec(b, "WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < "+fmt.Sprint(n)+") INSERT INTO "+table+" ("+
		strings.Join(columns, ", ")+") SELECT "+strings.Join(values, ", ")+" FROM "+table+", numbers WHERE tenant = ?", string(tenant))
	if got != int64(n) {
		b.Fatalf("%d copies in %s, want %d", got, table, n)
	}
}

// testManyTenants: when not everybody fits, those who have waited longest go first.
func testManyTenants(b *bed) {
	const tenants, each, limit = 12, 3, 4
	now := b.now()
	for round := range each {
		for i := range tenants {
			tenant := holdshort.TenantID(fmt.Sprintf("t%02d", i))
			at := now.Add(time.Duration(round*tenants+i-1000) * time.Second)
			b.updateOf(tenant, func(tx store.Tx) error {
				run := newRun(at)
				return firstError(tx.PutRun(run), tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: string(run.ID), DueAt: at}))
			})
		}
	}
	served := map[holdshort.TenantID]int{}
	for range tenants / limit * 2 {
		got := b.claim("node", limit)
		if len(got) != limit {
			b.Fatalf("claimed %d of %d that are free", len(got), limit)
		}
		for _, r := range got {
			served[r.tenant]++
		}
	}
	if len(served) != tenants {
		b.Errorf("after %d claims of %d only %d of %d tenants had a turn: %v", tenants/limit*2, limit, len(served), tenants, served)
	}
	clear(served)
	for range tenants / limit * 2 {
		due, _, err := b.system().DueTimers(context.Background(), limit)
		if err != nil {
			b.Fatalf("due timers: %v", err)
		}
		for _, d := range due {
			served[d.Tenant]++
			b.updateOf(d.Tenant, func(tx store.Tx) error { return tx.DropTimer(d.Timer.Kind, d.Timer.Subject, d.Timer.Key) })
		}
	}
	if len(served) != tenants {
		b.Errorf("only %d of %d tenants had a timer fired: %v", len(served), tenants, served)
	}
}
