package reply

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// split cuts the answer at commas, semicolons, line ends, ampersands and words for and.
func (c *choice) split() {
	c.parts[0].option = -1
	c.n = 1
	start := 0
	for i := 0; i < len(c.core); {
		switch c.core[i] {
		case ',', ';', '\n':
			c.cut(start, i)
			i++
			start = i
		case '&':
			c.join(start, i)
			i++
			start = i
		case ' ':
			if end := c.and(i + 1); end > 0 {
				c.join(start, i)
				i, start = end, end
				continue
			}
			i++
		default:
			i++
		}
	}
	c.cut(start, len(c.core))
	c.broken = c.broken || c.joined
}

// and is the end of a word for and that begins at start and has something behind it, or 0.
func (c *choice) and(start int) int {
	end := start
	for end < len(c.core) && c.core[end] != ' ' && c.core[end] != ',' && c.core[end] != '\n' {
		end++
	}
	if end == len(c.core) || c.core[end] != ' ' {
		return 0
	}
	if m, _ := c.hints.Meaning(c.core[start:end]); m&lexicon.And == 0 {
		return 0
	}
	return end
}

// join cuts before an and: there must be something between two of them, and before the first.
func (c *choice) join(from, to int) {
	c.cut(from, to)
	c.broken = c.broken || c.joined || c.n == 1
	c.joined = true
}

// cut adds a part without what may stand around it. Its words take the place of its text, once its numbers are read.
func (c *choice) cut(from, to int) {
	text, _ := fold.Trim(c.core[from:to])
	if len(text) == 0 {
		return
	}
	c.joined = false
	if c.n == maxParts {
		c.broken = true
		return
	}
	p := &c.parts[c.n]
	c.n++
	p.option = -1
	p.numbers = readNumbers(text, len(c.q.Options), c.hints)
	p.from = from + cap(c.core[from:]) - cap(text) // text is a slice of the core
	p.to = p.from + len(fold.Words(text))
}

// list reads the parts as options: labels, ids, numbers and ranges, in any mixture.
func (c *choice) list() (set Set, why Reason) {
	if c.broken || c.n == 1 {
		return Set{}, UnknownOption
	}
	var byNumber Set
	single := c.q.Expected == SingleChoice
	for i := 1; i < c.n; i++ {
		p := &c.parts[i]
		nums := &p.numbers
		switch {
		case p.clash, p.option >= 0 && nums.usable() && nums.set != only(p.option) && !(single && nums.count > 1):
			return Set{}, Ambiguous // but a range is no answer to a single choice: there "1-2" can only be the label
		case p.option >= 0:
			set.add(p.option)
			c.items++
		case nums.usable():
			set.union(nums.set)
			byNumber.union(nums.set)
			c.items += nums.count
		case !nums.ok:
			why = UnknownOption
		case why != "":
		case nums.outside:
			why = OutOfRange
		default:
			why = BackwardRange
		}
	}
	if why == "" && (c.misnumbered(byNumber) || c.items > 1 && c.parts[0].option < 0 && c.hidden()) {
		return Set{}, Ambiguous
	}
	return set, why
}

// misnumbered reports a chosen number that is also another option's id, or how its label begins: "2" of "2 nights" and
// "3 nights" may be either.
func (c *choice) misnumbered(chosen Set) bool {
	for i := range c.q.Options {
		if v, ok := labelNumber(c.q.Options[i].Label, c.hints); ok && v-1 != i && chosen.Has(v-1) {
			return true
		}
		if v, ok := idNumber(c.q.Options[i].ID); ok && v-1 != i && chosen.Has(v-1) {
			return true
		}
	}
	return false
}

func isLatin(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// hidden reports the label of an option that is itself a list, within the longer list of the reply: with the options Salt,
// Pepper, "Salt and pepper" and Oil, "salt and pepper, oil" may be two of them or three.
func (c *choice) hidden() bool {
	var room [scratch]byte
	numbers := !bytes.ContainsFunc(c.whole, unicode.IsLetter)
	for i := range c.q.Options {
		if numbers && strings.ContainsFunc(c.q.Options[i].Label, isLatin) {
			continue // a reply without letters does not hold its words: no need to fold it
		}
		label, _ := fold.Text(room[:0], c.q.Options[i].Label)
		if !bytes.ContainsAny(label, " &") || !hasWords(c.whole, label) {
			continue
		}
		picked := false
		for j := 1; j < c.n; j++ {
			picked = picked || c.parts[j].option == i
		}
		if !picked {
			return true
		}
	}
	return false
}
