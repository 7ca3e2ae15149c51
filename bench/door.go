package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
)

// door is a kernel with its HTTP API on loopback, and somebody who calls it.
type door struct {
	*kernel
	url    string
	secret string
	client *http.Client
	close  func() error
}

func openDoor(ctx context.Context, k *kernel, connections int) (*door, error) {
	who, err := identity.New(k.Engine, identity.Config{Tenant: tenant, Keys: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	server, err := api.New(k.Engine, who, api.Options{Rate: -1, Streams: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	_, secret, err := k.CreateKey(ctx, tenant, engine.CreateKeyInput{Name: "bench", Roles: reviewer.Roles, User: reviewer.ID, Actor: holdshort.SystemActor("bench")})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: server, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go s.Serve(listener)
	d := &door{kernel: k, url: "http://" + listener.Addr().String(), secret: secret}
	d.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true}}
	d.close = func() error {
		server.Close()
		d.client.CloseIdleConnections()
		return s.Close()
	}
	return d, nil
}

// call makes one call and reads the answer into out.
func (d *door) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, d.url+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+d.secret)
	answer, err := d.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d: %s", method, path, answer.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

type shownRun struct {
	ID           string              `json:"id"`
	Status       holdshort.RunStatus `json:"status"`
	OpenRequests []string            `json:"open_requests"`
}

// httpCycle starts a run, decides what it asks and waits until it is completed, over HTTP.
func (d *door) httpCycle(ctx context.Context) (lap, error) {
	begin := time.Now()
	var run shownRun
	if err := d.call(ctx, "POST", "/v1/runs", api.Begin{Flow: cycleFlow.Name, Input: input, Agent: "desk"}, &run); err != nil {
		return lap{}, err
	}
	if len(run.OpenRequests) != 1 {
		if err := d.call(ctx, "GET", "/v1/runs/"+run.ID+"?wait=30s", nil, &run); err != nil {
			return lap{}, err
		}
	}
	if len(run.OpenRequests) != 1 {
		return lap{}, fmt.Errorf("run %s is %s and asks %d questions", run.ID, run.Status, len(run.OpenRequests))
	}
	decided := time.Now()
	if err := d.call(ctx, "POST", "/v1/requests/"+run.OpenRequests[0]+"/decision", api.Choice{Action: "approve"}, nil); err != nil {
		return lap{}, err
	}
	if err := d.call(ctx, "GET", "/v1/runs/"+run.ID+"?wait=30s", nil, &run); err != nil {
		return lap{}, err
	}
	if run.Status != holdshort.RunCompleted {
		return lap{}, fmt.Errorf("run %s is %s", run.ID, run.Status)
	}
	return lap{time.Since(begin), time.Since(decided)}, nil
}

// laps lets callers do one after the other for a while.
func laps(ctx context.Context, callers int, d time.Duration, do func(context.Context) (lap, error)) ([]lap, time.Duration, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		all   []lap
		first error
	)
	start := time.Now()
	for range callers {
		wg.Go(func() {
			var own []lap
			for len(own) == 0 || time.Since(start) < d {
				l, err := do(ctx)
				if err != nil {
					mu.Lock()
					first = errors.Join(first, err)
					mu.Unlock()
					return
				}
				own = append(own, l)
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all, time.Since(start), first
}
