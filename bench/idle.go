package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// waiting is what an engine costs that has nothing to do.
type waiting struct {
	Open, Ready time.Duration
	RSS, Bytes  int64
	Goroutines  int
	Inbox       []time.Duration // how long the first page took
}

// alone measures an idle engine in a process that has done nothing else: one that has just stored a million rows keeps memory of that.
func (t *target) alone(ctx context.Context, o Options, w *waiting) error {
	looks := enough(o.Parked, 500)
	if o.Self == "" || t.url != "" {
		return t.wait(ctx, w, looks)
	}
	cmd := exec.CommandContext(ctx, o.Self, "bench", "--idle", t.path, "--looks", strconv.Itoa(looks))
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("an engine in a process of its own: %w: %s", err, bytes.TrimSpace(wrong.Bytes()))
	}
	return json.Unmarshal(said.Bytes(), w)
}

// Idle opens a SQLite store, puts an engine beside it, reads the inbox and writes what that cost.
func Idle(ctx context.Context, path string, looks int, out io.Writer) error {
	var w waiting
	t := &target{path: path}
	if err := t.wait(ctx, &w, looks); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(w)
}

// wait opens the store, starts an engine, reads the inbox and looks at the process.
func (t *target) wait(ctx context.Context, w *waiting, looks int) (err error) {
	start := time.Now()
	s, err := t.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w.Open = time.Since(start)
	k, err := startKernel(ctx, s, 64)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(k.stop(), err) }()
	w.Ready = time.Since(start)
	for range looks {
		start := time.Now()
		err := s.View(ctx, tenant, func(tx store.ReadTx) error {
			_, err := tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen, Limit: 50})
			return err
		})
		if err != nil {
			return err
		}
		w.Inbox = append(w.Inbox, time.Since(start))
	}
	health, err := s.System().Health(ctx) // also what an engine counts once it is up
	w.Bytes = health.Bytes
	debug.FreeOSMemory()
	w.RSS, w.Goroutines = residentMemory(), runtime.NumGoroutine()
	return err
}

// residentMemory of this process in bytes, 0 where the system does not say.
func residentMemory() int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
