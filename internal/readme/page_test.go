package readme

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// pages are what strangers read first.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range append(names, root+"/README.md", root+"/SECURITY.md", root+"/CONTRIBUTING.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

var (
	testName = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9]*)\(`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence    = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestNamedTestsExist: a page that says which test shows something is right about that.
func TestNamedTestsExist(t *testing.T) {
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // moved while we look
			return nil
		}
		for _, match := range testFunc.FindAllSubmatch(source, -1) {
			known[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for page, text := range pages(t) {
		for _, match := range testName.FindAllStringSubmatch(text, -1) {
			named++
			if !known[match[1]] {
				t.Errorf("%s names %s: there is no such test", page, match[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("%d tests are named: the pattern no longer finds them", named)
	}
}

// TestLinks: what a page of this repository points to is there, headings too.
func TestLinks(t *testing.T) {
	texts := pages(t)
	for page, text := range texts {
		for _, match := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
				continue
			}
			if anchor != "" && !hasAnchor(t, file, anchor) {
				t.Errorf("%s links to %s: there is no such heading", page, match[1])
			}
		}
	}
}

func hasAnchor(t *testing.T, file, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(match[1]))
		if slug == anchor {
			return true
		}
	}
	return false
}

// TestPicture: it is a drawing that loads nothing and can be read in the dark.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/holdshort.svg")
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if name := start.Name.Local; name == "script" || name == "image" || name == "foreignObject" || name == "use" {
			t.Errorf("it has a <%s>", name)
		}
		for _, a := range start.Attr {
			if a.Name.Local == "href" || strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "url(") {
				t.Errorf("it refers to something: %s=%q", a.Name.Local, a.Value)
			}
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "<title", "<desc"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it has no %s", want)
		}
	}
}

var (
	metricMade = regexp.MustCompile(`(?:counter|gauge|histogram)\("(holdshort_[a-z_]+)"|# TYPE (holdshort_[a-z_]+) `)
	metricTold = regexp.MustCompile("(?m)^\\| `(holdshort_[a-z_]+)` ")
)

// TestMetricsAreListed: the page has every metric of the source, and no other.
func TestMetricsAreListed(t *testing.T) {
	source, err := os.ReadFile(root + "/telemetry/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(root + "/docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	made, told := map[string]bool{}, map[string]bool{}
	for _, match := range metricMade.FindAllSubmatch(source, -1) {
		made[string(match[1])+string(match[2])] = true
	}
	for _, match := range metricTold.FindAllSubmatch(text, -1) {
		told[string(match[1])] = true
	}
	for name := range made {
		if !told[name] {
			t.Errorf("%s is on no page", name)
		}
	}
	for name := range told {
		if !made[name] {
			t.Errorf("%s is on the page, and nobody makes it", name)
		}
	}
	if len(made) < 10 {
		t.Errorf("%d metrics: the pattern no longer finds them", len(made))
	}
}
