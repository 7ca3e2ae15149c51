package reply

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort/internal/testall"
)

// hostileReplies are replies of about n bytes that are made to be slow to read.
func hostileReplies(n int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, n/len(s)) }
	half := func(a, b string) string { return strings.Repeat(a, n/2/len(a)) + strings.Repeat(b, n/2/len(b)) }
	return map[string]string{
		"marks out of order":      half("\u0301", "\u0323"),
		"marks of many classes":   fill("\u0301\u0323\u0327\u0338"),
		"commas in a value":       "x=" + fill(","),
		"commas before a sign":    "x=" + fill(",a") + "=",
		"signs in a value":        "x=" + fill("a="),
		"lines without fields":    fill("1:\n"),
		"lines with one field":    fill("x:\n"),
		"quotes":                  fill("\"'"),
		"brackets":                half("(", ")"),
		"tildes":                  fill("~"),
		"smiles":                  fill(":)"),
		"named emoji":             fill(":+1:"),
		"emoji":                   fill("👍"),
		"polite words":            fill("please "),
		"words for and":           fill("1 and "),
		"ranges":                  fill("1-128,"),
		"a letter that unfolds":   fill("\uFDFA"),
		"invisible characters":    fill("\u200B") + "yes",
		"opening JSON brackets":   "{\"x\":" + fill("["),
		"a number without an end": "{\"x\":" + fill("1") + "}",
	}
}

// The limit is a hundred times what reading takes; a reader that looked at a reply again for each of its characters would
// need minutes.
func TestHostileRepliesTakeNoTime(t *testing.T) {
	const limit = 15 * time.Second
	options := make([]Option, MaxOptions)
	for i := range options {
		options[i] = Option{ID: fmt.Sprintf("%d_%s", i, strings.Repeat("x", 40)), Label: fmt.Sprintf("%d, and %s", i, strings.Repeat("y", 40))}
	}
	kinds := []Expected{YesNo, SingleChoice, MultiChoice, FreeText, Form}
	for i, kind := range kinds {
		size := MaxReply - 8
		if kind == FreeText || kind == Form {
			size = MaxText - 8
		}
		replies := hostileReplies(size)
		for j, name := range slices.Sorted(maps.Keys(replies)) {
			text := replies[name]
			for k, fieldType := range []FieldType{String, Boolean, Enum} {
				if kind != Form && fieldType != String {
					continue
				}
				if kind != YesNo && (i+j+k)%3 != 0 && !testall.Enabled() {
					continue
				}
				q := &Question{Expected: kind, Options: options, Languages: []string{"he", "pt", "vi"},
					Fields: []Field{{Name: "x", Type: fieldType, Required: true, Enum: []string{"a", "b"}}, {Name: "y"}, {Name: "z z"}}}
				start := time.Now()
				got := Read(text, q)
				if took := time.Since(start); took > limit {
					t.Errorf("%s as %s %s took %v", name, kind, fieldType, took)
				}
				if got.Verdict == Yes && name != "named emoji" && name != "emoji" && name != "invisible characters" {
					t.Errorf("%s as %s read as %v", name, kind, got)
				}
			}
		}
	}
}

// Read keeps nothing between replies, so that any number may be read at once.
func TestConcurrentReads(t *testing.T) {
	rows := corpus(t)
	var wait sync.WaitGroup
	for first := range 4 {
		wait.Go(func() {
			for i := range rows {
				r := &rows[(i+first*len(rows)/4)%len(rows)]
				if got := reading(Read(r.text, &r.q), strings.Contains(r.want, ":")); got != r.want {
					t.Errorf("%s: %q read as %s, want %s", r.where, r.text, got, r.want)
				}
			}
		})
	}
	wait.Wait()
}
