package postgres

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// wire stands between a node and the server and can die without a word: nothing passes, and neither side learns that the other one went.
type wire struct {
	listener net.Listener
	server   string
	done     sync.WaitGroup
	dead     atomic.Bool                               // all of it, new connections too
	accepted atomic.Int64                              // connections
	dies     atomic.Pointer[func(message []byte) bool] // whether a connection dies instead of carrying this message of the node

	mu   sync.Mutex
	open []net.Conn
}

// behindWire is a database whose node reaches it over a wire.
func behindWire(t *testing.T, o Options) (*database, *wire) {
	t.Helper()
	d := migratedDatabase(t, o)
	u, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, server: u.Host}
	w.done.Go(w.accept)
	t.Cleanup(func() {
		l.Close()
		w.cut()
		w.done.Wait()
	})
	direct := d.url
	u.Host = l.Addr().String()
	d.url = u.String()
	d.open(t)
	d.url = direct
	t.Cleanup(func() { d.close(t) })
	if err := d.store.Update(ctx, "warm", count("run_warm"), store.RunRow("run_warm")); err != nil { // its lane is connected
		t.Fatal(err)
	}
	return d, w
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.accepted.Add(1)
		server, err := net.Dial("tcp", w.server)
		if err != nil {
			client.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, client, server)
		w.mu.Unlock()
		f := &flow{wire: w, client: client, server: server}
		w.done.Go(f.forward)
		w.done.Go(f.backward)
	}
}

// cut ends all that is open, and both sides learn of it.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		c.Close()
	}
	w.open = nil
}

// mend makes the wire carry again what is new on it.
func (w *wire) mend() {
	w.dead.Store(false)
	w.cut()
}

// flow is one connection over the wire.
type flow struct {
	wire           *wire
	client, server net.Conn
	dead           atomic.Bool
}

func (f *flow) isDead() bool { return f.dead.Load() || f.wire.dead.Load() }

// end closes both sides, unless a dead wire tells nobody.
func (f *flow) end() {
	if !f.isDead() {
		f.client.Close()
		f.server.Close()
	}
}

func (f *flow) forward() {
	defer f.end()
	message, err := readStartup(f.client)
	for ; err == nil; message, err = readMessage(f.client) {
		if dies := f.wire.dies.Load(); dies != nil && (*dies)(message) {
			f.dead.Store(true)
		}
		if !f.isDead() && write(f.server, message) != nil {
			return
		}
	}
}

func (f *flow) backward() {
	defer f.end()
	for {
		message, err := readMessage(f.server)
		if err != nil {
			return
		}
		if !f.isDead() && write(f.client, message) != nil {
			return
		}
	}
}

// TestDeadWireMidPipeline: one connection dies in the middle of a batch. The server has half of it, waits for the rest and holds the locks;
// none of its time limits runs there. The node ends it from its next connection, and the row is free for everybody.
func TestDeadWireMidPipeline(t *testing.T) {
	t.Parallel()
	d, w := behindWire(t, Options{Lanes: 1, Patience: 2 * time.Second})
	other := d.another(t, nil)
	died := make(chan struct{})
	var mu sync.Mutex
	marked, over := false, false
	dies := func(message []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case message[0] == 'B':
			marked = bytes.Contains(message, []byte("marker"))
		case message[0] == 'E' && marked:
			over = true
			close(died)
			return true
		}
		return false
	}
	w.dies.Store(&dies)
	written := make(chan error, 1)
	go func() {
		written <- d.store.Update(ctx, "acme", func(tx store.Tx) error {
			return tx.PutRun(holdshort.Run{ID: "run_1", Agent: "marker", Status: holdshort.RunQueued, Flow: "refund", CreatedAt: tx.Now()})
		}, store.RunRow("run_1"))
	}()
	select {
	case <-died:
	case err := <-written:
		t.Fatalf("the wire never died, and the answer is %v", err)
	}
	limit, cancel := context.WithTimeout(ctx, safetyLimit)
	defer cancel()
	for err := error(holdshort.StoreUnavailable); err != nil; {
		if err = other.Update(ctx, "acme", count("run_2"), store.RunRow("run_1")); err != nil && limit.Err() != nil {
			t.Fatalf("the row is still held: %v", err)
		}
	}
	if err := <-written; err != nil {
		t.Errorf("only one connection died, and the answer is %v", err)
	}
	if wake, events := d.counted(t, "run_2"); wake != 1 || events != 1 {
		t.Errorf("the other node's took effect %d times, with %d events", wake, events)
	}
}

// TestGroupOnDeadDatabase: the database stops answering while many are queued. They learn of it together, not one after the other's patience.
func TestGroupOnDeadDatabase(t *testing.T) {
	t.Parallel()
	const callers = 40
	d, w := behindWire(t, Options{Lanes: 1, Patience: 2 * time.Second})
	w.dead.Store(true)
	before := w.accepted.Load()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			id := holdshort.RunID(fmt.Sprint("run_", i))
			if err := d.store.Update(ctx, "acme", count(id), store.RunRow(id)); err == nil {
				t.Error("a dead database acknowledged")
			}
		})
	}
	wg.Wait()
	if tries := w.accepted.Load() - before; tries > callers/4 { // one by one, each caller would have the node connect anew
		t.Errorf("the node connected %d times for %d callers", tries, callers)
	}
	w.mend()
	if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

// TestViewOnDeadDatabase: the database stops answering just as a view's function returns. The view ends all the same.
func TestViewOnDeadDatabase(t *testing.T) {
	t.Parallel()
	d, w := behindWire(t, Options{Patience: 2 * time.Second})
	limit, cancel := context.WithTimeout(ctx, safetyLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- d.store.View(limit, "warm", func(tx store.ReadTx) error {
			_, err := tx.Run("run_warm")
			w.dead.Store(true)
			return err
		})
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("what it read was good, and the answer is %v", err)
		}
		if limit.Err() != nil {
			t.Error("it waited for its context")
		}
	case <-limit.Done():
		t.Error("it hangs")
	}
	w.mend()
	if err := d.store.View(ctx, "warm", func(tx store.ReadTx) error { _, err := tx.Run("run_warm"); return err }); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}
