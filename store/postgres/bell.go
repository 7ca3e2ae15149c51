package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort/store/internal/wake"
)

// bell carries hints between nodes: at once within this one, and to the others in one NOTIFY for all that gathered while the one before was
// on its way. It is outside every transaction: a NOTIFY inside would make commits wait for one another.
type bell struct {
	store   *Store
	hub     wake.Hub
	node    string
	channel string
	mu      sync.Mutex
	topics  map[string]bool
	rung    chan struct{}
	ctx     context.Context
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

func newBell(s *Store) *bell {
	id := make([]byte, 8)
	rand.Read(id)
	b := &bell{store: s, node: hex.EncodeToString(id), topics: map[string]bool{}, rung: make(chan struct{}, 1)}
	b.channel = "holdshort_" + strings.TrimPrefix(s.db.Instance(), "ins_")
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

func (b *bell) start() {
	b.done.Go(b.send)
	b.done.Go(b.listen)
}

func (b *bell) stop() {
	b.cancel()
	b.done.Wait()
}

// Ring tells this node at once and the others soon.
func (b *bell) Ring(topics ...string) {
	b.hub.Ring(topics...)
	b.mu.Lock()
	for _, t := range topics {
		b.topics[t] = true
	}
	b.mu.Unlock()
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// Subscribe to hints of every node.
func (b *bell) Subscribe(topics ...string) (<-chan struct{}, func()) {
	return b.hub.Subscribe(topics...)
}

const (
	mostPayload = 7000 // PostgreSQL takes 8000 bytes
	everything  = "*"
	separator   = "\x1f"
)

func (b *bell) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := []string{b.node}
	size := 0
	for t := range b.topics {
		names = append(names, t)
		size += len(t) + 1
	}
	clear(b.topics)
	if size > mostPayload {
		names = []string{b.node, everything}
	}
	return strings.Join(names, separator)
}

func (b *bell) send() {
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.rung:
		}
		if _, err := b.store.pool.Exec(b.ctx, "SELECT pg_notify($1, $2)", b.channel, b.take()); err != nil && b.ctx.Err() == nil {
			b.store.options.Logger.Warn("tell other nodes", "error", err) // they find it by scanning
		}
	}
}

// listen hears the others. After every break it wakes everybody: what was said meanwhile is lost.
func (b *bell) listen() {
	wait := 100 * time.Millisecond
	for b.ctx.Err() == nil {
		err := b.hear(func() { wait = 100 * time.Millisecond })
		if b.ctx.Err() != nil {
			return
		}
		b.store.options.Logger.Warn("listen for other nodes", "error", err, "again_in", wait)
		pause(b.ctx, wait)
		wait = min(2*wait, 5*time.Second)
	}
}

func (b *bell) hear(connected func()) error {
	pg, err := pgx.ConnectConfig(b.ctx, b.store.config)
	if err != nil {
		return explain("connect", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		pg.Close(ctx)
	}()
	if _, err := pg.Exec(b.ctx, "LISTEN "+pgx.Identifier{b.channel}.Sanitize()); err != nil {
		return explain("listen", err)
	}
	connected()
	b.hub.RingAll()
	for {
		n, err := pg.WaitForNotification(b.ctx)
		if err != nil {
			return err
		}
		names := strings.Split(n.Payload, separator)
		switch {
		case names[0] == b.node:
		case len(names) == 2 && names[1] == everything:
			b.hub.RingAll()
		default:
			b.hub.Ring(names[1:]...)
		}
	}
}
