package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testKeys(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	ctx := context.Background()
	key, later := newKey(birth), newKey(birth.Add(time.Second))
	b.update(func(tx store.Tx) error { return firstError(tx.PutKey(key), tx.PutKey(later)) })

	tenant, found, err := b.system().KeyByHash(ctx, key.Hash)
	if err != nil || tenant != acme || found.ID != key.ID || !slices.Equal(found.Roles, key.Roles) || found.Revision != 1 {
		b.Errorf("found %+v of %s: %v", found, tenant, err)
	}
	for _, hash := range []string{"", "unknown", "a\x00b", "\xff", "' OR 1=1 --", key.Hash + " ", strings.ToUpper(key.Hash)} {
		tenant, found, err := b.system().KeyByHash(ctx, hash)
		if !errors.Is(err, holdshort.NotFound) || tenant != "" || found.ID != "" {
			b.Errorf("hash %q finds %+v of %q: %v", hash, found, tenant, err)
		}
		if len(hash) > 3 && strings.Contains(err.Error(), hash) {
			b.Errorf("the error names what was tried: %v", err)
		}
	}
	list := load(b, func(tx store.ReadTx) ([]holdshort.Key, error) { return tx.Keys() })
	if len(list) != 2 || list[0].ID != later.ID || list[1].ID != key.ID {
		b.Errorf("listed %+v, want the newest first", list)
	}

	twin := newKey(birth)
	twin.Hash = key.Hash
	b.refused(b.store().Update(ctx, "rival", func(tx store.Tx) error { return tx.PutKey(twin) }), holdshort.Duplicate)

	touch := func(at time.Time) time.Time {
		b.Helper()
		b.update(func(tx store.Tx) error { return tx.TouchKey(key.ID, at) })
		return load(b, func(tx store.ReadTx) (holdshort.Key, error) { return tx.Key(key.ID) }).LastUsedAt
	}
	if got := touch(birth.Add(time.Hour)); !got.Equal(birth.Add(time.Hour)) {
		b.Errorf("last used at %v", got)
	}
	if got := touch(birth.Add(time.Minute)); !got.Equal(birth.Add(time.Hour)) {
		b.Errorf("an older use made it %v", got)
	}
	// Who revokes it has read it before it was used, and neither undoes the other.
	found.RevokedAt = birth.Add(2 * time.Hour)
	b.update(func(tx store.Tx) error { return tx.PutKey(found) })
	got := load(b, func(tx store.ReadTx) (holdshort.Key, error) { return tx.Key(key.ID) })
	if !got.RevokedAt.Equal(found.RevokedAt) || !got.LastUsedAt.Equal(birth.Add(time.Hour)) {
		b.Errorf("revoked at %v, last used at %v", got.RevokedAt, got.LastUsedAt)
	}
	b.refused(b.try(func(tx store.Tx) error { return tx.PutKey(found) }), holdshort.Conflict)
	b.refused(b.try(func(tx store.Tx) error { k := newKey(birth); k.Hash = ""; return tx.PutKey(k) }), holdshort.Invalid)
}

func testLogins(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	ctx := context.Background()
	now := b.now()
	link, old := newLogin(now), newLogin(now.Add(-10*day))
	b.update(func(tx store.Tx) error { return firstError(tx.AddLogin(link), tx.AddLogin(old)) })
	tenant, found, err := b.system().LoginByHash(ctx, link.Hash)
	if err != nil || tenant != acme || found.Actor.ID != "ann" || !found.UsedAt.IsZero() {
		b.Errorf("found %+v of %s: %v", found, tenant, err)
	}
	if _, _, err := b.system().LoginByHash(ctx, "unknown"); !errors.Is(err, holdshort.NotFound) {
		b.Errorf("an unknown one: %v", err)
	}
	b.refused(b.store().Update(ctx, "rival", func(tx store.Tx) error { return tx.AddLogin(link) }), holdshort.Duplicate)
	b.refused(b.store().Update(ctx, "rival", func(tx store.Tx) error { return tx.UseLogin(link.Hash) }), holdshort.Conflict)

	won := make(chan error, 20)
	for range cap(won) {
		go func() {
			won <- b.try(func(tx store.Tx) error { return tx.UseLogin(link.Hash) }, store.LoginRow(link.Hash))
		}()
	}
	winners := 0
	for range cap(won) {
		if err := receive(b, "an answer", won); err == nil {
			winners++
		} else if !errors.Is(err, holdshort.Conflict) {
			b.Errorf("a loser hears %v", err)
		}
	}
	if winners != 1 {
		b.Errorf("%d used a link that is good for one", winners)
	}
	if used := load(b, func(tx store.ReadTx) (holdshort.Login, error) { return tx.Login(link.Hash) }); used.UsedAt.IsZero() {
		b.Error("nothing tells that it was used")
	}

	if got := b.prune(store.Retention{Replays: 7 * day}); got.Logins != 1 {
		b.Errorf("%d logins were pruned, want the one that expired long ago", got.Logins)
	}
	absent(b, "a login of long ago", func(tx store.ReadTx) (holdshort.Login, error) { return tx.Login(old.Hash) })
	load(b, func(tx store.ReadTx) (holdshort.Login, error) { return tx.Login(link.Hash) })
}

func testWebhooks(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	lagging := func() []holdshort.WebhookID {
		b.Helper()
		refs, err := b.system().LaggingWebhooks(context.Background(), 10)
		if err != nil {
			b.Fatal(err)
		}
		var ids []holdshort.WebhookID
		for _, r := range refs {
			ids = append(ids, r.ID)
		}
		return ids
	}
	hook, off := newWebhook(birth), newWebhook(birth.Add(time.Second))
	off.Disabled = holdshort.WebhookGone
	b.update(func(tx store.Tx) error { return firstError(tx.PutWebhook(hook), tx.PutWebhook(off)) })
	if got := lagging(); len(got) != 0 {
		b.Errorf("%v lag behind nothing", got)
	}
	b.update(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
	b.stamp()
	if got := lagging(); !slices.Equal(got, []holdshort.WebhookID{hook.ID}) {
		b.Errorf("%v lag behind, want the one that is on", got)
	}
	last := load(b, func(tx store.ReadTx) (store.Events, error) { return tx.Events(store.EventQuery{}) }).Last
	hook.Revision, hook.Cursor = 1, last
	b.update(func(tx store.Tx) error { return tx.PutWebhook(hook) })
	if got := lagging(); len(got) != 0 {
		b.Errorf("%v lag although they have seen all", got)
	}
	b.updateOf("rival", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
	b.stamp()
	if got := lagging(); len(got) != 0 {
		b.Errorf("%v lag behind another tenant", got)
	}
	b.refused(b.try(func(tx store.Tx) error { return tx.PutWebhook(hook) }), holdshort.Conflict)
	list := load(b, func(tx store.ReadTx) ([]holdshort.Webhook, error) { return tx.Webhooks() })
	if len(list) != 2 || list[0].ID != hook.ID || list[1].ID != off.ID {
		b.Errorf("listed %+v, want the oldest first", list)
	}
	b.update(func(tx store.Tx) error { return tx.DropWebhook(off.ID) })
	absent(b, "a dropped webhook", func(tx store.ReadTx) (holdshort.Webhook, error) { return tx.Webhook(off.ID) })
	b.refused(b.try(func(tx store.Tx) error { return tx.DropWebhook(off.ID) }), holdshort.NotFound)
	b.refused(b.store().Update(context.Background(), "rival", func(tx store.Tx) error { return tx.DropWebhook(hook.ID) }), holdshort.NotFound)
}

func testDeliveriesByKey(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	b.update(func(tx store.Tx) error {
		for i := range 7 {
			for _, prefix := range []string{"whk_a:", "whk_b:", "whk_a", "whk_a;", "whk_", "x:"} {
				if err := tx.PutDelivery(newDelivery(fmt.Sprint(prefix, "evt_", i), birth)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, limit := range []int{1, 2, 3, 7, 100} {
		var keys []string
		cursor := ""
		for {
			p := load(b, func(tx store.ReadTx) (store.Page[holdshort.Delivery], error) {
				return tx.Deliveries(store.DeliveryQuery{Prefix: "whk_a:", Cursor: cursor, Limit: limit})
			})
			keys = append(keys, idsOf(p.Items, func(d holdshort.Delivery) string { return d.Key })...)
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		if want := []string{"whk_a:evt_6", "whk_a:evt_5", "whk_a:evt_4", "whk_a:evt_3", "whk_a:evt_2", "whk_a:evt_1", "whk_a:evt_0"}; !slices.Equal(keys, want) {
			b.Errorf("by %d: %v", limit, keys)
		}
	}
	for _, prefix := range []string{"", "\xff", "é", "a~", "a\x7f"} {
		b.refused(b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
			_, err := tx.Deliveries(store.DeliveryQuery{Prefix: prefix})
			return err
		}), holdshort.Invalid)
	}
}
