package config

import "slices"

// Nearest returns the known word that a wrong one was most likely meant to be, or "".
func Nearest(word string, known []string) string { return nearest(word, known) }

// nearest gives the known word that a wrong one was most likely meant to be, or "".
func nearest(word string, known []string) string {
	best, distance := "", 1+max(1, len(word)/3)
	sorted := slices.Sorted(slices.Values(known))
	for _, k := range sorted {
		if d := edits(word, k); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits counts letters to insert, drop, change or swap with a neighbour.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 100 || len(y) > 100 {
		return 100
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
