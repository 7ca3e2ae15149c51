package reply

import (
	"bytes"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

func readChoice(text string, q *Question, hints *lexicon.Hints) Reading {
	if len(q.Options) > MaxOptions {
		return not(TooManyOptions)
	}
	var room [2 * scratch]byte
	a := foldAnswer(room[:0], text, hints)
	c := choice{q: q, hints: hints, full: a.full, whole: a.words, core: a.core}
	if core := withoutThanks(a.core, hints); len(core) < len(a.core) && !c.thanksNamed() {
		c.core = core
	}
	thanked := len(c.core) < len(a.core)
	c.split()
	c.matchLabels()

	p := readPhrase(hints, a.words)
	whole := &c.parts[0]
	listed, why := c.list()
	switch {
	case whole.clash:
		return not(Ambiguous)
	case whole.option >= 0: // a label wins over whatever else its words mean, but not over another option's number
		several := q.Expected == SingleChoice && c.items > 1 // which is no answer to a single choice
		if why == Ambiguous || why == "" && listed != only(whole.option) && !several && !thanked {
			return not(Ambiguous)
		}
		return Reading{Verdict: Selected, Selected: only(whole.option)}
	case p.meaning&lexicon.Cancel != 0 && !a.quoted && !a.yes:
		if c.cancelNamed() {
			return not(Ambiguous)
		}
		return Reading{Verdict: Cancel}
	case a.no:
		return not(Ambiguous)
	case q.Expected == SingleChoice:
		return c.single(listed, why, p)
	case why == "":
		return Reading{Verdict: Selected, Selected: listed}
	case p.meaning&lexicon.All != 0 && len(q.Options) > 0:
		return Reading{Verdict: Selected, Selected: upTo(len(q.Options))}
	case p.meaning&lexicon.Both != 0 && len(q.Options) == 2:
		return Reading{Verdict: Selected, Selected: upTo(2)}
	case p.meaning&lexicon.Both != 0:
		return not(BothNotTwo)
	}
	return not(why)
}

// cancelNamed reports an option that a cancel word may have been meant for.
func (c *choice) cancelNamed() bool {
	for i := range c.q.Options {
		if o := &c.q.Options[i]; namesCancel(c.whole, o.Label, c.hints) || namesCancel(c.whole, o.ID, c.hints) {
			return true
		}
	}
	return false
}

// thanksNamed reports an option with a polite word for its name, or at an end of it: "red, thanks" may be two answers then,
// and "thank you card" is none of the other cards.
func (c *choice) thanksNamed() bool {
	var room [scratch]byte
	for i := range c.q.Options {
		for _, name := range [2]string{c.q.Options[i].Label, c.q.Options[i].ID} {
			words, _ := fold.Text(room[:0], name)
			if polite(words, c.hints) || len(withoutThanks(words, c.hints)) < len(words) {
				return true
			}
		}
	}
	return false
}

// single finishes a single choice: one number, one scope word, never several.
func (c *choice) single(listed Set, why Reason, p phrase) Reading {
	if why == "" {
		if c.items != 1 {
			return not(SeveralForSingle)
		}
		return Reading{Verdict: Selected, Selected: listed}
	}
	scope := NoScope
	switch {
	case p.meaning&lexicon.ThisOne != 0:
		scope = ThisOne
	case p.meaning&(lexicon.AllOccurrences|lexicon.All) != 0:
		scope = AllOccurrences
	}
	if scope != NoScope && p.meaning&lexicon.Ambiguous == 0 {
		found := -1
		for i := range c.q.Options {
			if c.q.Options[i].Scope == scope {
				if found >= 0 {
					return not(Ambiguous)
				}
				found = i
			}
		}
		if found >= 0 {
			return Reading{Verdict: Selected, Selected: only(found)}
		}
	}
	if p.meaning&(lexicon.All|lexicon.Both) != 0 {
		return not(SeveralForSingle)
	}
	return not(why)
}

const maxParts = MaxOptions + 1

// choice is a reply cut into the parts of a list; part 0 is the whole.
type choice struct {
	q          *Question
	hints      *lexicon.Hints
	full, core []byte
	whole      []byte // the words of the reply, emoji and smiles aside
	parts      [maxParts]part
	n          int
	items      int
	joined     bool // an and stands before the next part
	broken     bool // more parts than there can be options, or an and with nothing before it
}

// part is one item of a list: where its words are in the core, the numbers they are, and the option they name.
type part struct {
	from, to int
	numbers  numbers
	option   int // index, or -1
	clash    bool
}

func (c *choice) words(i int) []byte {
	if i == 0 {
		return c.full
	}
	return c.core[c.parts[i].from:c.parts[i].to]
}

// matchLabels compares every option's label and id with every part, so that each is folded once.
func (c *choice) matchLabels() {
	var room [scratch]byte
	for i := range c.q.Options {
		o := &c.q.Options[i]
		c.matchName(i, o.Label, room[:0])
		if o.ID != o.Label {
			c.matchName(i, o.ID, room[:0])
		}
	}
}

func (c *choice) matchName(option int, name string, room []byte) {
	words, _ := fold.Text(room, name)
	if len(words) == 0 {
		return
	}
	plain := withoutSigns(words)
	for i := range c.n {
		p, typed := &c.parts[i], c.words(i)
		if !calls(typed, words, option+1) && !calls(typed, plain, option+1) {
			continue
		}
		p.clash = p.clash || p.option >= 0 && p.option != option
		p.option = option
	}
}

func calls(words, label []byte, number int) bool {
	return bytes.Equal(words, label) || numbered(words, number, label)
}

// numbered reports a label written with its own number, as it was shown: "2. Blue", "2) Blue", "2 - Blue".
func numbered(words []byte, number int, label []byte) bool {
	if len(words) < len(label)+2 || !bytes.HasSuffix(words, label) {
		return false
	}
	before := bytes.TrimLeft(bytes.TrimRight(words[:len(words)-len(label)], " ):"), "(#")
	v := 0
	for _, d := range before {
		if d < '0' || d > '9' || v > MaxOptions {
			return false
		}
		v = v*10 + int(d-'0')
	}
	return v == number && words[len(words)-len(label)-1] == ' '
}
