package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
)

// watcher follows the event stream of whichever worker is up, from the first event on. Wherever it is cut off, it goes on behind the last
// position that it saw: nothing may be missing, nothing come twice.
type watcher struct {
	door
	secret  string
	report  *Report
	fromNow bool // not from the first event on

	mu     sync.Mutex
	events map[holdshort.RequestID]map[string]int // by type; nil: positions are noted instead
	count  atomic.Int64

	positions []int64
	ids       []string
	last      int64
	joined    bool
	seen      atomic.Int64 // last and one, for others
	streams   int
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.stream(ctx)
		linger(ctx, time.Duration(5+rand.IntN(40))*time.Millisecond)
	}
}

// silence after which a stream is given up: the keep-alives of the server come more often.
const (
	silence      = 3 * time.Second  // of our own workers
	usualSilence = 50 * time.Second // of any other server
)

func (w *watcher) patience() time.Duration {
	if w.fromNow {
		return usualSilence
	}
	return silence
}

func (w *watcher) stream(ctx context.Context) {
	address := w.address()
	if address == "" {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+w.path(), nil)
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+w.secret)
	if w.last > 0 || w.joined {
		r.Header.Set("Last-Event-ID", strconv.FormatInt(w.last, 10))
	}
	quiet := time.AfterFunc(w.patience(), cancel)
	defer quiet.Stop()
	answer, err := w.client.Do(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		if answer.StatusCode != http.StatusServiceUnavailable {
			w.report.Violate(Audited, "the event stream was answered with status %d", answer.StatusCode)
		}
		return
	}
	w.streams++
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var id, event, data string
	for lines.Scan() {
		quiet.Reset(w.patience())
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data += value
		}
		if lines.Text() != "" {
			continue
		}
		if data != "" {
			w.take(id, event, data)
		}
		id, event, data = "", "", ""
	}
}

// take notes one event; half of one that was cut off does not come here.
func (w *watcher) take(id, event, data string) {
	position, err := strconv.ParseInt(id, 10, 64)
	switch {
	case event == "error": // why the stream ends: a server that stops
		return
	case err != nil:
		w.report.Violate(Audited, "the event stream gave %s the id %q", event, id)
		return
	case event == "connected" && w.fromNow && !w.joined:
		w.last, w.joined = position, true
		w.seen.Store(position + 1)
		return
	case event == "connected":
		if w.joined = true; position != w.last {
			w.report.Violate(Audited, "the event stream goes on behind %d, where %d was seen last", position, w.last)
		}
		return
	case event == engine.GapEvent:
		w.report.Violate(Audited, "the event stream has a gap behind %d", w.last)
		return
	case position <= w.last:
		w.report.Violate(Audited, "the event stream gave position %d after %d", position, w.last)
		return
	}
	var e api.Event
	if json.Unmarshal([]byte(data), &e) != nil || e.Position != position || e.Type != event {
		w.report.Violate(Audited, "the event stream gave at %d what is no event: %.200s", position, data)
		return
	}
	w.last = position
	w.seen.Store(position + 1)
	w.count.Add(1)
	if w.events == nil {
		w.positions, w.ids = append(w.positions, position), append(w.ids, string(e.ID))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.events[e.Request] == nil {
		w.events[e.Request] = map[string]int{}
	}
	w.events[e.Request][e.Type]++
}

func (w *watcher) path() string {
	if w.fromNow {
		return "/v1/events"
	}
	return "/v1/events?after=0"
}

// of counts events of a request.
func (w *watcher) of(id holdshort.RequestID, event string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events[id][event]
}

// at is the position up to which everything was seen, -1 before the first stream.
func (w *watcher) at() int64 { return w.seen.Load() - 1 }

// checkStream: what was streamed is what is stored, every position once and in order, up to where the stream was when the workers stopped.
func (x *examiner) checkStream(positions []int64, ids []string) {
	if x.stream == nil {
		return
	}
	x.counts.Streamed, x.counts.Streams = len(x.stream.positions), x.stream.streams
	faults := 0
	for i, at := range positions {
		if at > x.stream.last {
			break
		}
		if i >= len(x.stream.positions) || x.stream.positions[i] != at || x.stream.ids[i] != ids[i] {
			x.report.Violate(Audited, "event %s at position %d was not streamed in its place", ids[i], at)
			if faults++; faults > 3 {
				return
			}
		}
	}
	if n := len(x.stream.positions); n > len(positions) {
		x.report.Violate(Audited, "%d events were streamed of %d that are stored", n, len(positions))
	}
}
