package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort/model"
)

// flaky fails with each of its errors in turn, half-way through its words, and then answers.
type flaky struct {
	errs  []error
	times []time.Time
}

func (f *flaky) Generate(ctx context.Context, _ model.Request, say func(string)) (model.Response, error) {
	f.times = append(f.times, time.Now())
	if say != nil {
		say("half ")
	}
	if n := len(f.times); n <= len(f.errs) {
		return model.Response{Text: "half "}, f.errs[n-1]
	}
	if say != nil {
		say("and half")
	}
	return model.Response{Text: "half and half"}, nil
}

func (f *flaky) waits() []time.Duration {
	var all []time.Duration
	for i := 1; i < len(f.times); i++ {
		all = append(all, f.times[i].Sub(f.times[i-1]))
	}
	return all
}

func fail(kind model.Kind, after time.Duration) error { return &model.Error{Kind: kind, After: after} }

func TestRetrying(t *testing.T) {
	busy := fail(model.Overloaded, 0)
	for name, c := range map[string]struct {
		errs  []error
		retry model.Retry
		calls int
		waits []time.Duration // the longest; a quarter may be taken off
		exact bool
		fails model.Kind
	}{
		"answers":              {nil, model.Retry{}, 1, nil, false, ""},
		"once":                 {[]error{busy}, model.Retry{}, 2, []time.Duration{500 * time.Millisecond}, false, ""},
		"doubles":              {[]error{busy, busy, busy}, model.Retry{}, 4, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, false, ""},
		"gives up":             {[]error{busy, busy, busy, busy}, model.Retry{}, 4, nil, false, model.Overloaded},
		"more often":           {[]error{busy, busy, busy, busy}, model.Retry{Times: 9}, 5, nil, false, ""},
		"never":                {[]error{busy}, model.Retry{Times: -1}, 1, nil, false, model.Overloaded},
		"not longer than most": {[]error{busy, busy, busy}, model.Retry{Wait: 8 * time.Second, Most: 10 * time.Second}, 4, []time.Duration{8 * time.Second, 10 * time.Second, 10 * time.Second}, false, ""},
		"as long as asked":     {[]error{fail(model.RateLimited, 7*time.Second)}, model.Retry{}, 2, []time.Duration{7 * time.Second}, true, ""},
		"but not for ever":     {[]error{fail(model.RateLimited, time.Hour)}, model.Retry{}, 2, []time.Duration{30 * time.Second}, true, ""},
		"rejected":             {[]error{fail(model.Rejected, 0)}, model.Retry{}, 1, nil, false, model.Rejected},
		"malformed":            {[]error{fail(model.Malformed, 0)}, model.Retry{}, 1, nil, false, model.Malformed},
		"too large":            {[]error{fail(model.TooLarge, 0)}, model.Retry{}, 1, nil, false, model.TooLarge},
		"broken":               {[]error{fail(model.Unreachable, 0), fail(model.Timeout, 0), fail(model.Truncated, 0)}, model.Retry{}, 4, nil, false, ""},
		"many":                 {slices.Repeat([]error{busy}, 80), model.Retry{Times: 80}, 81, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &flaky{errs: c.errs}
				var heard string
				ctx := model.WithRestart(t.Context(), func() { heard = "" })
				got, err := model.Retrying(f, c.retry).Generate(ctx, model.Request{}, func(text string) { heard += text })
				if len(f.times) != c.calls {
					t.Errorf("asked %d times, want %d", len(f.times), c.calls)
				}
				var e *model.Error
				if c.fails != "" {
					if !errors.As(err, &e) || e.Kind != c.fails {
						t.Errorf("%v, want %s", err, c.fails)
					}
					return
				}
				if err != nil || got.Text != "half and half" || heard != got.Text {
					t.Errorf("%q, heard %q, %v", got.Text, heard, err)
				}
				waits := f.waits()
				for i, longest := range c.waits {
					if waits[i] > longest || waits[i] < longest*3/4 || c.exact && waits[i] != longest {
						t.Errorf("wait %d was %v, want about %v", i, waits[i], longest)
					}
				}
				for _, w := range waits {
					if w > 30*time.Second {
						t.Errorf("waited %v", w)
					}
				}
			})
		})
	}
}

func TestRetryingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fail(model.RateLimited, 10*time.Second)

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		_, err := model.Retrying(&flaky{errs: []error{busy}}, model.Retry{}).Generate(ctx, model.Request{}, nil)
		if !errors.Is(err, context.Canceled) || time.Since(begin) != time.Second {
			t.Errorf("canceled: %v after %v", err, time.Since(begin))
		}

		// A wait that would outlast the deadline is not begun, and what is reported is what went wrong.
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begin = time.Now()
		_, err = model.Retrying(&flaky{errs: []error{busy}}, model.Retry{}).Generate(ctx, model.Request{}, nil)
		if !errors.Is(err, busy) || time.Since(begin) != 0 {
			t.Errorf("too late: %v after %v", err, time.Since(begin))
		}

		// An attempt that fails because the caller is gone is not made again.
		ctx, cancel = context.WithCancel(t.Context())
		calls := 0
		gone := model.Func(func(context.Context, model.Request, func(string)) (model.Response, error) {
			calls++
			cancel()
			return model.Response{}, fail(model.Unreachable, 0)
		})
		if _, err = model.Retrying(gone, model.Retry{}).Generate(ctx, model.Request{}, nil); !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("gone: %v after %d calls", err, calls)
		}
	})
}

func TestPriced(t *testing.T) {
	plain := model.Func(func(context.Context, model.Request, func(string)) (model.Response, error) {
		return model.Response{Usage: model.Usage{Input: 1000, Cached: 400, Output: 10}}, nil
	})
	got, err := model.Priced(plain, model.Prices{Input: 2, Cached: 0.5, Output: 8}).Generate(t.Context(), model.Request{}, nil)
	if err != nil || got.Usage.Cost != 600*2+200+80 {
		t.Errorf("%d, %v", got.Usage.Cost, err)
	}
}
