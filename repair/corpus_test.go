package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// call is a call that failed, from testdata/cases.json.
type call struct {
	Base    string          `json:"base"`
	Fault   tool.Fault      `json:"fault"`
	Args    json.RawMessage `json:"args"`
	Schema  json.RawMessage `json:"schema"`
	History []Line          `json:"history"`
}

func calls(t testing.TB) map[string]call {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]call
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for name, c := range all {
		if c.Base != "" {
			base := all[c.Base]
			base.History = c.History
			all[name] = base
		}
	}
	return all
}

// row is one line of the corpus; testdata/corpus/README.md describes it.
type row struct {
	where, name, text, want string
	languages               []string
	denial                  bool
}

func corpus(t testing.TB) []row {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("find corpus: %d files, %v", len(files), err)
	}
	var rows []row
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(raw), "\n") {
			if line == "" || strings.HasPrefix(line, "#") && !strings.Contains(line, "\t") {
				continue
			}
			where := fmt.Sprintf("%s:%d", filepath.Base(file), n+1)
			columns := strings.Split(line, "\t")
			if len(columns) != 4 {
				t.Fatalf("%s: want 4 columns, got %d", where, len(columns))
			}
			r := row{where: where, name: columns[1], text: unescape(t, columns[2]), want: columns[3], denial: filepath.Base(file) == "denials.tsv"}
			if columns[0] != "-" {
				r.languages = strings.Split(columns[0], ",")
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func unescape(t testing.TB, s string) string {
	t.Helper()
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\`)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		switch {
		case strings.HasPrefix(after, "n"):
			out.WriteByte('\n')
			s = after[1:]
		case strings.HasPrefix(after, `\`):
			out.WriteByte('\\')
			s = after[1:]
		case strings.HasPrefix(after, "u{"):
			hex, rest, _ := strings.Cut(after[2:], "}")
			v, err := strconv.ParseUint(hex, 16, 32)
			if err != nil {
				t.Fatalf("unescape %q: %v", after, err)
			}
			out.WriteRune(rune(v))
			s = rest
		default:
			t.Fatalf("unescape: a backslash before %q means nothing", after)
		}
	}
}

// outcome writes a patch or a refusal as the corpus does.
func outcome(p Patch, err error) string {
	if err != nil {
		return "!" + string(ReasonOf(err))
	}
	var parts []string
	for _, field := range p.Fields() {
		parts = append(parts, field+"="+string(p.Set[field]))
	}
	return strings.Join(parts, ";")
}

func TestCorpus(t *testing.T) {
	all, rows, patches := calls(t), corpus(t), 0
	languages := map[string]int{}
	for _, r := range rows {
		c, ok := all[r.name]
		if !ok {
			t.Fatalf("%s: there is no case %q", r.where, r.name)
		}
		for _, l := range r.languages {
			languages[l]++
		}
		p, err := Read(r.text, c.Fault, c.Args, c.Schema, c.History, r.languages...)
		got := outcome(p, err)
		if got != r.want && !(r.want == "!" && strings.HasPrefix(got, "!") && got != "!") {
			t.Errorf("%s: %q for %s gives %s, want %s", r.where, r.text, r.name, got, r.want)
		}
		if err == nil {
			patches++
			continue
		}
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Message == "" || e.Code != holdshort.InvalidReply && e.Code != holdshort.Canceled {
			t.Errorf("%s: refused with %#v", r.where, err)
		}
	}
	if len(rows) < 800 || patches < 300 || len(rows)-patches < 300 {
		t.Errorf("the corpus has %d replies, %d of them corrections: some were lost", len(rows), patches)
	}
	for language, least := range map[string]int{"en": 400, "he": 60, "pt": 70, "es": 15, "fr": 15, "de": 15} {
		if languages[language] < least {
			t.Errorf("the corpus has %d replies in %s, want %d", languages[language], language, least)
		}
	}
}

// TestDenialsNeverSelect tries what denies in every case, in every language.
func TestDenialsNeverSelect(t *testing.T) {
	all := calls(t)
	for _, r := range corpus(t) {
		if !r.denial {
			continue
		}
		for name, c := range all {
			for _, languages := range [][]string{nil, {"he"}, {"pt"}, {"ja"}} {
				if p, err := Read(r.text, c.Fault, c.Args, c.Schema, c.History, languages...); err == nil {
					t.Errorf("%s: %q for %s in %v sets %s", r.where, r.text, name, languages, outcome(p, nil))
				}
			}
		}
	}
}
