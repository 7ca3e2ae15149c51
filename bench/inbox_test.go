package bench

import (
	"strings"
	"testing"
	"time"
)

// TestInboxLive: pages that are open are told what happens, and every figure of it is there.
func TestInboxLive(t *testing.T) {
	o := Options{Duration: 50 * time.Millisecond}.withDefaults()
	own, err := newTarget(o)
	if err != nil {
		t.Fatal(err)
	}
	defer own.close()
	live, err := measureInboxPages(t.Context(), own, o, 60)
	if err != nil {
		t.Fatal(err)
	}
	if live.Pages != 60 || live.QuietP99 < live.QuietP50 || live.Told == 0 || live.BusyP99 < live.BusyP50 || live.Events <= 0 {
		t.Errorf("%+v", live)
	}
	var said strings.Builder
	if live.write(&said); !strings.HasPrefix(said.String(), "60 live pages of 60 people: a request is on the page p50 ") {
		t.Errorf("it says %q", said.String())
	}
}

// TestWatchInboxRefused: whoever is not let in says so instead of waiting.
func TestWatchInboxRefused(t *testing.T) {
	var said strings.Builder
	if err := WatchInbox(t.Context(), 1, strings.NewReader("127.0.0.1:1\nnobody\n"), &said); err == nil || strings.Contains(said.String(), "open") {
		t.Errorf("%v; it says %q", err, said.String())
	}
	if err := WatchInbox(t.Context(), 2, strings.NewReader("127.0.0.1:1\n"), &said); err == nil {
		t.Error("keys are missing, and nobody says so")
	}
}
