package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the answers of the transcripts anew")

// transcript is what goes over the wire, step by step. Each step is a section "-- METHOD PATH as WHO --" with the body that is sent, and
// after it "-- answer --" with what comes back. Whatever differs from run to run is replaced: ids by their order, times and hashes by a word.
type transcript struct {
	steps []step
	names map[string]string // of what was replaced
	count map[string]int
}

type step struct {
	head, body, answer string
}

func readTranscript(text string) *transcript {
	tr := &transcript{names: map[string]string{}, count: map[string]int{}}
	for _, line := range strings.SplitAfter(text, "\n") {
		name, found := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		name, end := strings.CutSuffix(name, " --")
		last := len(tr.steps) - 1
		switch {
		case found && end && name == "answer":
			tr.steps[last].answer = "\n"
		case found && end:
			tr.steps = append(tr.steps, step{head: name})
		case last < 0: // what stands before the first step says what it is about
		case tr.steps[last].answer != "":
			tr.steps[last].answer += line
		default:
			tr.steps[last].body += line
		}
	}
	return tr
}

var varying = regexp.MustCompile(`(ses|run|req|msg|key|whk|dlv|dec|inb|whsec|hs|call)_[0-9A-Za-z+/=_-]{16,}|key:key_[0-9a-z]{20,}|\d{4}-\d\d-\d\dT[0-9:.]+Z|\b(k[0-9a-f]{8}:)?[0-9a-f]{64}\b|"claim_token": "[^"]+"|"code": "[A-Z][0-9]"`)

// same replaces what differs from run to run.
func (tr *transcript) same(text string) string {
	return varying.ReplaceAllStringFunc(text, func(found string) string {
		kind := "HASH"
		switch i := strings.IndexAny(found, "_:"); {
		case strings.HasPrefix(found, `"claim_token"`):
			tr.names["TOKEN"] = strings.Trim(strings.TrimPrefix(found, `"claim_token": `), `"`)
			return `"claim_token": "TOKEN"`
		case strings.HasPrefix(found, `"code"`):
			return `"code": "CODE"`
		case found[0] == '2' && strings.HasSuffix(found, "Z"):
			return "TIME"
		case len(found) >= 64 && !strings.Contains(found, "_"):
			return kind
		default:
			kind = found[:i]
		}
		for name, value := range tr.names {
			if value == found {
				return name
			}
		}
		tr.count[kind]++
		name := fmt.Sprintf("%s_%d", kind, tr.count[kind])
		tr.names[name] = found
		return name
	})
}

// real puts what was replaced back into what is sent.
func (tr *transcript) real(text string) string {
	return regexp.MustCompile(`\b(ses|run|req|msg|key|whk|dlv)_\d+\b|\bTOKEN\b`).ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := tr.names[name]; ok {
			return value
		}
		return name
	})
}

// TestTranscripts plays what stands in testdata and compares the answers, byte for byte after what varies. Run it with -update to write them.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := newHouse(t)
			tr := readTranscript(string(raw))
			var out strings.Builder
			intro, _, _ := strings.Cut(string(raw), "-- ")
			out.WriteString(intro)
			for _, s := range tr.steps {
				var method, path, who string
				if _, err := fmt.Sscanf(s.head, "%s %s as %s", &method, &path, &who); err != nil {
					t.Fatalf("step %q: %v", s.head, err)
				}
				var body any
				if text := strings.TrimSpace(s.body); text != "" {
					body = tr.real(text)
				}
				a := d.call(t, who, method, tr.real(path), body)
				var shown bytes.Buffer
				if json.Indent(&shown, bytes.TrimSpace(a.body), "", "  ") != nil {
					shown.Write(a.body)
				}
				fmt.Fprintf(&out, "-- %s --\n%s-- answer --\n%d %s\n%s\n", s.head, s.body, a.status, a.header.Get("Content-Type"), tr.same(shown.String()))
			}
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, got := strings.Split(string(raw), "\n"), strings.Split(out.String(), "\n")
			for i := range max(len(want), len(got)) {
				if i >= len(want) || i >= len(got) || want[i] != got[i] {
					t.Fatalf("line %d is %q, want %q (run with -update if that is meant)", i+1, at(got, i), at(want, i))
				}
			}
		})
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "the end"
}
