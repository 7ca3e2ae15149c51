package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// hanging is a channel that answers when the test says so.
type hanging struct{ until chan struct{} }

func (h hanging) Send(ctx context.Context, _ holdshort.TenantID, _ holdshort.Delivery) error {
	select {
	case <-h.until:
	case <-ctx.Done():
	}
	return nil
}

// TestHangingChannel: receivers that hang, however many, hold up nobody on another channel.
func TestHangingChannel(t *testing.T) {
	hang := hanging{make(chan struct{})}
	box := &postbox{}
	r := newRoom(t, Config{Senders: map[string]Sender{"chat": box, WebhookChannel: hang}})
	put := func(channel string, n int) {
		t.Helper()
		err := r.store.Update(t.Context(), acme, func(tx store.Tx) error {
			for i := range n {
				d := holdshort.Delivery{ID: holdshort.NewDeliveryID(tx.Now()), Key: fmt.Sprint(channel, i), Status: holdshort.DeliveryQueued, Channel: channel, Body: []byte(`{}`), DueAt: tx.Now(), CreatedAt: tx.Now()}
				if err := tx.PutDelivery(d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(WebhookChannel, mostFlying+100)
	for n := 1; n > 0; {
		var err error
		if n, _, err = r.dispatch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.outbox.flying.Load(); got < mostOfChannel || got >= mostOfChannel+sendsAtOnce {
		t.Errorf("%d are under way, want about %d", got, mostOfChannel)
	}
	put("chat", 3)
	_, wait, err := r.dispatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wait() // for those of chat alone: nothing else was claimed
	box.mu.Lock()
	got := len(box.got)
	box.mu.Unlock()
	if got != 3 {
		t.Errorf("%d of 3 were said meanwhile", got)
	}
	close(hang.until)
}
