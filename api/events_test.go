package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// heard is one server-sent event.
type heard struct {
	ID, Name, Data string
}

func (h heard) position(t *testing.T) int64 {
	t.Helper()
	n, err := strconv.ParseInt(h.ID, 10, 64)
	if err != nil {
		t.Fatalf("%+v: %v", h, err)
	}
	return n
}

// radio is an open stream.
type radio struct {
	t        *testing.T
	res      *http.Response
	lines    *bufio.Scanner
	cancel   context.CancelFunc
	comments int
}

// tune opens a stream and waits until it says that it is connected.
func (d *door) tune(t *testing.T, who, path string, headers ...string) *radio {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	r, err := http.NewRequestWithContext(ctx, "GET", d.http.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.as(t, who))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := d.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	radio := &radio{t: t, res: res, lines: bufio.NewScanner(res.Body), cancel: cancel}
	t.Cleanup(radio.close)
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("GET %s: %d %s", path, res.StatusCode, res.Header)
	}
	if first, ok := radio.next(); !ok || first.Name != "connected" || first.ID == "" {
		t.Fatalf("the first event is %+v", first)
	}
	return radio
}

func (r *radio) close() {
	r.cancel()
	r.res.Body.Close()
}

// next gives the next event; false: the stream ended.
func (r *radio) next() (h heard, ok bool) {
	for r.lines.Scan() {
		line := r.lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && h.Name != "":
			return h, true
		case strings.HasPrefix(line, ":"):
			r.comments++
		case name == "id":
			h.ID = value
		case name == "event":
			h.Name = value
		case name == "data":
			h.Data = value
		}
	}
	return heard{}, false
}

// until gives events up to the first with a name.
func (r *radio) until(name string) []heard {
	r.t.Helper()
	var all []heard
	for {
		h, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended before %s: %+v", name, all)
		}
		if all = append(all, h); h.Name == name {
			return all
		}
	}
}

func names(all []heard) []string {
	var out []string
	for _, h := range all {
		out = append(out, h.Name)
	}
	return out
}

// TestEvents: whoever listens hears what happens, in order, and what they may see.
func TestEvents(t *testing.T) {
	d := newHouse(t)
	all, mine, reviewers, nobody := d.tune(t, "olga", "/v1/events"), d.tune(t, "ben", "/v1/events"), d.tune(t, "ana", "/v1/events"), d.tune(t, "eve", "/v1/events")
	run, id := d.starts(t, "refund", refund{"77", 120})
	if a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "approve"}); a.status != 200 {
		t.Fatalf("%s", a.body)
	}
	heardByAll := all.until("run.completed")
	if !slices.IsSortedFunc(heardByAll, func(a, b heard) int { return int(a.position(t) - b.position(t)) }) {
		t.Errorf("out of order: %+v", heardByAll)
	}
	if got := names(mine.until("run.completed")); !slices.Contains(got, "hitl.interrupt.paused") || !slices.Contains(got, "run.created") {
		t.Errorf("ben hears %v", got)
	}
	// ana is asked, and hears of the request; of the run itself she hears nothing.
	if got := names(reviewers.until("hitl.request.decided")); slices.ContainsFunc(got, func(n string) bool { return strings.HasPrefix(n, "run.") }) {
		t.Errorf("ana hears %v", got)
	}
	a := d.call(t, "eve", "POST", "/v1/runs", map[string]any{"flow": "refund", "input": refund{"78", 1}})
	if a.status != 201 {
		t.Fatalf("%s", a.body)
	}
	var hers shownRun
	a.into(t, &hers)
	for _, h := range nobody.until("hitl.interrupt.paused") {
		if !strings.Contains(h.Data, string(hers.ID)) || strings.Contains(h.Data, string(run.ID)) {
			t.Errorf("eve hears %+v", h)
		}
	}
}

// TestEventFilters: a stream of one run, or of some names, has nothing else in it; what is not there or not theirs is 404.
func TestEventFilters(t *testing.T) {
	d := newHouse(t)
	one, _ := d.starts(t, "refund", refund{"1", 1})
	two, second := d.starts(t, "refund", refund{"2", 2})
	r := d.tune(t, "ben", "/v1/events?after=0&run="+string(two.ID))
	got := r.until("hitl.interrupt.paused")
	for _, h := range got {
		if !strings.Contains(h.Data, string(two.ID)) {
			t.Errorf("%+v", h)
		}
	}
	some := d.tune(t, "olga", "/v1/events?after=0&type="+url.QueryEscape("run.created,hitl.request.*")+"&type=run.completed")
	d.call(t, "ana", "POST", "/v1/requests/"+string(second)+"/decision", map[string]any{"action": "reject"})
	if got := names(some.until("hitl.request.decided")); !slices.Equal(got, []string{"run.created", "hitl.request.created", "run.created", "hitl.request.created", "hitl.request.decided"}) {
		t.Errorf("%v", got)
	}
	for path, want := range map[string]int{
		"/v1/events?run=" + string(one.ID):            404,
		"/v1/events?run=run_unknown":                  404,
		"/v1/events?session=ses_unknown":              404,
		"/v1/sessions/ses_unknown/events":             404,
		"/v1/events?type=%3Cscript%3E":                400,
		"/v1/events?after=-3":                         400,
		"/v1/events?after=soon":                       400,
		"/v1/events?unknown=1":                        400,
		"/v1/events?type=" + strings.Repeat("a,", 30): 400,
	} {
		if a := d.call(t, "eve", "GET", path, nil); a.status != want || a.code(t) == "" {
			t.Errorf("%s: %d %s, want %d", path, a.status, a.body, want)
		}
	}
}

// TestEventsKeepAlive: a quiet stream says that it is there.
func TestEventsKeepAlive(t *testing.T) {
	d := newHouse(t)
	r := d.tune(t, "olga", "/v1/events?type=run.completed")
	for r.comments == 0 {
		if !r.lines.Scan() {
			t.Fatal("the stream ended")
		}
		if strings.HasPrefix(r.lines.Text(), ":") {
			r.comments++
		}
	}
}

// TestEventsOfRevokedKey: a key that is revoked ends its streams, with the reason in the stream.
func TestEventsOfRevokedKey(t *testing.T) {
	d := newHouse(t)
	key, secret, err := d.engine.CreateKey(t.Context(), tenant, engine.CreateKeyInput{Name: "watch", Roles: []string{policy.Auditor}, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	d.keys["watcher"] = secret
	r := d.tune(t, "watcher", "/v1/events")
	if a := d.call(t, "admin", "DELETE", "/v1/keys/"+string(key.ID), nil); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	last := heard{}
	for {
		h, ok := r.next()
		if !ok {
			break
		}
		last = h
	}
	var p struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal([]byte(last.Data), &p); err != nil || last.Name != "error" || p.Code != "unauthenticated" {
		t.Errorf("the stream ended with %+v", last)
	}
}

// TestEventsAcrossRestart: a reader who reconnects with the id of the last event it saw hears every event once, although the server and the
// engine went away in the middle and came back on the same file.
func TestEventsAcrossRestart(t *testing.T) {
	d := newHouse(t)
	path, keys := d.path, map[string]string{}
	r := d.tune(t, "olga", "/v1/events?after=0")
	d.as(t, "ben")
	var mu sync.Mutex
	var got []heard
	read := func(r *radio) { // until the stream breaks
		for {
			h, ok := r.next()
			if !ok {
				return
			}
			mu.Lock()
			got = append(got, h)
			mu.Unlock()
		}
	}
	const rounds, each = 4, 15
	for round := range rounds {
		var reading sync.WaitGroup
		reading.Go(func() { read(r) })
		for i := range each {
			a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "refund", "input": refund{fmt.Sprint(round, "-", i), 1}})
			if a.status != 201 {
				t.Fatalf("%s", a.body)
			}
		}
		for k, v := range d.keys {
			keys[k] = v
		}
		d.stop() // in the middle of the stream
		reading.Wait()
		r.close()
		d = openHouse(t, path)
		for k, v := range keys {
			d.keys[k] = v
		}
		last := "0"
		if len(got) > 0 {
			last = got[len(got)-1].ID
		}
		r = d.tune(t, "olga", "/v1/events?after=0", "Last-Event-ID", last)
	}
	if a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "refund", "input": refund{"the last", 1}}); a.status != 201 {
		t.Fatalf("%s", a.body)
	}
	found, err := d.engine.Events(t.Context(), tenant, engine.EventQuery{Types: []string{"run.created"}})
	for err == nil {
		next, e := d.engine.Events(t.Context(), tenant, engine.EventQuery{After: found.Last, Types: []string{"run.created"}})
		if err = e; next.Last == found.Last {
			break
		}
		found.Items, found.Last = append(found.Items, next.Items...), next.Last
	}
	if err != nil || len(found.Items) != rounds*each+1 {
		t.Fatalf("%d runs were created, %v", len(found.Items), err)
	}
	for {
		h, ok := r.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		got = append(got, h)
		if h.ID == strconv.FormatInt(found.Items[len(found.Items)-1].Position, 10) {
			break
		}
	}
	// Every position of the log, once, in order.
	var want []int64
	for after := int64(0); ; {
		page, err := d.engine.Events(t.Context(), tenant, engine.EventQuery{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if page.Last == after {
			break
		}
		after = page.Last
		for _, e := range page.Items {
			want = append(want, e.Position)
		}
	}
	for i, h := range got {
		if i >= len(want) || h.position(t) != want[i] {
			t.Fatalf("event %d of the streams is %+v, the log has %d there", i, h, want[min(i, len(want)-1)])
		}
	}
}
