package inbox

import (
	"net/url"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// timelineView is the picture of a run, ready to be drawn: everything has its place, templates only write it down.
type timelineView struct {
	Empty         bool
	Small         bool
	ID            string // of the run, "" where whoever looks may not see it
	Title         string // what it shows, for those who do not see it
	Width, Height int
	Label         int // width of the names of the lanes
	Lanes         []timelineLane
	Bars          []timelineBar
	Dots          []timelineDot
	Drops         []timelineDrop
	Breaks        []timelineBreak
	Ticks         []timelineTick
	Now           int    // where the present is, 0: the run is over or shown as it was
	Axis          int    // where the names of the times stand
	Folded        bool   // something is folded
	Unfolded      bool   // something was opened
	All           string // address of the picture with everything opened
	Fold          string // and with nothing opened
	Steps         []timelineStep
}

type timelineLane struct {
	Name   string
	Branch string // of a row below the first of its lane
	Y      int
	Line   int // where its line is
}

type timelineBar struct {
	X, Y, W, H  int
	Tone        string // model, tool, local, hold, expired, sleep, held, say, unknown, failed, canceled
	Open        bool   // it goes on
	Text        string // in it, "" where it does not fit
	Aside       string // beside it
	TextX       int
	TextY       int
	Title, Link string
	Step        int // number in the journal, 0: none
	Again       int // attempts beyond the first
	AgainX      int
	Group       bool
}

type timelineDot struct {
	X, Y        int
	Tone        string
	Text        string
	TextY       int
	Anchor      string
	Title, Link string
}

type timelineDrop struct{ X, From, To int }

type timelineBreak struct {
	X, From, To int
	Text        string
	TextY       int
}

type timelineTick struct {
	X      int
	At     time.Time
	Text   string
	Anchor string
}

// timelineStep is the same in words: a row of the table behind the picture.
type timelineStep struct{ Lane, What, Took, Then string }

// scene says how a picture is drawn.
type scene struct {
	id     string
	width  int
	most   int // marks before neighbours are folded
	unfold map[string]bool
	path   string // address of the page that the picture is on, without a query
	query  url.Values
	small  bool
	now    time.Time // the moment it shows
	past   bool      // that moment is over
}

const (
	wideScene, smallScene = 1000, 640
	mostWide, mostSmall   = 44, 16
)

// pageTimeline is the picture on a run's own page. Groups named by unfold are open.
func pageTimeline(tl engine.Timeline, q url.Values, now time.Time, past bool) timelineView {
	s := scene{id: string(tl.Run.ID), width: wideScene, most: mostWide, unfold: map[string]bool{}, path: "/runs/" + url.PathEscape(string(tl.Run.ID)), query: q, now: now, past: past}
	for _, id := range q["unfold"] {
		s.unfold[id] = true
	}
	return s.draw(marksOf(tl, now, past), tl.Run)
}

// miniTimeline is the run behind a request, small enough for a card. Whoever may decide a request need not see its run: then the picture is of
// the pause alone. A request without a run has none.
func (v *visit) miniTimeline(req holdshort.Request) (timelineView, error) {
	if req.RunID == "" {
		return timelineView{Empty: true}, nil
	}
	s := scene{id: string(req.RunID), width: smallScene, most: mostSmall, path: "/runs/" + url.PathEscape(string(req.RunID)), small: true, now: v.now}
	tl, err := v.engine.Timeline(v.ctx, v.tenant(), req.RunID, v.actor())
	switch {
	case err == nil && tl.Run.ID != "":
		return s.draw(marksOf(tl, v.now, false), tl.Run), nil
	case err != nil && holdshort.CodeOf(err) != holdshort.NotFound && holdshort.CodeOf(err) != holdshort.Forbidden:
		return timelineView{Empty: true}, err
	}
	s.id = ""
	view, err := v.engine.RequestFor(v.ctx, v.tenant(), req.ID, v.actor())
	if err != nil {
		return timelineView{Empty: true}, err
	}
	run := holdshort.Run{Status: holdshort.RunWaiting, CreatedAt: req.CreatedAt}
	return s.draw([]mark{holdMark(view, v.now)}, run), nil
}

// draw gives every mark its place.
func (s scene) draw(marks []mark, run holdshort.Run) timelineView {
	v := timelineView{ID: s.id, Small: s.small, Width: s.width, Label: labelWidth}
	if len(marks) == 0 {
		v.Empty = true
		return v
	}
	v.Title = sceneTitle(marks, run)
	shown, folded := s.fold(marks)
	for _, m := range shown { // each step by itself is in the journal
		v.Steps = append(v.Steps, m.words())
	}
	v.Folded, v.Unfolded = folded, len(s.unfold) > 0
	if !s.small {
		v.All, v.Fold = s.address("all"), s.address("")
	}
	s.place(&v, shown, !s.past && !run.Status.Ended())
	return v
}

func sceneTitle(marks []mark, run holdshort.Run) string {
	var n [lanes]int
	for _, m := range marks {
		n[m.lane]++
	}
	text := strconv.Itoa(len(marks)) + " steps: "
	for i, name := range laneNames {
		if i > 0 {
			text += ", "
		}
		text += name + " " + strconv.Itoa(n[i])
	}
	return text + "; the run is " + string(run.Status)
}

// address is that of the same page with one more group open; "all" opens everything, "" nothing.
func (s scene) address(group string) string {
	q := url.Values{}
	for name, values := range s.query {
		if name != "unfold" || group != "all" && group != "" {
			q[name] = append([]string(nil), values...)
		}
	}
	if group != "" {
		q.Add("unfold", group)
	}
	if text := q.Encode(); text != "" {
		return s.path + "?" + text + "#picture"
	}
	return s.path + "#picture"
}
