package reply

import (
	"bytes"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// withoutThanks takes polite words off both ends of a choice: "2 please", "red and blue, thanks". The choice must still be
// there without them.
func withoutThanks(core []byte, hints *lexicon.Hints) []byte {
	for len(core) > 0 {
		if n := politeEnd(core, hints); n > 0 {
			core, _ = fold.Trim(core[:len(core)-n])
		} else if n := politeStart(core, hints); n > 0 {
			core, _ = fold.Trim(core[n:])
		} else {
			break
		}
	}
	return core
}

const (
	maxPolite      = 4  // words of a polite phrase
	maxPoliteBytes = 64 // folded
)

// politeEnd is the length of the longest polite phrase that b ends in.
func politeEnd(b []byte, hints *lexicon.Hints) (found int) {
	start := len(b)
	for range maxPolite {
		start = bytes.LastIndexAny(b[:start], " ,\n")
		if start <= 0 || len(b)-start > maxPoliteBytes {
			break
		}
		if politePart(b[start+1:], hints) {
			found = len(b) - start
		}
	}
	return found
}

// politeStart is the length of the longest polite phrase that b begins with.
func politeStart(b []byte, hints *lexicon.Hints) (found int) {
	end := 0
	for range maxPolite {
		at := bytes.IndexAny(b[end:], " ,\n")
		if at < 0 || end+at > maxPoliteBytes {
			break
		}
		if politePart(b[:end+at], hints) {
			found = end + at
		}
		end += at + 1
	}
	return found
}

func politePart(b []byte, hints *lexicon.Hints) bool {
	var room [maxPoliteBytes]byte
	return len(b) <= len(room) && polite(fold.Words(room[:copy(room[:], b)]), hints)
}

func polite(words []byte, hints *lexicon.Hints) bool {
	m, _ := hints.Meaning(words)
	return m&lexicon.Polite != 0 && m&(lexicon.Negation|lexicon.Ambiguous) == 0
}
