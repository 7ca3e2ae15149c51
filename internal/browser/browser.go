// Package browser drives a real Chromium in tests of the pages.
// Only tests import it; it imports the package of npm modules for tests.
package browser

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Skip is the environment variable that leaves these tests out, where there is no browser. The test then says so.
const Skip = "HOLDSHORT_TEST_SKIP_BROWSER"

// names that Chromium has, by distribution. The one without windows needs half of the CPU time.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"}

// Browser is one running browser. Every tab has cookies of its own.
type Browser struct{ ctx context.Context }

// running is the browser of this test binary: to start one takes a second.
var running struct {
	sync.Mutex
	*Browser
	stop func()
}

// Start gives the browser of this test binary. Stop ends it.
func Start(t testing.TB) *Browser {
	t.Helper()
	if os.Getenv(Skip) == "1" {
		t.Skipf("LEFT OUT because %s=1: the pages are not opened in a browser", Skip)
	}
	running.Lock()
	defer running.Unlock()
	if running.Browser != nil && running.ctx.Err() == nil {
		return running.Browser
	}
	path := find()
	if path == "" {
		t.Fatalf("no Chromium is on PATH: install the Debian package chromium-headless-shell (scripts/browser does), or set %s=1", Skip)
	}
	dir, err := os.MkdirTemp("", "holdshort-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-renderer-backgrounding", true), chromedp.WSURLReadTimeout(time.Minute))
	allocated, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocated)
	if err := chromedp.Do(ctx); err != nil {
		end()
		release()
		os.RemoveAll(dir)
		t.Fatalf("start %s: %v", path, err)
	}
	running.Browser = &Browser{ctx: ctx}
	running.stop = func() {
		end()
		release()
		os.RemoveAll(dir)
	}
	return running.Browser
}

// Stop ends the browser of this test binary, if there is one: TestMain calls it last.
func Stop() {
	running.Lock()
	defer running.Unlock()
	if running.stop != nil {
		running.stop()
		running.Browser, running.stop = nil, nil
	}
}

func find() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
