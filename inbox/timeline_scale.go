package inbox

import (
	"math"
	"slices"
	"time"
)

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
