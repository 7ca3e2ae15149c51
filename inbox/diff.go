package inbox

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// compareView is how a request differs from the last one that was like it.
type compareView struct {
	ID, Code, Outcome, By string
	At                    time.Time
	Same                  int // how many values are alike
	Rows                  []diffRow
	Long                  bool // there is too much of it to compare
}

// mostLeaves is how many values are compared one by one.
const mostLeaves = 3000

type diffRow struct {
	Name     string
	Was, Is  string
	Withheld bool       // one of the two is not shown
	Lines    []diffLine // of a text that has several
}

type diffLine struct {
	Tone string // yes: new, no: gone, "": as before
	Text string
}

// compareOf compares call by call, field by field. What is withheld in either is not compared: a difference would tell of it.
func compareOf(s sight, last *engine.RequestView) *compareView {
	if last == nil || len(s.Request.Actions) == 0 || len(last.Request.Actions) == 0 {
		return nil
	}
	out := &compareView{ID: string(last.Request.ID), Code: last.Request.Code, Outcome: string(last.Request.Outcome), At: last.Request.ClosedAt}
	if d := last.Decision; d != nil {
		out.By, out.At = nameOf(d.Actor), d.At
	}
	for i, a := range s.Request.Actions {
		if i >= len(last.Request.Actions) || last.Request.Actions[i].Tool != a.Tool {
			continue
		}
		before := last.Request.Actions[i]
		hidden := append(slices.Clone(s.withheld(a)), before.Redacted...) // the other one was not revealed
		was, is := leavesOf(before.Args, hidden), leavesOf(a.Args, hidden)
		if len(was) > mostLeaves || len(is) > mostLeaves {
			out.Long = true
			continue
		}
		rows, same := diffOf(was, is)
		out.Rows, out.Same = append(out.Rows, rows...), out.Same+same
	}
	return out
}

// leaf is a value that has none below it, by its path.
type leaf struct {
	path, text string
	withheld   bool
}

func leavesOf(raw json.RawMessage, withheld []string) (out []leaf) {
	var walk func(n argNode, path string)
	walk = func(n argNode, path string) {
		if n.Rows() {
			for _, item := range n.Items {
				walk(item, join(path, item.Name))
			}
			return
		}
		out = append(out, leaf{path, n.Text, n.Kind == "withheld"})
	}
	walk(nodeOf("", "", holdshort.Redact(raw, withheld), withheld, ""), "")
	return out
}

func diffOf(was, is []leaf) (rows []diffRow, same int) {
	byPath := func(list []leaf) map[string]*leaf {
		out := make(map[string]*leaf, len(list))
		for i := range list {
			out[list[i].path] = &list[i]
		}
		return out
	}
	then, there := byPath(was), byPath(is)
	for _, now := range is {
		before := then[now.path]
		switch {
		case before == nil:
			rows = append(rows, diffRow{Name: now.path, Is: now.text, Withheld: now.withheld})
		case before.withheld || now.withheld:
			rows = append(rows, diffRow{Name: now.path, Withheld: true})
		case before.text != now.text:
			rows = append(rows, diffRow{Name: now.path, Was: before.text, Is: now.text, Lines: lineDiff(before.text, now.text)})
		default:
			same++
		}
	}
	for _, before := range was {
		if there[before.path] == nil {
			rows = append(rows, diffRow{Name: before.path, Was: before.text, Withheld: before.withheld})
		}
	}
	return rows, same
}

// changedRows gives the arguments that run, each with what it was where somebody changed it.
func changedRows(was, is []argNode) []argNode {
	out := slices.Clone(is)
	then, left := map[string]int{}, map[string]bool{}
	for j, n := range was {
		then[n.Name] = j
	}
	for i := range out {
		left[out[i].Name] = true
		j, ok := then[out[i].Name]
		switch {
		case !ok:
			out[i].New = true
		case !sameNode(was[j], out[i]):
			out[i].Was = &was[j]
		}
	}
	for _, n := range was {
		if !left[n.Name] {
			n.Gone = true
			out = append(out, n)
		}
	}
	return out
}

func sameNode(a, b argNode) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.EqualFunc(a.Items, b.Items, func(x, y argNode) bool { return x.Name == y.Name && sameNode(x, y) })
}
