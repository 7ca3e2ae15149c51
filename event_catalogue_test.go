package holdshort_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/holdshort/holdshort"
)

// The page names exactly what the code can write.
func TestEventPageNamesTheCatalogue(t *testing.T) {
	page, err := os.ReadFile("docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\| [a-z, ]+ \|.*`).FindAll(page, -1) {
		for _, m := range regexp.MustCompile("`([a-z_.:]+)`").FindAllSubmatch(row, -1) {
			named = append(named, string(m[1]))
		}
	}
	want := slices.Sorted(slices.Values(holdshort.EventNames))
	if slices.Sort(named); !slices.Equal(named, want) {
		t.Errorf("docs/events.md names %d events, the catalogue has %d:\npage      %v\ncatalogue %v", len(named), len(want), named, want)
	}
	if len(slices.Compact(want)) != len(holdshort.EventNames) {
		t.Error("the catalogue names an event twice")
	}
}
