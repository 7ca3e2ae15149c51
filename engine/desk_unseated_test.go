package engine_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// unseated is a store whose requests have not all found their seats.
type unseated struct{ store.Store }

type unseatedTx struct{ store.ReadTx }

func (unseatedTx) Seated() (bool, error) { return false, nil }

func (s unseated) View(ctx context.Context, tenant holdshort.TenantID, fn func(store.ReadTx) error) error {
	return s.Store.View(ctx, tenant, func(tx store.ReadTx) error { return fn(unseatedTx{tx}) })
}

// TestUnseatedDesk: until every request has its seats a desk is read the long way, and shows the same.
func TestUnseatedDesk(t *testing.T) {
	s, err := sqlite.OpenTemporary(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conf := engine.Config{Logger: slog.New(slog.DiscardHandler), Keyring: s.Keyring()}
	quick, err1 := engine.New(s, conf)
	long, err2 := engine.New(unseated{s}, conf)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	crowd(t, s, 250, 31)
	for name, actor := range deskActors {
		for _, q := range []engine.DeskQuery{{}, {Order: store.ByNewest, Limit: 7}, {Kinds: []holdshort.Kind{holdshort.Reconcile}, Priority: holdshort.PriorityNormal}, {Assignee: "ana", Order: store.ByExpiry}} {
			got, want := deskOf(t, long, q, actor), deskOf(t, quick, q, actor)
			if len(got) != len(want) {
				t.Fatalf("%s, %+v: %d requests, want %d", name, q, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%s, %+v: %s comes instead of %s", name, q, got[i], want[i])
				}
			}
		}
		got, err1 := long.DeskCounts(t.Context(), tenant, actor)
		want, err2 := quick.DeskCounts(t.Context(), tenant, actor)
		if err1 != nil || err2 != nil || got.All != want.All || got.Mine != want.Mine || got.Unknown != want.Unknown || got.Soon != want.Soon || !got.Oldest.Equal(want.Oldest) {
			t.Errorf("%s counts %+v, want %+v (%v, %v)", name, got, want, err1, err2)
		}
	}
}
