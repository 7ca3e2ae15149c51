package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Look is what a tab looks like: the size of its screen and what its reader prefers. The zero value is a light desktop.
type Look struct {
	Width, Height int64 // default: 1440 × 1000
	Phone         bool  // 390 × 844, with fingers
	Dark          bool
	Calm          bool   // no motion
	Language      string // default: en
	Zone          string // default: UTC
	NoScript      bool
}

// patience is how long a page may take until something is as expected: the machine may be busy.
const patience = 30 * time.Second

// Tab is one page with cookies of its own.
type Tab struct {
	testing.TB
	ctx     context.Context
	mu      sync.Mutex
	said    []string // errors of the console
	Allowed []string // parts of console errors that are expected
}

// Tab opens one. It is closed at the end of the test, which fails if the page complained.
func (b *Browser) Tab(t testing.TB, look Look) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &Tab{TB: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	if err := chromedp.Do(ctx, tab.dress(look)...); err != nil {
		cancel()
		t.Fatalf("open a tab: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" {
				tab.mu.Lock()
				tab.said = append(tab.said, m.String())
				tab.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		for _, line := range tab.Complaints() {
			t.Errorf("the page complained: %s", line)
		}
	})
	return tab
}

func (tab *Tab) dress(l Look) []chromedp.Action[chromedp.Void] {
	if l.Width == 0 {
		l.Width, l.Height = 1440, 1000
	}
	scheme, motion := "light", "no-preference"
	if l.Dark {
		scheme = "dark"
	}
	if l.Calm {
		motion = "reduce"
	}
	if l.Language == "" {
		l.Language = "en"
	}
	if l.Zone == "" {
		l.Zone = "UTC"
	}
	size := chromedp.EmulateViewport(l.Width, l.Height)
	if l.Phone {
		size = chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	return []chromedp.Action[chromedp.Void]{size, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}}); err != nil {
			return err
		}
		// Tests run at the same time, and only one of their windows can have the focus.
		if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
			return err
		}
		if _, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: l.Zone}); err != nil {
			return err
		}
		if _, err := chromedp.Call(ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": json.RawMessage(`"` + l.Language + `"`)}}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: l.NoScript})
		return err
	})}
}

// Dress gives the tab another look. What the page was told when it was loaded, such as the language, takes another load.
func (tab *Tab) Dress(look Look) { tab.Helper(); tab.do("dress", tab.dress(look)...) }

// Excess is by how many pixels the page is wider than the screen.
func (tab *Tab) Excess() int {
	tab.Helper()
	return Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`)
}

// Complaints are the errors that the page wrote to its console, without those that are expected.
func (tab *Tab) Complaints() (lines []string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, line := range tab.said {
		expected := false
		for _, part := range tab.Allowed {
			expected = expected || strings.Contains(line, part)
		}
		if !expected {
			lines = append(lines, line)
		}
	}
	return lines
}

func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.shotOfFault()
		tab.Fatalf("%s: %v", what, err)
	}
}

// redrawn is part of Chromium's error for an element that the page replaced after it was found and before it was located on the screen.
const redrawn = "Could not find node with given id"

// click finds an element and presses it. Live pages redraw themselves: an element that was replaced before it was pressed is looked for again.
func (tab *Tab) click(what string, step chromedp.Action[chromedp.Void]) {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	err := chromedp.Do(ctx, step)
	for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), redrawn) {
		err = chromedp.Do(ctx, step)
	}
	if err != nil {
		tab.shotOfFault()
		tab.Fatalf("%s: %v", what, err)
	}
}

// Open goes to an address.
func (tab *Tab) Open(url string) { tab.Helper(); tab.do("open "+url, chromedp.Navigate(url)) }

// Reload loads the page again.
func (tab *Tab) Reload() { tab.Helper(); tab.do("reload", chromedp.Reload()) }

// Click presses what a selector finds, once it is there and visible.
func (tab *Tab) Click(selector string) {
	tab.Helper()
	tab.click("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// DoubleClick presses twice at once what a selector finds.
func (tab *Tab) DoubleClick(selector string) {
	tab.Helper()
	tab.click("double click "+selector, chromedp.DoubleClick(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type writes into a field, in place of what is there.
func (tab *Tab) Type(selector, text string) {
	tab.Helper()
	tab.do("type into "+selector, chromedp.Focus(chromedp.CSS(selector), chromedp.NodeVisible), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).select?.()`, selector)), press(text))
}

// Press sends keys to whatever has the focus.
func (tab *Tab) Press(keys string) { tab.Helper(); tab.do("press "+keys, press(keys)) }

// press is a key as a keyboard sends it: what a page does with it keeps its letter from being written, also where the focus has moved meanwhile.
func press(keys string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, r := range keys {
			down := kb.Encode(r)[0]
			if key, ok := kb.Keys[r]; !ok {
				down.Text = string(r)
			} else if key.Print || r == '\r' {
				down.Text, down.UnmodifiedText = key.Text, key.Unmodified
			}
			up := *down
			up.Type, up.Text, up.UnmodifiedText = kb.KeyUp, "", ""
			for _, event := range []input.DispatchKeyEventParams{*down, up} {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, event); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Wait waits until an expression is true on the page. It asks again and again from here: the timers of a page stand still where scripts are
// off, and are gone when the page goes elsewhere.
func (tab *Tab) Wait(expression string) {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && is {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			tab.shotOfFault()
			tab.Fatalf("wait for %s: %v", expression, errors.Join(err, ctx.Err()))
		}
	}
}

// Shows waits until what a selector finds contains a text.
func (tab *Tab) Shows(selector, text string) {
	tab.Helper()
	tab.Wait(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(e => e.innerText.includes(%q))`, selector, text))
}

// Gone waits until a selector finds nothing that can be seen.
func (tab *Tab) Gone(selector string) {
	tab.Helper()
	tab.Wait(fmt.Sprintf(`![...document.querySelectorAll(%q)].some(e => e.checkVisibility())`, selector))
}

// Text is what a selector finds, as it can be read.
func (tab *Tab) Text(selector string) string {
	tab.Helper()
	return Eval[string](tab, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

// Eval gives the value of an expression on the page.
func Eval[T any](tab *Tab, expression string) T {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// Offline takes the network away, or gives it back.
func (tab *Tab) Offline(off bool) {
	tab.Helper()
	tab.do("offline", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		var rules []*network.Conditions
		if off {
			rules = []*network.Conditions{{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}}
		}
		if _, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
		return err
	}))
}

// Shot writes a picture of what is on the screen.
func (tab *Tab) Shot(path string) {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	raw, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, raw, 0o644)
		}
	}
	if err != nil {
		tab.Errorf("picture %s: %v", path, err)
	}
}

// shotOfFault keeps what the page looked like when something was not as expected.
func (tab *Tab) shotOfFault() {
	if dir := os.Getenv("HOLDSHORT_TEST_SHOTS"); dir != "" {
		tab.Shot(filepath.Join(dir, strings.NewReplacer("/", "_", " ", "_").Replace(tab.Name())+".png"))
	}
	if lines := tab.Complaints(); len(lines) > 0 {
		tab.Logf("the page complained: %s", strings.Join(lines, "\n"))
	}
}
