package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// fleet is the workers: some alive, some frozen, some about to be started again.
type fleet struct {
	command []string // of a worker
	setup   workerSetup
	folder  string
	client  *http.Client

	mu       sync.Mutex
	offset   time.Duration
	workers  []*process // nil while one is down
	born     int
	stopping bool
	clock    bool // can be moved
	died     func(error)
}

func newFleet(command []string, setup workerSetup, folder string, size int, clock bool) *fleet {
	return &fleet{command: command, setup: setup, folder: folder, clock: clock, workers: make([]*process, size),
		client: &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// raise starts the worker of a place. A new process is a new node.
func (f *fleet) raise(i int) error {
	f.mu.Lock()
	f.born++
	setup := f.setup
	setup.Node, setup.Offset = fmt.Sprintf("node-%d-%d", i+1, f.born), f.offset
	f.mu.Unlock()
	p, err := startProcess(f.command, setup, filepath.Join(f.folder, fmt.Sprintf("worker-%d.log", i+1)))
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.workers[i] = p
	f.mu.Unlock()
	go f.mourn(i, p)
	return nil
}

// mourn tells of a worker that died though nobody killed it.
func (f *fleet) mourn(i int, p *process) {
	<-p.exited
	f.mu.Lock()
	own := f.workers[i] == p && !f.stopping
	f.mu.Unlock()
	if own {
		f.died(fmt.Errorf("worker %d died by itself: %v; its log ends with:\n%s", i+1, p.err, p.logEnd()))
	}
}

func (f *fleet) raiseAll() error {
	for i := range f.workers {
		if err := f.raise(i); err != nil {
			return err
		}
	}
	return nil
}

// kill ends the worker of a place without warning.
func (f *fleet) kill(i int) bool {
	f.mu.Lock()
	p := f.workers[i]
	f.workers[i] = nil
	f.mu.Unlock()
	if p != nil {
		p.kill()
	}
	return p != nil
}

func (f *fleet) killAll() {
	for i := range f.workers {
		f.kill(i)
	}
}

// at gives the worker of a place, nil while it is down.
func (f *fleet) at(i int) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers[i]
}

// stop ends all of them in good order, and says who did not manage.
func (f *fleet) stop() (faults []error) {
	f.mu.Lock()
	f.stopping = true
	f.mu.Unlock()
	for i := range f.workers {
		if p := f.at(i); p != nil {
			if err := p.stop(20 * time.Second); err != nil {
				faults = append(faults, fmt.Errorf("worker %d: %w; its log ends with:\n%s", i+1, err, p.logEnd()))
			}
		}
	}
	return faults
}

// any picks a worker that is up, frozen ones too: nobody can see that from outside.
func (f *fleet) any() (address string) { return f.pick(func(p *process) string { return p.address }) }

// anyAPI gives the address of the public API of a worker that is up.
func (f *fleet) anyAPI() string { return f.pick(func(p *process) string { return "http://" + p.api }) }

func (f *fleet) pick(of func(*process) string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := rand.IntN(len(f.workers))
	for i := range f.workers {
		if p := f.workers[(start+i)%len(f.workers)]; p != nil {
			return of(p)
		}
	}
	return ""
}

// moveClock lets the store's time jump.
func (f *fleet) moveClock(ctx context.Context, offset time.Duration) {
	f.mu.Lock()
	f.offset = offset
	f.mu.Unlock()
	_, _ = f.once(ctx, order{Clock: &offset}) // a worker that is down starts with it
}

// once hands an order to some worker. An error means that nobody knows what became of it.
func (f *fleet) once(ctx context.Context, o order) (a answered, err error) {
	address := f.any()
	if address == "" {
		return a, errNobody
	}
	body, err := json.Marshal(o)
	if err != nil {
		return a, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/do", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	reply, err := f.client.Do(r)
	if err != nil {
		return a, err
	}
	defer reply.Body.Close()
	return a, json.NewDecoder(reply.Body).Decode(&a)
}

var errNobody = &holdshort.Error{Code: holdshort.StoreUnavailable, Message: "no worker is up"}

// passing are codes that say nothing about the order: it is given again.
var passing = map[holdshort.Code]bool{holdshort.StoreUnavailable: true, holdshort.OutcomeUnknown: true, holdshort.StoreLocked: true, holdshort.StoreClosed: true,
	holdshort.LeaseLost: true, holdshort.Conflict: true}

// until gives an order again and again, to whoever is up, until somebody answers it. sent counts how often it may have been carried out.
func (f *fleet) until(ctx context.Context, o order) (a answered, sent int, err error) {
	for {
		a, err = f.once(ctx, o)
		if err != errNobody {
			sent++
		}
		if err == nil && !passing[a.Code] {
			return a, sent, nil
		}
		linger(ctx, time.Duration(5+rand.IntN(40))*time.Millisecond)
		if ctx.Err() != nil {
			return a, sent, ctx.Err()
		}
	}
}
