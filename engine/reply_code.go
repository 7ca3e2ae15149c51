package engine

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
)

// codeLetters and the digits from 2 on leave out what is mistaken for something else when read or heard: I, L, O, 0 and 1, B for 8, G for 6,
// Q for 9, S for 5, U for V, Z for 2.
const codeLetters = "ACDEFHJKMNPRTVWXY"

// freshCode gives a request a short code that no open request of its session has and none that closed within the last day. Codes are two
// characters as long as there are any left.
func freshCode(req holdshort.Request, known []holdshort.Request, now time.Time) string {
	taken := map[string]bool{}
	for _, r := range known {
		if r.Code != "" && (r.ClosedAt.IsZero() || now.Sub(r.ClosedAt) < codeLife) {
			taken[r.Code] = true
		}
	}
	h := fnv.New64a()
	h.Write([]byte(req.ID)) // any start will do: neighbours should not look alike
	at := h.Sum64()
	for low, many := uint64(2), uint64(8); ; low, many = low*10, many*10 { // one digit, then two, then three
		all := uint64(len(codeLetters)) * many
		for i := range all {
			n := (at + i) % all
			code := string(codeLetters[n%uint64(len(codeLetters))]) + strconv.FormatUint(low+n/uint64(len(codeLetters)), 10)
			if !taken[code] {
				return code
			}
		}
	}
}
