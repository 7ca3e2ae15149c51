package inbox

import (
	"cmp"
	"math"
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

// timeScale is where moments are.
type timeScale struct {
	times []time.Time
	left  []float64 // of the column of a moment
	right []float64
}

func (c timeScale) at(t time.Time) int {
	i, _ := slices.BinarySearchFunc(c.times, t, time.Time.Compare)
	return min(i, len(c.times)-1)
}

func (c timeScale) of(m mark) (from, to int) {
	i, j := c.at(m.start), c.at(m.end)
	if j <= i {
		return int(c.left[i]), int(c.right[i])
	}
	return int(c.right[i]), int(c.left[j])
}

// scale measures time: each stretch between two moments at which something begins or ends gets a width that grows with its length, far more
// slowly than the length does.
func (s scene) scale(v *timelineView, marks []mark, goesOn bool) timeScale {
	var c timeScale
	points := map[time.Time]int{}
	for _, m := range marks {
		c.times = append(c.times, m.start, m.end)
		if !m.end.After(m.start) {
			points[m.start] = max(points[m.start], pointWidth)
		}
		for _, d := range m.dots {
			c.times = append(c.times, d.at)
		}
	}
	slices.SortFunc(c.times, time.Time.Compare)
	c.times = slices.CompactFunc(c.times, time.Time.Equal)
	busy := make([]bool, len(c.times)) // something works between this moment and the next
	some := make([]bool, len(c.times)) // something is drawn there
	for _, m := range marks {
		for i := c.at(m.start); i < c.at(m.end); i++ {
			some[i] = true
			busy[i] = busy[i] || m.lane == laneModel || m.lane == laneTools
		}
	}
	widths, least := make([]float64, len(c.times)), make([]float64, len(c.times))
	s.wishes(&c, marks, some, least)
	fixed, free := 0.0, 0.0
	for i, t := range c.times {
		fixed += float64(points[t])
		if i+1 == len(c.times) {
			break
		}
		widths[i] = stretchWidth(c.times[i+1].Sub(t), busy[i])
		free += widths[i]
		fixed += least[i]
	}
	room := float64(v.Width - v.Label - sceneEdge)
	if goesOn {
		room -= 10
	}
	if room -= fixed; room < 120 { // many steps: the picture grows, and is scrolled
		v.Width += int(120 - room)
		room = 120
	}
	x := float64(v.Label)
	for i, t := range c.times {
		c.left = append(c.left, x)
		x += float64(points[t])
		c.right = append(c.right, x)
		if i+1 == len(c.times) {
			break
		}
		wide := least[i]
		if free > 0 {
			wide += widths[i] / free * room
		}
		if gap := c.times[i+1].Sub(t); !busy[i] && gap >= breakAfter && wide > 16 {
			v.Breaks = append(v.Breaks, timelineBreak{X: int(x + wide/2), From: 6, To: v.Axis - 12, Text: span(gap), TextY: v.Axis})
		}
		x += wide
	}
	s.ticks(v, c, goesOn)
	return c
}

// wishes gives stretches of time their least width. A pause has room for its words as long as there are few: it is what people look for.
func (s scene) wishes(c *timeScale, marks []mark, some []bool, least []float64) {
	for i := range least {
		if least[i] = 4; some[i] {
			least[i] = leastWidth
		}
	}
	pauses := 0
	for _, m := range marks {
		if m.pauses() {
			pauses++
		}
	}
	for _, m := range marks {
		if !m.pauses() || pauses > 4 {
			continue
		}
		end := m.end
		if len(m.dots) > 0 && m.dots[0].at.After(m.start) && m.dots[0].at.Before(end) { // the words stand before the first decision
			end = m.dots[0].at
		}
		longest := c.at(m.start)
		for i := longest; i < c.at(end); i++ {
			if c.times[i+1].Sub(c.times[i]) > c.times[longest+1].Sub(c.times[longest]) {
				longest = i
			}
		}
		least[longest] = max(least[longest], wordsWidth(m.text()))
	}
}

// pauses reports whether the mark is of a time in which the run stood still for a reason that people ask for.
func (m mark) pauses() bool {
	return (m.tone == "hold" || m.tone == "held" || m.tone == "expired") && m.took() > 0
}

func wordsWidth(text string) float64 { return float64(len([]rune(text)))*letterWidth + 14 }

// breakAfter is how long nothing but waiting takes before it is marked as shortened.
const breakAfter = time.Minute

func stretchWidth(d time.Duration, busy bool) float64 {
	w := math.Log2(1 + float64(max(d, 0))/float64(20*time.Millisecond))
	if busy {
		return 1 + 2*w
	}
	return 0.5 + w
}

func (s scene) ticks(v *timelineView, c timeScale, goesOn bool) {
	last := len(c.times) - 1
	v.Ticks = append(v.Ticks, timelineTick{X: int(c.left[0]), At: c.times[0], Text: c.times[0].UTC().Format("15:04:05"), Anchor: "start"})
	end := int(c.right[last])
	if goesOn {
		v.Now = end + 4
		v.Ticks = append(v.Ticks, timelineTick{X: v.Now, Text: "now", Anchor: "end"})
	} else if last > 0 {
		v.Ticks = append(v.Ticks, timelineTick{X: end, At: c.times[last], Text: c.times[last].UTC().Format("15:04:05"), Anchor: "end"})
	}
	v.Breaks = slices.DeleteFunc(v.Breaks, func(b timelineBreak) bool { return b.X < int(c.left[0])+70 && s.small })
	for i := range v.Breaks { // the sign stays where its words would run into the times at the ends
		if b := &v.Breaks[i]; b.X < v.Label+76 || b.X > end-76 {
			b.Text = ""
		}
	}
}

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
