package reply

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numberItem is one item of a list, as the naive model sees it.
type numberItem struct{ from, to int }

func drawNumber(t *rapid.T, v int) string {
	zero := rapid.SampledFrom([]rune{'0', '٠', '۰', '०', '০', '๐', '０', '𝟎'}).Draw(t, "script")
	var out strings.Builder
	if rapid.IntRange(0, 9).Draw(t, "hash") == 0 {
		out.WriteByte('#')
	}
	for _, d := range fmt.Sprint(v) {
		out.WriteRune(zero + d - '0')
	}
	return out.String()
}

// Lists of numbers and ranges, however they are written, mean what a naive model says.
func TestNumberLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, MaxOptions).Draw(t, "options")
		q := &Question{Expected: MultiChoice, Options: make([]Option, n), Languages: []string{"he", "es", "ja"}}
		for i := range q.Options {
			q.Options[i].Label = fmt.Sprintf("option %c%c", 'a'+i/26, 'a'+i%26)
		}
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) numberItem {
			from := rapid.IntRange(0, n+2).Draw(t, "from")
			to := from
			if rapid.Bool().Draw(t, "range") {
				to = rapid.IntRange(0, n+2).Draw(t, "to")
			}
			return numberItem{from, to}
		}), 1, 6).Draw(t, "items")

		var text strings.Builder
		want, reason := map[int]bool{}, Reason("")
		for i, item := range items {
			if i > 0 {
				text.WriteString(rapid.SampledFrom([]string{" ", ", ", ",", ";", "; ", " and ", " & ", "&", "、", "،", "\n", " y ", " ו-", " ו", "と", ", and ", "  "}).Draw(t, "separator"))
			}
			text.WriteString(drawNumber(t, item.from))
			if item.to != item.from {
				text.WriteString(rapid.SampledFrom([]string{"-", "–", " - ", "~", "〜", " to ", " a ", " עד ", "－"}).Draw(t, "dash"))
				text.WriteString(drawNumber(t, item.to))
			}
			outside := min(item.from, item.to) < 1 || max(item.from, item.to) > n
			switch {
			case reason != "":
			case outside:
				reason = OutOfRange
			case item.to < item.from:
				reason = BackwardRange
			}
			for v := item.from; v <= item.to; v++ {
				want[v-1] = true
			}
		}
		text.WriteString(rapid.SampledFrom([]string{"", ".", "!", " ", " 👍", " 🙏"}).Draw(t, "end"))

		got := Read(text.String(), q)
		if reason != "" {
			if got.Verdict != None || got.Reason != OutOfRange && got.Reason != BackwardRange && got.Reason != UnknownOption {
				t.Fatalf("%q of %d read as %v, want none for %s", text.String(), n, got, reason)
			}
			return
		}
		if got.Verdict != Selected || got.Selected.Len() != len(want) {
			t.Fatalf("%q of %d read as %v, want %v", text.String(), n, got, want)
		}
		last := -1
		for i := range got.Selected.All() {
			if !want[i] || i <= last {
				t.Fatalf("%q of %d read as %v, want %v", text.String(), n, got, want)
			}
			last = i
		}
	})
}

// A single choice takes one number and nothing that only begins with one.
func TestSingleNumberIsTheWholeReply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "options")
		q := &Question{Expected: SingleChoice, Options: make([]Option, n)}
		v := rapid.IntRange(0, 30).Draw(t, "number")
		number := drawNumber(t, v)
		got := Read(number, q)
		if fits := 1 <= v && v <= n; fits != (got.Verdict == Selected) || fits && got.Selected.First() != v-1 {
			t.Fatalf("%q of %d read as %v", number, n, got)
		}
		tail := rapid.SampledFrom([]string{"pm", " pm", "?", "%", "€", " please change it", "x", "/2", ":30", ".5", "²", " and more", " or 2", "-", "+", "th", "er", "°"}).Draw(t, "tail")
		if got := Read(number+tail, q); got.Verdict != None {
			t.Fatalf("%q of %d read as %v", number+tail, n, got)
		}
	})
}

func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[int]bool{}
		var s Set
		for _, i := range rapid.SliceOf(rapid.IntRange(0, MaxOptions-1)).Draw(t, "indexes") {
			s.add(i)
			want[i] = true
		}
		if s.Len() != len(want) || s.Has(-1) || s.Has(MaxOptions) {
			t.Fatalf("%d indexes, want %d", s.Len(), len(want))
		}
		first := -1
		for i := range s.All() {
			if first < 0 {
				first = i
			}
			if !want[i] || !s.Has(i) {
				t.Fatalf("%d should not be there", i)
			}
		}
		if first != s.First() {
			t.Fatalf("first is %d, want %d", s.First(), first)
		}
	})
}
