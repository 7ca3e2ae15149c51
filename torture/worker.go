package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

const (
	realTenant holdshort.TenantID = "torture"
	realLease                     = 2 * time.Second
)

// workerSetup is the line that a worker reads first. It comes through a pipe: a store's URL may hold a password.
type workerSetup struct {
	Store   string        `json:"store"`
	Keyring string        `json:"keyring,omitempty"`
	Counter string        `json:"counter"`
	Node    string        `json:"node"`
	Offset  time.Duration `json:"offset"` // of the clock, on SQLite
	HTTP    bool          `json:"http"`   // serve the public API too
}

// realStore is what both drivers' stores can do.
type realStore interface {
	store.Store
	Keyring() *holdshort.Keyring
}

// openReal opens sqlite:PATH or postgres://…
func openReal(ctx context.Context, url, keyring string, clock func() time.Time, log *slog.Logger) (realStore, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		s, err := sqlite.Open(ctx, path, sqlite.Options{KeyringFile: keyring, Clock: clock, Logger: log})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := postgres.Open(ctx, url, postgres.Options{KeyringFile: keyring, Logger: log})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// worker is one process that carries runs on, and that is killed.
type worker struct {
	store  realStore
	engine *engine.Engine
	offset atomic.Int64
}

// RunWorker opens the store, runs an engine with the torture's flows and tools, and does what its parent asks, until ctx ends or the parent
// does.
func RunWorker(ctx context.Context, in io.Reader, out, logs io.Writer) error {
	ctx, told, err := attend(ctx, in)
	if err != nil {
		return err
	}
	var setup workerSetup
	if err := json.Unmarshal(told, &setup); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	w := &worker{}
	w.offset.Store(int64(setup.Offset))
	log := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if w.store, err = openReal(ctx, setup.Store, setup.Keyring, w.now, log); err != nil {
		return err
	}
	defer w.store.Close()
	world := newOutside(setup.Counter)
	world.timed = !w.store.Exclusive() // where nobody else can have the store its clock is ours to move
	desk, err := realAgent(world, setup.Node)
	if err != nil {
		return err
	}
	w.engine, err = engine.New(w.store, engine.Config{Flows: append(realFlows(world, setup.Node), desk.Flow()), Tools: realTools(world), Policy: realRules, Node: setup.Node,
		Agents: map[string]string{deskAgent: agentFlow}, Observer: passes{}, Senders: map[string]engine.Sender{lineChannel: line{world}}, Lease: realLease, Drain: 3 * time.Second, Logger: log})
	if err != nil {
		return err
	}
	loops, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- w.engine.Run(loops) }()
	select {
	case <-w.engine.Ready():
	case err := <-ended:
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /do", w.do)
	var open http.Handler
	closing := func() {}
	if setup.HTTP {
		server, err := publicAPI(w.engine, log)
		if err != nil {
			return err
		}
		open, closing = server, server.Close
	}
	var drained error
	err = serve(ctx, mux, open, out, func() {
		closing()
		stop()
		drained = <-ended
	})
	if err == nil {
		err = drained
	}
	return err
}

// publicAPI is what holdshort serve answers, without a limit on how often one caller may call.
func publicAPI(e *engine.Engine, log *slog.Logger) (*api.Server, error) {
	who, err := identity.New(e, identity.Config{Tenant: realTenant, Keys: true, Logger: log})
	if err != nil {
		return nil, err
	}
	return api.New(e, who, api.Options{Rate: -1, KeepAlive: silence / 3, Logger: log})
}

// line carries messages to people: the counter takes them down.
type line struct{ outside }

func (l line) Send(ctx context.Context, _ holdshort.TenantID, d holdshort.Delivery) error {
	return l.deliver(ctx, string(d.RunID), d.Key)
}

// Timeout is short: what was being sent when its process died is sent again that much earlier.
func (line) Timeout() time.Duration { return workerTimeout }

// now is the machine's time as somebody has set it.
func (w *worker) now() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }
