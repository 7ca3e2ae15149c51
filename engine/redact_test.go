package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

func nothing(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

// masking takes a word out at one stage.
func masking(at Stage, word string) func(context.Context, Redaction) ([]holdshort.Part, error) {
	return func(_ context.Context, r Redaction) ([]holdshort.Part, error) {
		if r.Stage != at {
			return r.Parts, nil
		}
		for i := range r.Parts {
			r.Parts[i].Text = strings.ReplaceAll(r.Parts[i].Text, word, "***")
		}
		return r.Parts, nil
	}
}

// TestRedactBeforeStoring: what the hook takes out is nowhere in the database once the message was routed, but the user is told in full, and
// an answer is read in full.
func TestRedactBeforeStoring(t *testing.T) {
	const secret = "4111-1111"
	heard := flow.New("talk", 1, func(c *flow.Context, m struct{ Text string }) (string, error) {
		flow.Say(c, "echo", "your card is "+secret)
		return m.Text, nil
	})
	r := newRoom(t, Config{Flows: []flow.Flow{heard, confirmer("confirm")}, Redact: masking(StageStore, secret)})
	s := r.chatting("talk")
	got := r.hear(s, "my card is "+secret)
	if got.Outcome != RoutedStart {
		t.Fatalf("%+v", got)
	}
	if run := r.run(got.Run); strings.Contains(string(run.Input), secret) || string(run.Result) != `"my card is ***"` {
		t.Errorf("the run got %s and gave %s", run.Input, run.Result)
	}
	if sent := strings.Join(r.box.texts(t), "|"); sent != "your card is "+secret {
		t.Errorf("sent %q", sent)
	}
	for _, said := range r.said(s) {
		if strings.Contains(said, secret) {
			t.Errorf("stored %q", said)
		}
	}
	err := r.store.View(t.Context(), acme, func(tx store.ReadTx) error {
		in, err := tx.Inbound("chat", "+1", "m1ns")
		if strings.Contains(string(in.Body), secret) || !strings.Contains(string(in.Body), "***") {
			t.Errorf("the inbound row keeps %s", in.Body)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := r.hearAs(s, Inbound{ID: "m1ns", Text: "my card is " + secret}); !again.Duplicate {
		t.Errorf("%+v", again)
	}
	// "yes" is what the hook takes out: it is read all the same, and kept without it.
	strict := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}, Redact: masking(StageStore, "yes")})
	s = strict.chatting("")
	strict.begin("confirm", s, `"Refund?"`)
	strict.clock.move(time.Second)
	answer := strict.hear(s, "yes")
	if d, err := strict.decision(answer.Request); err != nil || d.Action != holdshort.Approve || d.Raw != "***" {
		t.Errorf("%+v %+v %v", answer, d, err)
	}
}

// TestRedactBeforeShowing: at the stages show and model the store keeps all, and only those who look get less.
func TestRedactBeforeShowing(t *testing.T) {
	for _, c := range []struct {
		stage               Stage
		store, shown, model string
	}{{StageShow, "I am Ben", "I am ***", "I am Ben"}, {StageModel, "I am Ben", "I am Ben", "I am ***"}, {StageStore, "I am ***", "I am ***", "I am ***"}} {
		t.Run(string(c.stage), func(t *testing.T) {
			r := newRoom(t, Config{Redact: masking(c.stage, "Ben")})
			s := r.session(OpenSessionInput{})
			r.takeOver(s, olga)
			said, err := r.SayAs(t.Context(), acme, SayInput{Session: s.ID, Actor: olga, Text: "I am Ben"})
			if err != nil {
				t.Fatal(err)
			}
			var stored holdshort.Message
			if err := r.store.View(t.Context(), acme, func(tx store.ReadTx) (err error) { stored, err = tx.Message(said.ID); return err }); err != nil {
				t.Fatal(err)
			}
			page, err1 := r.History(t.Context(), acme, HistoryQuery{Session: s.ID})
			raw, err2 := r.Messages(t.Context(), acme, MessageQuery{Session: s.ID})
			one, err3 := r.MessageByID(t.Context(), acme, said.ID)
			model, err4 := r.ModelHistory(t.Context(), acme, s.ID, "")
			if err := errors.Join(err1, err2, err3, err4); err != nil {
				t.Fatal(err)
			}
			if got := stored.Parts[0].Text; got != c.store {
				t.Errorf("stored %q", got)
			}
			for name, got := range map[string]string{"answer": said.Parts[0].Text, "history": texts(page.Items), "messages": texts(raw.Items), "message": one.Parts[0].Text} {
				if got != c.shown {
					t.Errorf("%s shows %q", name, got)
				}
			}
			if got := texts(model); got != c.model {
				t.Errorf("the model gets %q", got)
			}
		})
	}
}

// TestRedactFailsClosed: a hook that panics, gives an error or something that cannot be kept has the message withheld; nothing else stops.
func TestRedactFailsClosed(t *testing.T) {
	for name, hook := range map[string]func(Redaction) ([]holdshort.Part, error){
		"panics":      func(Redaction) ([]holdshort.Part, error) { panic("no") },
		"nil map":     func(Redaction) ([]holdshort.Part, error) { var m map[string]int; m["x"]++; return nil, nil },
		"error":       func(r Redaction) ([]holdshort.Part, error) { return r.Parts, errors.New("the detector is away") },
		"broken text": func(Redaction) ([]holdshort.Part, error) { return []holdshort.Part{{Type: "text", Text: "\xff"}}, nil },
		"broken data": func(Redaction) ([]holdshort.Part, error) {
			return []holdshort.Part{{Type: "data", Data: []byte("{")}}, nil
		},
		"huge": func(Redaction) ([]holdshort.Part, error) {
			return []holdshort.Part{{Type: "text", Text: strings.Repeat("a", 5<<20)}}, nil
		},
	} {
		for _, stage := range []Stage{StageStore, StageShow, StageModel} {
			t.Run(name+" "+string(stage), func(t *testing.T) {
				r := newRoom(t, Config{Redact: func(_ context.Context, r Redaction) ([]holdshort.Part, error) {
					if r.Stage == stage {
						return hook(r)
					}
					return r.Parts, nil
				}})
				s := r.session(OpenSessionInput{})
				if got := r.hear(s, "hello"); got.Outcome != RoutedStored {
					t.Fatalf("%+v", got)
				}
				page, err1 := r.History(t.Context(), acme, HistoryQuery{Session: s.ID})
				model, err2 := r.ModelHistory(t.Context(), acme, s.ID, "")
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				withheld := func(at ...Stage) string {
					for _, x := range at {
						if x == stage {
							return Withheld
						}
					}
					return "hello"
				}
				if texts(page.Items) != withheld(StageStore, StageShow) || texts(model) != withheld(StageStore, StageModel) {
					t.Errorf("shown %q, to the model %q", texts(page.Items), texts(model))
				}
			})
		}
	}
}

// TestRedactCannotChangeTheStore: the hook works on a copy.
func TestRedactCannotChangeTheStore(t *testing.T) {
	var kept []holdshort.Part
	r := newRoom(t, Config{Redact: func(_ context.Context, red Redaction) ([]holdshort.Part, error) {
		if red.Stage == StageStore {
			kept = red.Parts
		}
		return nil, nil
	}})
	parts := []holdshort.Part{{Type: "data", Data: []byte(`{"a":1}`)}}
	m := holdshort.Message{Parts: parts}
	if got := r.redact(t.Context(), acme, StageStore, m); got != nil {
		t.Errorf("%+v", got)
	}
	kept[0].Data[1], kept[0].Type = 'x', "text"
	if string(parts[0].Data) != `{"a":1}` || parts[0].Type != "data" {
		t.Errorf("%s", parts[0].Data)
	}
}
