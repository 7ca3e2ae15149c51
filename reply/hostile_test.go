package reply

import (
	"fmt"
	"maps"
	"runtime"
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

// readingTime returns how long its thread works to read a reply.
func readingTime(t *testing.T, text string, q *Question) (Reading, time.Duration) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime(t)
	got := Read(text, q)
	return got, threadTime(t) - start
}

// TestHostileRepliesTakeNoTime: the time to read a reply grows with its length, and not faster. A reader that looked at a reply again for each of
// its characters would take 16 times as long for four times the text. Short times are not compared: they say little.
func TestHostileRepliesTakeNoTime(t *testing.T) {
	const short, growth = 2 * time.Second, 10
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
		replies, quarters, sixteenths := hostileReplies(size), hostileReplies(size/4), hostileReplies(size/16)
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
				_, sixteenth := readingTime(t, sixteenths[name], q)
				_, quarter := readingTime(t, quarters[name], q)
				if quarter > short/4 && quarter > growth*sixteenth { // reading all of it would take hours
					t.Errorf("a quarter of %s as %s %s took %v, and a sixteenth %v", name, kind, fieldType, quarter, sixteenth)
					continue
				}
				got, took := readingTime(t, text, q)
				if took > short && took > growth*quarter {
					t.Errorf("%s as %s %s took %v, and a quarter of it %v", name, kind, fieldType, took, quarter)
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
