package reply

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// row is one line of the corpus; testdata/corpus/README.md describes it.
type row struct {
	where     string
	q         Question
	text      string
	want      string
	dangerous bool
}

func corpus(t testing.TB) []row {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("find corpus: %d files, %v", len(files), err)
	}
	var rows []row
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(raw), "\n") {
			if line == "" || strings.HasPrefix(line, "#") && !strings.Contains(line, "\t") {
				continue
			}
			where := fmt.Sprintf("%s:%d", filepath.Base(name), n+1)
			columns := strings.Split(line, "\t")
			if len(columns) != 5 {
				t.Fatalf("%s: want 5 columns, got %d", where, len(columns))
			}
			r := row{where: where, text: unescape(t, columns[3]), want: columns[4], dangerous: filepath.Base(name) == "dangerous.tsv"}
			r.q.Options = corpusOptions(columns[2])
			if columns[0] != "-" {
				r.q.Languages = strings.Split(columns[0], ",")
			}
			switch columns[1] {
			case "yes_no", "yes_no!":
				r.q.Expected, r.q.Actions = YesNo, columns[1] == "yes_no!"
			case "single":
				r.q.Expected = SingleChoice
			case "multi":
				r.q.Expected = MultiChoice
			case "text":
				r.q.Expected = FreeText
			default:
				t.Fatalf("%s: no kind is called %q", where, columns[1])
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func corpusOptions(column string) []Option {
	if column == "-" {
		return nil
	}
	var options []Option
	for label := range strings.SplitSeq(column, "|") {
		var o Option
		if rest, ok := strings.CutPrefix(label, "@all "); ok {
			o.Scope, label = AllOccurrences, rest
		}
		if rest, ok := strings.CutPrefix(label, "@this "); ok {
			o.Scope, label = ThisOne, rest
		}
		if id, rest, ok := strings.Cut(label, "="); ok {
			o.ID, label = id, rest
		}
		o.Label = label
		options = append(options, o)
	}
	return options
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
		case strings.HasPrefix(after, "t"):
			out.WriteByte('\t')
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

// reading writes a Reading as the corpus does.
func reading(r Reading, withReason bool) string {
	switch {
	case r.Verdict == Selected:
		var numbers []string
		for i := range r.Selected.All() {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
		return strings.Join(numbers, " ")
	case r.Verdict == None && withReason:
		return "none:" + string(r.Reason)
	}
	return r.Verdict.String()
}

func TestCorpus(t *testing.T) {
	for _, r := range corpus(t) {
		got := reading(Read(r.text, &r.q), strings.Contains(r.want, ":"))
		if got != r.want {
			t.Errorf("%s: %q read as %s, want %s", r.where, r.text, got, r.want)
		}
	}
}

func TestCorpusIsLargeEnough(t *testing.T) {
	languages, dangerous := map[string]int{}, 0
	rows := corpus(t)
	for _, r := range rows {
		if r.dangerous {
			dangerous++
		}
		for _, tag := range r.q.Languages {
			languages[lexicon.Primary(tag)]++
		}
	}
	well := 0
	for _, n := range languages {
		if n >= 30 {
			well++
		}
	}
	t.Logf("%d replies, %d dangerous, %d languages, %d of them with 30 replies or more", len(rows), dangerous, len(languages), well)
	if len(rows) < 600 || dangerous < 200 || well < 18 {
		t.Errorf("the corpus shrank: %d replies, %d dangerous, %d well covered languages", len(rows), dangerous, well)
	}
}

// A dangerous reply is a yes in no language, no pair of the everyday languages, and with no kind of yes_no question.
func TestDangerousRepliesAreNeverYes(t *testing.T) {
	everyday := []string{"en", "he", "pt", "es", "fr", "de", "it", "ar", "ru", "hi", "zh", "ja", "ko", "tr", "pl", "nl", "sv", "uk",
		"id", "vi", "el", "fa", "cs", "sw", "luo", "sr"}
	var hints [][]string
	for _, language := range lexicon.Languages {
		hints = append(hints, []string{language})
	}
	for i, a := range everyday {
		for _, b := range everyday[i+1:] {
			hints = append(hints, []string{a, b})
		}
	}
	hints = append(hints, everyday, nil)
	for _, r := range corpus(t) {
		if !r.dangerous {
			continue
		}
		for _, h := range hints {
			for _, actions := range []bool{true, false} {
				q := Question{Expected: YesNo, Actions: actions, Languages: h}
				if Read(r.text, &q).Verdict == Yes {
					t.Errorf("%s: %q read as yes with hints %v, actions %v", r.where, r.text, h, actions)
				}
			}
		}
	}
}
