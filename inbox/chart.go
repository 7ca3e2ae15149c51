package inbox

import (
	"math"
	"strconv"

	"github.com/holdshort/holdshort/engine"
)

// chart answers one question. Its title is the answer, its rows are both the picture and the table that screen readers read.
type chart struct {
	ID    string
	Title string
	Note  string   // what the reader must know to believe it
	Empty string   // what to say in place of a picture, where there is nothing to draw
	Heads []string // of the columns of the table: what a row is, and what it says
	Bars  []bar
	Share []sharePart
	Days  []dayColumn
	Wide  bool
	Dense bool
}

// bar is one row: a label, a length, and the same in words.
type bar struct {
	Label string
	Odd   bool // somebody wrote the label: it is shown with what is odd in it
	Link  string
	Value string
	Note  string
	Size  string // of the longest, in percent
	Mark  string // where a second, fainter length ends
	Tone  string
}

// sharePart is a part of a whole.
type sharePart struct {
	Label, Value, Percent string
	X, Size, Middle       string
	Tone                  string
	Fits                  bool // its label has room inside
}

// dayColumn is one day.
type dayColumn struct {
	Label, Value, Note string
	X, Y, Width, Size  string
	Part               bool
}

// Last of the days.
func (c chart) Last() *dayColumn {
	if len(c.Days) < 2 {
		return nil
	}
	return &c.Days[len(c.Days)-1]
}

// percent is a length of a picture.
func percent(part, whole float64) string {
	if whole <= 0 || part <= 0 || math.IsNaN(part) || math.IsNaN(whole) {
		return "0%"
	}
	return strconv.FormatFloat(math.Min(100, 100*part/whole), 'f', 2, 64) + "%"
}

// barSize is percent, but what is there at all can be seen.
func barSize(part, whole float64) string {
	if part <= 0 || whole <= 0 {
		return "0%"
	}
	return percent(math.Max(part, whole/100), whole)
}

// fitting is the share that a label needs to stand inside it.
const fitting = 0.22

// shareParts divides a bar into its parts, from the side where reading begins.
func shareParts(parts []closing, rightToLeft bool) (out []sharePart) {
	total := 0
	for _, p := range parts {
		total += p.n
	}
	at := 0.0
	for _, p := range parts {
		if p.n <= 0 {
			continue
		}
		size := float64(p.n) / float64(total)
		x := at
		if rightToLeft {
			x = 1 - at - size
		}
		out = append(out, sharePart{Label: p.label, Tone: p.tone, Value: number(p.n), Percent: shareOf(p.n, total), X: percent(x, 1), Size: percent(size, 1), Middle: percent(x+size/2, 1), Fits: size >= fitting})
		at += size
	}
	return out
}

type closing struct {
	label, tone string
	n           int
}

// shareOf is a share in words: all is only what is all, and none what is none.
func shareOf(n, total int) string {
	switch {
	case total <= 0 || n <= 0:
		return "0%"
	case n >= total:
		return "100%"
	}
	p := 100 * float64(n) / float64(total)
	switch {
	case p < 0.5:
		return "under 1%"
	case p > 99.5:
		return "over 99%"
	}
	return strconv.Itoa(min(99, max(1, int(math.Round(p))))) + "%"
}

// dayColumns draws one column for each value, from the side where reading begins.
func dayColumns(values []int, rightToLeft bool) (out []dayColumn) {
	most := 0
	for _, v := range values {
		most = max(most, v)
	}
	step := 1 / float64(max(len(values), 1))
	gap := step * 0.2
	for i, v := range values {
		x := float64(i) * step
		if rightToLeft {
			x = 1 - x - step
		}
		c := dayColumn{Value: number(v), X: percent(x+gap/2, 1), Width: percent(step-gap, 1), Y: "100%", Size: "0%"}
		if v > 0 {
			size := math.Max(float64(v)/float64(most), 0.02)
			c.Y, c.Size = percent(1-size, 1), percent(size, 1)
		}
		out = append(out, c)
	}
	return out
}

// tallied is a number that is exact up to a thousand.
func tallied(t engine.Tally) string {
	if t.More {
		return number(int(t.Count)) + "+"
	}
	return number(int(t.Count))
}

// isSome reports whether a tally counts anything.
func isSome(t engine.Tally) bool { return t.Count > 0 || t.More }
