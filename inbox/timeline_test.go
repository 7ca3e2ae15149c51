package inbox

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

var dawn = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// toldRun is a run's record, written by hand.
type toldRun struct {
	engine.Timeline
	at time.Time
}

func tellRun() *toldRun {
	r := &toldRun{at: dawn}
	r.Run = holdshort.Run{ID: "run_1", Status: holdshort.RunRunning, Flow: "agent.desk", Agent: "desk", User: "ben", CreatedAt: dawn, Attempt: 1}
	r.Events = []holdshort.Event{{Type: "run.created", At: dawn}, {Type: "run.started", At: dawn}}
	r.Values = true
	return r
}

// entry records something that took a while.
func (r *toldRun) entry(kind, key string, took time.Duration) *toldRun {
	r.Journal = append(r.Journal, holdshort.JournalEntry{RunID: r.Run.ID, Key: key, Kind: kind, Attempt: 1, Started: r.at, Ended: r.at.Add(took)})
	r.at = r.at.Add(max(took, 0))
	return r
}

// turns are answers of a model, each with a call.
func (r *toldRun) turns(n int) *toldRun {
	for range n {
		i := len(r.Journal)/2 + 1
		r.entry("model", fmt.Sprintf("model-%d", i), 900*time.Millisecond).entry("call", fmt.Sprintf("calls-%d/1", i), 40*time.Millisecond)
	}
	return r
}

// asked pauses the run for a while; by nobody it still waits.
func (r *toldRun) asked(id string, took time.Duration, by string, verb holdshort.Verb) *toldRun {
	req := holdshort.Request{ID: holdshort.RequestID(id), RunID: r.Run.ID, Kind: holdshort.Approval, Status: holdshort.RequestOpen, Question: "Refund?", OriginStepID: "calls-9", CreatedAt: r.at}
	v := engine.RequestView{Request: req}
	r.at = r.at.Add(took)
	if by != "" {
		v.Request.Status, v.Request.Outcome, v.Request.ClosedAt = holdshort.RequestResolved, holdshort.Approved, r.at
		v.Decision = &holdshort.Decision{Action: verb, Actor: holdshort.Actor{ID: by}, At: r.at}
		r.Journal = append(r.Journal, holdshort.JournalEntry{RunID: r.Run.ID, Key: "calls-9!approval!000000000001!" + id, Kind: "approval", Attempt: 1, Started: req.CreatedAt, Ended: r.at})
	}
	r.Requests = append(r.Requests, v)
	return r
}

func (r *toldRun) picture(query string) timelineView {
	q, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return pageTimeline(r.Timeline, q, r.at, r.Run.Status.Ended())
}

var looksOnce = sync.OnceValues(newLooks)

// drawn gives a picture as it reaches the browser.
func drawn(t *testing.T, name string, v timelineView) string {
	t.Helper()
	l, err := looksOnce()
	if err != nil {
		t.Fatal(err)
	}
	text, err := l.text(name, v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sound checks what every picture must be: well formed, within its frame, without anything that the page's policy forbids.
func sound(t *testing.T, v timelineView) string {
	t.Helper()
	text := drawn(t, "timeline", v)
	if v.Empty {
		return text
	}
	start, end := strings.Index(text, "<svg"), strings.Index(text, "</svg>")
	if start < 0 || end < 0 {
		t.Fatalf("no picture in %s", text)
	}
	for d := xml.NewDecoder(strings.NewReader(text[start : end+6])); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not well formed: %v", err)
		}
		el, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains([]string{"svg", "defs", "pattern", "rect", "path", "line", "text", "title", "g", "a", "circle"}, el.Name.Local) {
			t.Errorf("an element <%s>", el.Name.Local)
		}
		for _, a := range el.Attr {
			if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "/r") {
				t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
			}
		}
	}
	for _, b := range v.Bars {
		if b.W <= 0 || b.H <= 0 || b.X < v.Label || b.X+b.W > v.Width || b.Y < 0 || b.Y+b.H > v.Height {
			t.Errorf("a bar is outside of the picture (%d×%d): %+v", v.Width, v.Height, b)
		}
		if b.Title == "" {
			t.Errorf("a bar without words: %+v", b)
		}
	}
	if !slices.IsSortedFunc(v.Bars, func(a, b timelineBar) int { return a.X - b.X }) {
		t.Error("bars are not in the order of time")
	}
	return text
}

// However many steps a run has, its picture has few marks, and they are all in it.
func TestTimelineSizes(t *testing.T) {
	for _, steps := range []int{0, 1, 2, 20, 200, 2000} {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			r := tellRun()
			for range steps / 2 {
				r.turns(1)
			}
			if steps == 1 {
				r.entry("model", "model-1", time.Second)
			}
			r.Run.Status, r.Run.EndedAt = holdshort.RunCompleted, r.at
			v := r.picture("")
			sound(t, v)
			if v.Empty != (steps == 0) {
				t.Fatalf("empty: %v", v.Empty)
			}
			if len(v.Steps) != len(v.Bars) || !strings.Contains(v.Title, fmt.Sprintf("%d steps", steps)) && steps > 0 {
				t.Errorf("the table has %d of %d: %s", len(v.Steps), len(v.Bars), v.Title)
			}
			if len(v.Bars) > mostWide || v.Width > wideScene {
				t.Errorf("%d bars, %d wide", len(v.Bars), v.Width)
			}
			if v.Height > 300 {
				t.Errorf("%d high", v.Height)
			}
			if v.Folded != (steps >= 200) {
				t.Errorf("folded: %v", v.Folded)
			}
		})
	}
}

// What is folded can be opened, group by group, until every step is there.
func TestTimelineUnfolds(t *testing.T) {
	r := tellRun().turns(700)
	r.Run.Status = holdshort.RunCompleted
	closed := r.picture("")
	sound(t, closed)
	if len(closed.Bars) != 2 || closed.Bars[0].Text != "700 × model" {
		t.Fatalf("%+v", closed.Bars)
	}
	address, seen := closed.Bars[0].Link, 0
	for range 5 { // into the first group, and the first group of that, …
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		v := r.picture(u.RawQuery)
		sound(t, v)
		if len(v.Bars) <= seen {
			t.Fatalf("%s shows %d bars, the one before it %d", address, len(v.Bars), seen)
		}
		seen, address = len(v.Bars), ""
		for _, b := range v.Bars {
			if b.Group && strings.Contains(b.Title, "model: ") {
				address = b.Link
				break
			}
		}
		if v.Bars[0].Step == 1 && !v.Bars[0].Group {
			if !v.Unfolded || !strings.HasSuffix(v.Fold, "/runs/run_1#picture") {
				t.Errorf("no way back: %q", v.Fold)
			}
			return
		}
		if address == "" {
			t.Fatal("no group to open")
		}
	}
	t.Error("a step cannot be reached")
}

// What people look for is never folded away: pauses, failures, what nobody knows.
func TestTimelineKeepsWhatMatters(t *testing.T) {
	r := tellRun().turns(60).asked("req_1", 5*time.Minute+48*time.Second, "ana", holdshort.Approve)
	r.Journal = append(r.Journal, holdshort.JournalEntry{Key: "calls-77/1", Kind: "call", Attempt: 2, Started: r.at, Ended: r.at.Add(time.Second), Error: &holdshort.Failure{Code: "x", Message: "it broke"}})
	r.Operations = []holdshort.Operation{{ID: "op", StepID: "run_1/calls-78/1", Capability: "orders.refund", Status: holdshort.OperationUnknown, StartedAt: r.at, ClosedAt: r.at.Add(time.Second)}}
	r.at = r.at.Add(2 * time.Second)
	r.turns(60)
	v := r.picture("")
	text := sound(t, v)
	for _, want := range []string{"holding short · 5 min 48 s", "ana approved", "it broke", "nobody knows what became of it", "attempt 2", `fill="url(#hatch)"`, "60 × model"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	if len(v.Dots) != 1 || len(v.Breaks) == 0 {
		t.Errorf("%d dots, %d breaks", len(v.Dots), len(v.Breaks))
	}
}

// Names come from authors, models and strangers.
func TestTimelineEscapes(t *testing.T) {
	r := tellRun()
	for _, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "]]></svg><b>", `' onload='x`, "javascript:alert(1)", "a\u202eb\u200dc", "\x00\x1b[31m", strings.Repeat("w", 5000)} {
		r.Run.Agent = ""
		r.entry("step", name+"/"+name, time.Second)
		r.Operations = append(r.Operations, holdshort.Operation{StepID: "run_1/op " + name, Capability: name, Status: holdshort.OperationStarted, StartedAt: r.at})
	}
	r.asked("req_1", time.Minute, `<b>"ana"</b>`, holdshort.Reject)
	r.Run.Held = &holdshort.Hold{Code: `"><script>`, Since: r.at}
	v := r.picture("")
	text := sound(t, v)
	for _, never := range []string{"<script", "<img", "<b>", "\u202e", "\u200d", "\x00", "\x1b", strings.Repeat("w", 200)} {
		if strings.Contains(text, never) {
			t.Errorf("%q is in the picture", never)
		}
	}
	if !strings.Contains(text, "U&#43;202E") {
		t.Error("what turns a text around is not visible")
	}
}

// Clocks of several machines disagree: nothing takes less than no time, and nothing is drawn to the left of its beginning.
func TestTimelineOddTimes(t *testing.T) {
	r := tellRun().entry("model", "model-1", 0).entry("call", "a", -time.Hour).entry("call", "b", 0).entry("call", "c", 0).entry("model", "model-2", time.Nanosecond)
	r.asked("req_1", 0, "ana", holdshort.Approve)
	r.Requests[0].Decision.At = dawn.Add(-time.Hour)
	r.entry("sleep", "d", 90*24*time.Hour)
	r.Events = append(r.Events, holdshort.Event{Type: "run.held", At: dawn.Add(time.Second), Code: "stuck"}, holdshort.Event{Type: "run.released", At: dawn})
	v := r.picture("")
	sound(t, v)
	if len(v.Bars) < 6 {
		t.Errorf("%d bars", len(v.Bars))
	}
	for _, d := range v.Dots {
		if d.X < 0 || d.X > v.Width {
			t.Errorf("%+v", d)
		}
	}
}

// A run that has not ended is open to the right; what waits says how long already.
func TestTimelineGoesOn(t *testing.T) {
	r := tellRun().turns(1).asked("req_1", time.Hour, "", "")
	r.Run.Status, r.Run.Open = holdshort.RunWaiting, 1
	v := r.picture("")
	sound(t, v)
	last := v.Bars[len(v.Bars)-1]
	if !last.Open || last.Tone != "hold" || v.Now == 0 || last.Text != "holding short · 1 h" || !strings.Contains(last.Title, "so far") {
		t.Errorf("now %d, %+v", v.Now, last)
	}
	r.Run.Status = holdshort.RunCanceled
	if v := r.picture(""); v.Now != 0 {
		t.Error("a run that is over has a present")
	}
}

// Branches that go on at the same time stand below each other, and so do pauses.
func TestTimelineBranches(t *testing.T) {
	r := tellRun()
	for _, branch := range []string{"north", "south", "west"} {
		r.Journal = append(r.Journal, holdshort.JournalEntry{Key: "each/" + branch + "/look", Kind: "call", Attempt: 1, Started: dawn, Ended: dawn.Add(time.Second)},
			holdshort.JournalEntry{Key: "each/" + branch + "/again", Kind: "call", Attempt: 1, Started: dawn.Add(2 * time.Second), Ended: dawn.Add(3 * time.Second)})
	}
	r.at = dawn.Add(4 * time.Second)
	v := r.picture("")
	text := sound(t, v)
	rows := map[int]int{}
	for _, b := range v.Bars {
		rows[b.Y]++
	}
	if len(rows) != 3 || !strings.Contains(text, ">south<") || !strings.Contains(text, ">west<") {
		t.Errorf("%v\n%s", rows, text)
	}
	for _, n := range rows {
		if n != 2 {
			t.Errorf("a branch is not in one row: %v", rows)
		}
	}
}

// Where the journal has only the end of a step, it began no earlier than what was before it in its branch.
func TestTimelineBegins(t *testing.T) {
	r := tellRun()
	r.Events = append(r.Events, holdshort.Event{Type: "run.resumed", At: dawn.Add(10 * time.Second)})
	add := func(key, kind string, ended int) {
		at := dawn.Add(time.Duration(ended) * time.Second)
		r.Journal = append(r.Journal, holdshort.JournalEntry{Key: key, Kind: kind, Attempt: 1, Started: at, Ended: at})
	}
	add("model-1", "model", 2)
	add("each/a/model-1", "model", 3)
	add("each/b/model-1", "model", 5)
	add("model-2", "model", 6)
	add("model-3", "model", 12)
	got := begins(r.Timeline)
	for step, want := range map[int]int{1: 0, 2: 2, 3: 2, 4: 5, 5: 10} {
		if d := got[step].Sub(dawn); d != time.Duration(want)*time.Second {
			t.Errorf("step %d began after %v, want %d s", step, d, want)
		}
	}
}

// Shown as it was, a run knows nothing of what came later.
func TestTimelineAsOf(t *testing.T) {
	r := tellRun().turns(1).asked("req_1", time.Minute, "ana", holdshort.Approve).turns(2)
	r.Events = append(r.Events, holdshort.Event{Type: "run.waiting", At: dawn.Add(940 * time.Millisecond)}, holdshort.Event{Type: "run.completed", At: r.at})
	r.Run.Status, r.Run.EndedAt, r.Run.Result = holdshort.RunCompleted, r.at, []byte(`"paid"`)
	cut, at := asOf(r.Timeline, 2)
	if cut.Run.Status != holdshort.RunWaiting || cut.Run.Result != nil || !cut.Run.EndedAt.IsZero() || len(cut.Journal) != 2 || at != dawn.Add(940*time.Millisecond) {
		t.Errorf("%+v at %v", cut.Run, at)
	}
	v := pageTimeline(cut, url.Values{}, at, true)
	text := sound(t, v)
	if strings.Contains(text, "approved") || len(v.Dots) > 0 || v.Now != 0 {
		t.Errorf("it knows what came later:\n%s", text)
	}
	if all, _ := asOf(r.Timeline, len(r.Journal)); all.Run.Status != holdshort.RunCompleted || len(all.Journal) != len(r.Journal) {
		t.Errorf("%+v", all.Run)
	}
	if r.Run.Status != holdshort.RunCompleted || r.Requests[0].Request.Status != holdshort.RequestResolved {
		t.Error("the record itself was changed")
	}
}

// The small picture has the same facts and no more room than a card.
func TestTimelineMini(t *testing.T) {
	r := tellRun().turns(40).asked("req_1", time.Minute, "", "")
	r.Run.Status = holdshort.RunWaiting
	s := scene{id: "run_1", width: smallScene, most: mostSmall, path: "/runs/run_1", small: true, now: r.at}
	v := s.draw(marksOf(r.Timeline, r.at, false), r.Run)
	sound(t, v)
	if text := drawn(t, "timeline_mini", v); strings.Contains(text, "<a ") || !strings.Contains(text, "holding short · 1 min") || v.Width > smallScene || v.Height > 180 {
		t.Errorf("%d×%d\n%s", v.Width, v.Height, text)
	}
	if drawn(t, "timeline_mini", timelineView{Empty: true}) != "" {
		t.Error("nothing is drawn as something")
	}
}
