package holdshort

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the pictures of the state machines into docs/architecture.md")

const picturePage = "docs/architecture.md"

// The pictures are drawn from the tables, so that they cannot say anything else.
func TestPicturesOfTheMachinesAreUpToDate(t *testing.T) {
	page, err := os.ReadFile(picturePage)
	if err != nil {
		t.Fatal(err)
	}
	drawn := string(page)
	for name, picture := range map[string]string{
		"run": draw(&runMachine), "request": draw(&requestMachine), "operation": draw(&operationMachine),
		"delivery": draw(&deliveryMachine), "session": draw(&sessionMachine),
	} {
		begin, end := "<!-- states: "+name+" -->\n", "<!-- end: "+name+" -->\n"
		before, rest, ok := strings.Cut(drawn, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no lines %q and %q", picturePage, begin, end)
		}
		drawn = before + begin + picture + end + after
	}
	if drawn == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show what the machines do: run `go test . -run Pictures -update`", picturePage)
	}
	if err := os.WriteFile(picturePage, []byte(drawn), 0o644); err != nil {
		t.Fatal(err)
	}
}

// draw gives a Mermaid state diagram. Inputs that lead the same way share an arrow.
func draw[S, I ~string](m *machine[S, I]) string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", m.states[0])
	for _, from := range m.states {
		for _, to := range m.states {
			var labels []string
			for _, input := range m.inputs {
				if next, ok := m.table[from][input]; ok && next == to {
					labels = append(labels, string(input))
				}
			}
			if len(labels) > 0 {
				fmt.Fprintf(&b, "    %s --> %s : %s\n", from, to, strings.Join(labels, ", "))
			}
		}
		if m.final(from) {
			fmt.Fprintf(&b, "    %s --> [*]\n", from)
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func TestDrawMergesArrowsWithTheSameEnds(t *testing.T) {
	m := machine[string, string]{noun: "door", states: []string{"open", "shut", "gone"}, inputs: []string{"push", "kick", "look", "burn"},
		table: map[string]map[string]string{"open": {"push": "shut", "kick": "shut", "look": "open"}, "shut": {"push": "open", "burn": "gone"}}}
	want := "```mermaid\nstateDiagram-v2\n    [*] --> open\n    open --> open : look\n    open --> shut : push, kick\n" +
		"    shut --> open : push\n    shut --> gone : burn\n    gone --> [*]\n```\n"
	if got := draw(&m); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
