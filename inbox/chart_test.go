package inbox

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func number100(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || f < 0 || f > 100 {
		t.Fatalf("%q is no length", text)
	}
	return f
}

// Shares are as long as they are many, cover the bar without a gap, and mirror in the other direction of reading.
func TestSharesCoverTheBar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var parts []closing
		total := 0
		for i := range 1 + r.IntN(7) {
			n := r.IntN(50) * r.IntN(3)
			total += n
			parts = append(parts, closing{"part " + strconv.Itoa(i), "yes", n})
		}
		left, right := shareParts(parts, false), shareParts(parts, true)
		at, drawn := 0.0, 0
		for i, s := range left {
			x, size := number100(t, s.X), number100(t, s.Size)
			if x < at-0.02 || x > at+0.02 {
				t.Fatalf("%v: part %d begins at %v, not %v", parts, i, x, at)
			}
			at = x + size
			n, err := strconv.Atoi(strings.ReplaceAll(s.Value, ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			if want := 100 * float64(n) / float64(total); size < want-0.01 || size > want+0.01 {
				t.Fatalf("%v: %d of %d is drawn as %v", parts, n, total, size)
			}
			if mirrored := number100(t, right[i].X); mirrored < 100-x-size-0.02 || mirrored > 100-x-size+0.02 {
				t.Fatalf("mirrored: %v, want %v", mirrored, 100-x-size)
			}
			drawn += n
		}
		if drawn != total || total > 0 && (at < 99.9 || at > 100.1) {
			t.Fatalf("%v: %d of %d are drawn, up to %v", parts, drawn, total, at)
		}
	}
}

func TestShareInWords(t *testing.T) {
	for _, tt := range []struct {
		n, total int
		want     string
	}{
		{0, 0, "0%"}, {0, 5, "0%"}, {5, 5, "100%"}, {1, 2, "50%"}, {1, 3, "33%"}, {1, 1000, "under 1%"}, {999, 1000, "over 99%"}, {1, 200, "1%"}, {2, 300, "1%"}, {-1, 4, "0%"}, {199, 200, "99%"}, {1, 201, "under 1%"},
	} {
		if got := shareOf(tt.n, tt.total); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.n, tt.total, got, tt.want)
		}
	}
}

// Columns stand on the ground, the highest reaches the top, and none that counts something is invisible.
func TestColumns(t *testing.T) {
	for _, tt := range []struct {
		values []int
		rtl    bool
	}{{nil, false}, {[]int{0}, false}, {[]int{0, 0, 0}, false}, {[]int{1}, false}, {[]int{1, 5, 0, 1000}, false}, {[]int{1, 5, 0, 1000}, true}} {
		most := 0
		for _, v := range tt.values {
			most = max(most, v)
		}
		list := dayColumns(tt.values, tt.rtl)
		if len(list) != len(tt.values) {
			t.Fatalf("%v: %d columns", tt.values, len(list))
		}
		for i, c := range list {
			y, size := number100(t, c.Y), number100(t, c.Size)
			if y+size < 99.98 || y+size > 100.02 {
				t.Errorf("%v: column %d floats: %s + %s", tt.values, i, c.Y, c.Size)
			}
			if (size > 0) != (tt.values[i] > 0) || tt.values[i] == most && most > 0 && size < 99.9 {
				t.Errorf("%v: column %d is %s high", tt.values, i, c.Size)
			}
			if i > 0 && (number100(t, c.X) > number100(t, list[i-1].X)) == tt.rtl {
				t.Errorf("%v: rtl %v, but column %d is at %s after %s", tt.values, tt.rtl, i, c.X, list[i-1].X)
			}
		}
	}
}

func TestLengths(t *testing.T) {
	for _, tt := range []struct {
		part, whole float64
		want        string
	}{{0, 0, "0%"}, {1, 0, "0%"}, {0, 9, "0%"}, {9, 9, "100.00%"}, {1, 1e6, "1.00%"}, {5, 10, "50.00%"}, {-1, 5, "0%"}} {
		if got := barSize(tt.part, tt.whole); got != tt.want {
			t.Errorf("%v of %v: %s, want %s", tt.part, tt.whole, got, tt.want)
		}
	}
}
