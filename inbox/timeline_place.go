package inbox

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	labelWidth  = 74
	rowHeight   = 30
	barHeight   = 19
	sceneEdge   = 14
	letterWidth = 6.3 // width of one at 11 px, on average
	pointWidth  = 11  // of what takes no time
	leastWidth  = 7   // of what takes some
	mostRows    = 6   // of one lane
)

// place gives marks their rows and the time its scale. Time is not to scale: what is short stays visible, and where nothing happens, or where
// the run only waits, hours take little room and a sign says so.
func (s scene) place(v *timelineView, marks []mark, goesOn bool) {
	rows := s.rows(v, marks)
	x := s.scale(v, marks, goesOn)
	for i, m := range marks {
		y := rows[i]
		b := timelineBar{Y: y + (rowHeight-barHeight)/2, H: barHeight, Tone: m.tone, Open: m.open, Step: m.step, Title: m.title(), Link: s.link(m), Group: m.many > 0}
		from, to := x.of(m)
		if b.X, b.W = from, max(to-from, leastWidth); m.tone == "say" {
			b.X, b.Y, b.H = from+1, b.Y+5, barHeight-10
			b.W = b.H
		}
		if m.attempt > 1 {
			b.Again = m.attempt - 1
			b.AgainX = b.X + b.W - 7
		}
		s.words(&b, m, marks, rows, i, x)
		v.Bars = append(v.Bars, b)
		s.dots(v, m, y, x)
		if m.tone == "hold" && y > rowHeight && m.many == 0 {
			v.Drops = append(v.Drops, timelineDrop{X: b.X, From: y - 9, To: b.Y})
		}
	}
	slices.SortStableFunc(v.Bars, func(a, b timelineBar) int { return cmp.Compare(a.X, b.X) }) // who goes through them by key goes through time
}

// rows puts marks of one lane that overlap below each other, those of one branch together.
func (s scene) rows(v *timelineView, marks []mark) []int {
	type row struct {
		branch string
		until  time.Time
		fixed  bool
	}
	place := make([]int, len(marks))
	y := 6
	for l := range lanes {
		var rows []row
		first := y
		used := make([]int, len(marks))
		has := false
		for i, m := range marks {
			if m.lane != l {
				continue
			}
			has = true
			at := slices.IndexFunc(rows, func(r row) bool { return r.branch == m.branch && !r.until.After(m.start) })
			if at < 0 {
				at = slices.IndexFunc(rows, func(r row) bool { return !r.until.After(m.start) })
			}
			if at < 0 && len(rows) < mostRows {
				rows, at = append(rows, row{branch: m.branch}), len(rows)
			} else if at < 0 {
				at = mostRows - 1
			}
			end := m.end
			if !end.After(m.start) {
				end = m.start.Add(time.Nanosecond)
			}
			if rows[at].branch != m.branch {
				rows[at].branch = ""
			}
			rows[at].until = later(rows[at].until, end)
			used[i] = at
		}
		if !has && (l == laneTimers || s.small && l != lanePeople) {
			continue
		}
		for n := range max(len(rows), 1) {
			lane := timelineLane{Y: first + n*rowHeight, Line: first + n*rowHeight + rowHeight/2}
			if n == 0 {
				lane.Name = laneNames[l]
			} else if rows[n].branch != "" {
				lane.Branch = plain(lastOf(rows[n].branch), 12)
			}
			v.Lanes = append(v.Lanes, lane)
		}
		for i, m := range marks {
			if m.lane == l {
				place[i] = first + used[i]*rowHeight
			}
		}
		y = first + max(len(rows), 1)*rowHeight
		if l == lanePeople && slices.ContainsFunc(marks, func(m mark) bool { return len(m.dots) > 0 }) {
			y += 14 // for who decided
		}
	}
	v.Axis = y + 14
	v.Height = y + 24
	return place
}

func lastOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// words puts a mark's words into it if they fit, or beside it if there is room.
func (s scene) words(b *timelineBar, m mark, marks []mark, rows []int, i int, x timeScale) {
	text := plain(m.text(), 40)
	if m.tone == "say" {
		return
	}
	b.TextY = b.Y + barHeight/2 + 4
	for _, fits := range []string{text, longSpan(m.took())} {
		if int(wordsWidth(fits)) <= b.W-min(b.Again, 1)*12 && (fits == text || m.tone == "hold") {
			b.Text, b.TextX = fits, b.X+7
			return
		}
	}
	need := int(wordsWidth(text))
	next := s.width
	for j, other := range marks {
		if j != i && rows[j] == rows[i] && !other.start.Before(m.start) {
			if at, _ := x.of(other); at > b.X {
				next = min(next, at)
			}
		}
	}
	if m.tone != "hold" && b.X+b.W+need < next {
		b.Aside, b.TextX = text, b.X+b.W+5
	}
}

func (s scene) dots(v *timelineView, m mark, y int, x timeScale) {
	for i, d := range m.dots {
		at := x.at(d.at)
		t := timelineDot{X: int(x.left[at]), Y: y + rowHeight/2, Tone: d.tone, Link: s.link(m), Anchor: "middle"}
		t.Text, t.TextY = plain(dotName(d.who), 24)+" "+d.what, y+rowHeight+8
		if t.Title = t.Text; dotName(d.who) != d.who {
			t.Title += " (" + plain(d.who, 60) + ")"
		}
		half := int(float64(len([]rune(t.Text))) * letterWidth / 2)
		if t.X+half > v.Width {
			t.Anchor = "end"
		}
		if i > 0 && t.X-int(x.left[x.at(m.dots[i-1].at)]) < 2*half { // it would run into the one before it
			t.Text = ""
		}
		v.Dots = append(v.Dots, t)
	}
}

// dotName leaves out where a mail address is at.
func dotName(who string) string {
	name, _, _ := strings.Cut(who, "@")
	return name
}

func (m mark) title() string {
	w := m.words()
	text := w.Lane + ": " + w.What
	rest := []string{w.Took, w.Then}
	if m.tone == "hold" && m.many == 0 { // what is read in it comes first
		text, rest = w.Lane+": "+m.text(), []string{w.What, w.Then}
		if m.open {
			text += " so far"
		}
	}
	for _, more := range rest {
		if more != "" {
			text += " · " + more
		}
	}
	return text
}

func (s scene) link(m mark) string {
	switch {
	case s.id == "":
		return ""
	case m.many > 0 && !s.small:
		return s.address(m.group)
	case m.link != "" && !s.small:
		return m.link
	case m.step > 0 && !s.small:
		return s.path + "?" + url.Values{"step": {strconv.Itoa(m.step)}}.Encode() + "#step"
	}
	return ""
}
