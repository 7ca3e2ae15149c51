package inbox

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

var (
	linkedFile   = regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`)
	importedFile = regexp.MustCompile(`(?:import|from)\s*["'](\./[^"']+)["']`)
	laterFile    = regexp.MustCompile(`import\(["'](\./[^"']+)["']\)`)
)

// The inbox is light: everything that a browser loads for a full list is at most 50 KiB on the wire. The scripts of cards follow when the list is
// there, and are light as well.
func TestDeskWeight(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	reviewers := holdshort.Audience{Roles: []string{policy.Reviewer}}
	for i := range rowsShown + 10 {
		b.asks(engine.AskInput{Question: fmt.Sprintf("Refund %d.%02d EUR to order %d, as the customer wrote on Monday?", i*37%911, i*13%100, 1000+i*7), Audience: reviewers, ExpiresIn: time.Duration(i+1) * time.Minute,
			Actions: []engine.AskAction{{Tool: "orders.refund", Args: fmt.Appendf(nil, `{"order":"%d"}`, i)}}})
	}
	page := b.get("ana", "/")
	if n := len(page.rows()); n != rowsShown {
		t.Fatalf("%d rows", n)
	}
	type file struct {
		name string
		size int
	}
	seen := map[string]bool{}
	var later []string
	weigh := func(todo []string) (files []file, total int) {
		for len(todo) > 0 {
			name := todo[0]
			todo = todo[1:]
			if seen[name] {
				continue
			}
			seen[name] = true
			plain := b.get("ana", name)
			if plain.status != 200 {
				t.Errorf("%s: %d", name, plain.status)
			}
			if path.Ext(name) == ".js" && path.Base(name) != "htmx.min.js" {
				for _, m := range importedFile.FindAllStringSubmatch(plain.text, -1) {
					todo = append(todo, path.Join(path.Dir(name), m[1]))
				}
				for _, m := range laterFile.FindAllStringSubmatch(plain.text, -1) {
					later = append(later, path.Join(path.Dir(name), m[1]))
				}
			}
			size := len(b.get("ana", name, "Accept-Encoding", "gzip").text)
			files, total = append(files, file{path.Base(name), size}), total+size
		}
		slices.SortFunc(files, func(a, b file) int { return b.size - a.size })
		return files, total
	}
	first := []string{"/"}
	for _, m := range linkedFile.FindAllStringSubmatch(page.text, -1) {
		first = append(first, m[1])
	}
	files, total := weigh(first)
	t.Logf("%d bytes: %v", total, files)
	if len(files) < 12 {
		t.Errorf("only %d files were found: %v", len(files), files)
	}
	if total > 50<<10 {
		t.Errorf("the inbox weighs %d bytes, more than 50 KiB: %v", total, files)
	}
	files, more := weigh(later)
	t.Logf("later %d bytes: %v", more, files)
	if len(files) < 2 || more > 14<<10 {
		t.Errorf("the scripts of cards weigh %d bytes: %v", more, files)
	}
}
