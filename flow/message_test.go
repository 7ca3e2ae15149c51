package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// listening has the flow take what was posted before each of two steps.
func listening(heard *[]string) flow.Flow {
	return made(func(c *flow.Context) (string, error) {
		*heard = nil
		for _, name := range []string{"one", "two"} {
			for {
				word, ok, err := flow.Poll[string](c, "heard "+name, "word", name)
				if !ok {
					break
				}
				if err != nil {
					word = "not a word"
				}
				*heard = append(*heard, name+":"+word)
			}
			if _, err := flow.Step(c, name, func(context.Context) (string, error) { return name, nil }); err != nil {
				return "", err
			}
			if name == "one" {
				if _, err := flow.Approve(c, "ok", flow.Question{Text: "ok?"}); err != nil {
					return "", err
				}
			}
		}
		return "", nil
	})
}

// A poll that took nothing leaves no record, and a place that is past takes nothing that came later: the order in which things were heard is the
// same on every replay.
func TestPollTakesWhatIsThereAndKeepsItsPlace(t *testing.T) {
	m := newMemory()
	var heard []string
	f := listening(&heard)
	m.post("word", `"a"`)
	m.post("other", `"x"`)
	m.post("word", `"b"`)
	suspended(t, m.run(f, ""))
	if got := strings.Join(heard, " "); got != "one:a one:b" {
		t.Fatalf("heard %s", got)
	}
	m.post("word", `"c"`)
	m.post("word", `{"no":"word"}`)
	suspended(t, m.run(f, ""))
	if got := strings.Join(heard, " "); got != "one:a one:b" {
		t.Errorf("heard %s in a place that was past", got)
	}
	m.answer("ok", yes("ok"))
	if end := m.run(f, ""); end.State != flow.Completed {
		t.Fatal(show(end))
	}
	if got := strings.Join(heard, " "); got != "one:a one:b two:c two:not a word" {
		t.Errorf("heard %s", got)
	}
	if end := m.run(f, ""); end.State != flow.Completed || strings.Join(heard, " ") != "one:a one:b two:c two:not a word" {
		t.Errorf("on replay heard %v", heard)
	}
	for _, key := range m.keys() {
		if key == "heard one#3" || key == "heard two#3" {
			t.Errorf("a poll that took nothing is recorded: %s", key)
		}
	}
}

// Notes and the history are recorded like every effect; the history is the one that was first read.
func TestNotesAndHistory(t *testing.T) {
	m := newMemory()
	m.history = []holdshort.Message{{ID: "msg_1", Parts: []holdshort.Part{{Type: "text", Text: "hello"}}}}
	f := made(func(c *flow.Context) (string, error) {
		flow.Note(c, "note", holdshort.Message{Role: holdshort.RoleTool})
		history, err := flow.History(c, "history")
		if err != nil {
			return "", err
		}
		_, err = flow.Approve(c, "ok", flow.Question{Text: "ok?"})
		return history[0].Parts[0].Text, err
	})
	suspended(t, m.run(f, ""))
	m.history = nil
	m.answer("ok", yes("ok"))
	if end := m.run(f, ""); string(end.Result) != `"hello"` || m.did["note"] != 1 {
		t.Errorf("%s, noted %d times", show(end), m.did["note"])
	}
}

// hearing is a recorder that somebody listens to.
type hearing struct {
	*memory
	heard []string
}

func (h *hearing) Stream(key string) flow.Stream {
	h.heard = append(h.heard, "begin "+key)
	return h
}
func (h *hearing) Text(piece string)            { h.heard = append(h.heard, piece) }
func (h *hearing) Restart()                     { h.heard = append(h.heard, "again") }
func (h *hearing) Message() holdshort.MessageID { return "msg_7" }

// A model's function can say its text piece by piece; a step's cannot, and without listeners it leads nowhere.
func TestStreams(t *testing.T) {
	f := made(func(c *flow.Context) (holdshort.MessageID, error) {
		if _, err := flow.Step(c, "step", func(ctx context.Context) (int, error) { flow.StreamOf(ctx).Text("lost"); return 0, nil }); err != nil {
			return "", err
		}
		return flow.Model(c, "model", func(ctx context.Context) (holdshort.MessageID, error) {
			s := flow.StreamOf(ctx)
			s.Text("a")
			s.Restart()
			return s.Message(), nil
		})
	})
	h := &hearing{memory: newMemory()}
	if end := f.Execute(t.Context(), h, nil); string(end.Result) != `"msg_7"` || strings.Join(h.heard, ",") != "begin model,a,again" {
		t.Errorf("%s, heard %q", show(end), h.heard)
	}
	if end := newMemory().run(f, ""); string(end.Result) != `""` {
		t.Error(show(end))
	}
}
