package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// overviews keeps what was counted for a short while, and lets those who ask at the same time wait for one count.
type overviews struct {
	mu      sync.Mutex
	kept    map[overviewKey]*overviewLook
	samples map[holdshort.TenantID]closedSample
}

type overviewKey struct {
	tenant holdshort.TenantID
	period time.Duration
}

type overviewLook struct {
	done chan struct{}
	at   time.Time
	o    Overview
	err  error
}

const (
	overviewFor  = 15 * time.Second
	overviewTime = 30 * time.Second
	mostKept     = 64

	sampleFor   = 10 * time.Minute
	mostSamples = 16
)

func (v *overviews) get(ctx context.Context, key overviewKey, count func(context.Context) (Overview, error)) (Overview, error) {
	v.mu.Lock()
	look := v.kept[key]
	if look == nil || time.Since(look.at) >= overviewFor {
		if v.kept == nil || len(v.kept) >= mostKept {
			v.kept = map[overviewKey]*overviewLook{}
		}
		look = &overviewLook{done: make(chan struct{}), at: time.Now()}
		v.kept[key] = look
		go v.count(context.WithoutCancel(ctx), key, look, count) // others wait for it too: it does not end with whoever asked first
	}
	v.mu.Unlock()
	select {
	case <-look.done:
		return look.o, look.err
	case <-ctx.Done():
		return Overview{}, ctx.Err()
	}
}

func (v *overviews) count(ctx context.Context, key overviewKey, look *overviewLook, count func(context.Context) (Overview, error)) {
	ctx, cancel := context.WithTimeout(ctx, overviewTime)
	defer cancel()
	defer close(look.done)
	if look.o, look.err = count(ctx); look.err == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept[key] == look { // the next one tries again
		delete(v.kept, key)
	}
}

// closedSample are the requests that were closed last, the latest first. What is closed changes no more, but for what is erased: it is enough
// to read what was added, and all of it now and then.
type closedSample struct {
	list []store.ClosedRequest
	more bool // there are others, closed before them
	read time.Time
}

func (v *overviews) sample(tx store.ReadTx) (closedSample, error) {
	v.mu.Lock()
	old := v.samples[tx.Tenant()]
	v.mu.Unlock()
	s := closedSample{read: old.read}
	from := tx.Now().Add(-overviewMost)
	if age := tx.Now().Sub(old.read); len(old.list) > 0 && age >= 0 && age < sampleFor {
		from = old.list[0].ClosedAt.Add(-clockSlack)
	} else {
		old, s.read = closedSample{}, tx.Now()
	}
	var err error
	if s.list, s.more, err = tx.ClosedRequests(from, store.MostClosed); err != nil {
		return s, err
	}
	if !s.more {
		i := slices.IndexFunc(old.list, func(c store.ClosedRequest) bool { return c.ClosedAt.Before(from) })
		if i >= 0 {
			s.list = append(s.list, old.list[i:]...)
		}
		s.more = old.more || len(s.list) > store.MostClosed
		s.list = s.list[:min(len(s.list), store.MostClosed)]
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.samples == nil || len(v.samples) >= mostSamples {
		v.samples = map[holdshort.TenantID]closedSample{}
	}
	v.samples[tx.Tenant()] = s
	return s, nil
}

// since gives those that were closed since then, and whether that is all of them.
func (s closedSample) since(at time.Time) (list []store.ClosedRequest, all bool) {
	i := slices.IndexFunc(s.list, func(c store.ClosedRequest) bool { return c.ClosedAt.Before(at) })
	if i >= 0 {
		return s.list[:i], true
	}
	return s.list, !s.more
}
