package inbox

import "strings"

// mostLines of two texts are compared line by line; longer ones are shown one after the other.
const mostLines = 600

// lineDiff compares texts of several lines, nil where that says no more than showing both.
func lineDiff(was, is string) (out []diffLine) {
	if !strings.Contains(was, "\n") || !strings.Contains(is, "\n") {
		return nil
	}
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	if len(a) > mostLines || len(b) > mostLines {
		return nil
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common, in order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, diffLine{"", a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out = append(out, diffLine{"no", a[i]})
			i++
		default:
			out = append(out, diffLine{"yes", b[j]})
			j++
		}
	}
	return out
}
