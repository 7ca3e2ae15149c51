package inbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostOpened is how many marks a group opens into at once: a larger one opens into smaller groups.
const mostOpened = 60

// fold puts neighbours that are alike into groups, as long as there are more marks than a picture takes. What people did, what failed and what
// is not known stays on its own: that is what they look for.
func (s scene) fold(marks []mark) (shown []mark, folded bool) {
	if len(marks) <= s.most {
		return marks, false
	}
	for _, alike := range []bool{true, false} { // first what has the same name; if that is not enough, whatever stands side by side
		shown, folded = s.grouped(marks, alike)
		if n := s.counted(shown); n <= 2*s.most || !alike {
			break
		}
	}
	slices.SortStableFunc(shown, func(a, b mark) int { return a.start.Compare(b.start) })
	return shown, folded
}

// counted is how many marks a picture has that nobody asked to see one by one.
func (s scene) counted(marks []mark) int {
	if len(s.unfold) > 0 {
		return 0
	}
	return len(marks)
}

func (m mark) plainly() bool {
	return !m.open && len(m.dots) == 0 && m.tone != "hold" && m.tone != "failed" && m.tone != "unknown" && m.tone != "held" && m.tone != "expired" && m.attempt <= 1
}

func (s scene) grouped(marks []mark, alike bool) (shown []mark, folded bool) {
	var heaps [lanes][]mark
	close := func(l lane) {
		heap := heaps[l]
		heaps[l] = nil
		open, some := s.opened(heap)
		shown, folded = append(shown, open...), folded || some
	}
	for _, m := range marks {
		if !m.plainly() {
			for l := range lanes { // a pause or a failure parts what was before it from what came after
				close(l)
			}
			shown = append(shown, m)
			continue
		}
		if heap := heaps[m.lane]; len(heap) > 0 && alike && (heap[0].label != m.label || heap[0].tone != m.tone) {
			close(m.lane)
		}
		heaps[m.lane] = append(heaps[m.lane], m)
	}
	for l := range lanes {
		close(l)
	}
	return shown, folded
}

// opened gives a group as one mark, or what is in it if somebody opened it.
func (s scene) opened(heap []mark) (shown []mark, folded bool) {
	if len(heap) < 3 {
		return heap, false
	}
	id := fmt.Sprintf("%d-%s", len(heap), shortHash(heap[0].key+strconv.Itoa(int(heap[0].lane))))
	if !s.unfold[id] && !s.unfold["all"] {
		return []mark{groupOf(heap, id)}, true
	}
	if len(heap) <= mostOpened {
		return heap, false
	}
	size := (len(heap) + mostOpened/2 - 1) / (mostOpened / 2)
	all := s.unfold["all"]
	delete(s.unfold, "all") // thousands at once would show nothing
	for part := range slices.Chunk(heap, max(size, 3)) {
		some, _ := s.opened(part)
		shown, folded = append(shown, some...), true
	}
	if all {
		s.unfold["all"] = true
	}
	return shown, folded
}

func groupOf(heap []mark, id string) mark {
	g := heap[0]
	g.many, g.group, g.attempt, g.note, g.link, g.about = len(heap), id, 0, "", "", false
	for _, m := range heap[1:] {
		g.end = later(g.end, m.end)
		if m.label != g.label {
			g.label = "steps"
		}
		if m.branch != g.branch {
			g.branch = ""
		}
	}
	return g
}

// shortHash names a group in an address without what its author called it.
func shortHash(text string) string {
	var h uint32 = 2166136261
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return strconv.FormatUint(uint64(h), 36)
}

// plain is a text for a place that takes no markup: what is odd in it is spelled by its number, and it is not longer than so many characters.
func plain(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			return b.String() + "…"
		}
		if odd(r) || r == '\n' || r == '\t' {
			fmt.Fprintf(&b, "U+%04X", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
