package torture

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func frame(position int, event string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: {\"id\":\"evt_%d\",\"position\":%d,\"type\":%q}\n\n", position, event, position, position, event)
}

// TestWatcherSees: what a stream loses, repeats or mixes up is told, also across connections.
func TestWatcherSees(t *testing.T) {
	connected := func(n int) string { return frame(n, "connected") }
	stored := []int64{1, 2, 3}
	for _, tt := range []struct {
		name    string
		streams []string
		broken  bool
	}{
		{"all of it", []string{connected(0) + frame(1, "a") + frame(2, "b") + frame(3, "c")}, false},
		{"cut off between two", []string{connected(0) + frame(1, "a"), connected(1) + ": still here\n\n" + frame(2, "b") + frame(3, "c")}, false},
		{"cut off within one", []string{connected(0) + frame(1, "a") + frame(2, "b")[:20], connected(1) + frame(2, "b") + frame(3, "c")}, false},
		{"one is lost", []string{connected(0) + frame(1, "a") + frame(3, "c")}, true},
		{"one comes twice", []string{connected(0) + frame(1, "a") + frame(2, "b"), connected(2) + frame(2, "b") + frame(3, "c")}, true},
		{"out of order", []string{connected(0) + frame(2, "b") + frame(1, "a") + frame(3, "c")}, true},
		{"goes on elsewhere", []string{connected(0) + frame(1, "a"), connected(2) + frame(3, "c")}, true},
		{"a gap", []string{connected(0) + frame(1, "a"), connected(1) + frame(1, "events.gap") + frame(3, "c")}, true},
		{"another event than is stored", []string{connected(0) + strings.ReplaceAll(frame(1, "a"), "evt_1", "evt_9") + frame(2, "b") + frame(3, "c")}, true},
		{"no event at all", []string{connected(0) + "id: 1\nevent: a\ndata: nothing\n\n" + frame(2, "b") + frame(3, "c")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				n++
				_, _ = rw.Write([]byte(tt.streams[n-1]))
			}))
			defer server.Close()
			w := &watcher{door: newDoor(func() string { return server.URL }), report: &Report{}}
			for range tt.streams {
				w.stream(t.Context())
			}
			x := &examiner{report: w.report, stream: w}
			x.checkStream(stored, []string{"evt_1", "evt_2", "evt_3"})
			if got := w.report.Violations[Audited] > 0; got != tt.broken {
				t.Errorf("violated: %v, want %v: %v", got, tt.broken, w.report.Faults)
			}
		})
	}
}
