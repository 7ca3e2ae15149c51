package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
)

// turn is one execution of the loop. Everything in it is rebuilt from the journal on replay.
type turn struct {
	a        *Agent
	c        *flow.Context
	about    flow.About
	sub      bool   // it works for another agent: its answer is a result, not a message
	asked    string // what the user last said
	messages []model.Message
	usage    model.Usage
	began    time.Time // where the run has a time to end
}

// answer is what the journal keeps of the model's.
type answer struct {
	model.Response
	Message holdshort.MessageID `json:"message_id,omitempty"` // under which its text was streamed
	// What was made of it by the agent as it was then. A run that goes on under another configuration goes by this, not by its own reading.
	Plan  []planned       `json:"plan,omitempty"`  // of its calls, one each
	Data  json.RawMessage `json:"data,omitempty"`  // of a final answer that must fit a schema
	Wrong string          `json:"wrong,omitempty"` // why a final answer is none
}

// run is the loop: the model answers, what it wants done is done as far as policy and people allow, and it sees what came of it, until it has
// nothing more to ask for. On resume the recorded answers are read again; the model is never asked twice what to run.
func (a *Agent) run(c *flow.Context, in Input, sub bool) (Result, error) {
	t := &turn{a: a, c: c, about: flow.RunOf(c), sub: sub}
	if in.said() == "" {
		return Result{}, &holdshort.Error{Code: holdshort.Invalid, Op: "run agent " + a.config.Name, Field: "input", Message: "there is nothing to answer", Hint: `start it with {"text": "…"}`}
	}
	if err := t.begin(in); err != nil {
		return Result{}, err
	}
	t.clock()
	for n := 1; ; n++ {
		if err := t.mayGoOn(n); err != nil {
			return Result{Usage: t.usage}, t.giveUp(n, err)
		}
		t.listen(n)
		t.condense(n)
		said, err := t.ask(n)
		if err != nil {
			return Result{Usage: t.usage}, t.giveUp(n, err)
		}
		if len(said.Calls) > 0 {
			if strings.TrimSpace(said.Text) != "" { // whoever listens has heard it
				t.speak(n, said)
			}
			if err := t.carryOut(n, said); err != nil {
				return Result{Usage: t.usage}, err
			}
			continue
		}
		if strings.TrimSpace(said.Text) != "" {
			t.messages = append(t.messages, model.Message{Role: model.Assistant, Text: said.Text, Echo: said.Echo})
		}
		if said.Wrong != "" {
			t.messages = append(t.messages, model.Message{Role: model.User, Text: said.Wrong})
			continue
		}
		t.speak(n, said)
		if t.listen(n + 1) { // something was said meanwhile
			continue
		}
		return Result{Text: said.Text, Data: said.Data, Iterations: n, Usage: t.usage}, nil
	}
}

// begin puts the conversation so far and what the user just said before the model.
func (t *turn) begin(in Input) error {
	t.asked = in.said()
	if t.about.Session != "" && !t.sub {
		history, err := flow.History(t.c, "history")
		if err != nil {
			return err
		}
		t.messages = conversation(history, in.Message)
		if in.Message != "" {
			if t.asked, err = t.hear(history, "said", in.Message); err != nil {
				return err
			}
		}
	}
	t.messages = append(t.messages, model.Message{Role: model.User, Text: t.asked})
	return nil
}

// hear gives the text of a message as a model may know it.
func (t *turn) hear(history []holdshort.Message, key string, id holdshort.MessageID) (string, error) {
	if at := slices.IndexFunc(history, func(m holdshort.Message) bool { return m.ID == id }); at >= 0 {
		return textOf(history[at].Parts), nil
	}
	m, ok, err := flow.Heard(t.c, key, id)
	if !ok {
		return "[withheld]", err
	}
	return textOf(m.Parts), nil
}

// listen takes what the user said since the model was last asked.
func (t *turn) listen(n int) (heard bool) {
	if t.about.Session == "" || t.sub {
		return false
	}
	for {
		key := "heard-" + strconv.Itoa(n)
		in, ok, err := flow.Poll[Input](t.c, key, "message", "model-"+strconv.Itoa(n))
		if !ok {
			return heard
		}
		text := in.said()
		if in.Message != "" && err == nil && text != "" {
			text, err = t.hear(nil, "said-"+strconv.Itoa(n), in.Message)
		}
		if err == nil && text != "" {
			t.asked, heard = text, true
			t.messages = append(t.messages, model.Message{Role: model.User, Text: text})
		}
	}
}

// ask has the model answer. Its text is streamed to whoever listens.
func (t *turn) ask(n int) (answer, error) {
	said, err := flow.Model(t.c, "model-"+strconv.Itoa(n), func(ctx context.Context) (answer, error) {
		stream := flow.StreamOf(ctx)
		say := stream.Text
		if t.sub || len(t.a.config.Schema) > 0 { // what it says is for a program
			say = nil
		}
		began := false
		ctx = model.WithRestart(ctx, func() {
			if began {
				stream.Restart()
			}
		})
		r, err := generate(ctx, t.a.config.Model, t.request(), func(piece string) {
			if say != nil {
				began = true
				say(piece)
			}
		})
		if err == nil {
			err = sane(r)
		}
		if err != nil {
			if began { // what was heard of it counts for nothing
				stream.Restart()
			}
			return answer{}, err
		}
		got := answer{Response: r, Message: stream.Message(), Plan: t.a.plan(r)}
		if len(r.Calls) == 0 {
			got.Data, got.Wrong = t.a.fits(r)
		}
		return got, nil
	})
	if err == nil {
		t.usage = t.usage.Add(said.Usage)
	}
	return said, err
}

func (t *turn) request() model.Request {
	c := t.a.config
	return model.Request{System: system(c.Instructions, len(t.a.offered) > 0), Messages: t.messages, Tools: t.a.offered, Schema: c.Schema, MaxTokens: c.MaxTokens, Temperature: c.Temperature}
}

// maxAnswer is how large a model's answer may be altogether.
const maxAnswer = 1 << 20

// sane refuses answers that nobody could use: they would be kept for ever.
func sane(r model.Response) error {
	size := len(r.Text) + len(r.Echo) + 64*len(r.Calls) // one that says nothing takes room too
	for _, c := range r.Calls {
		size += len(c.Args) + len(c.Malformed) + len(c.ID) + len(c.Tool)
	}
	if size > maxAnswer {
		return &holdshort.Error{Code: holdshort.ModelFailed, Message: fmt.Sprintf("the model's answer has more than %d bytes", maxAnswer), Hint: "limit the length of its answers"}
	}
	if r.Stop == model.StopRefused && r.Text == "" && len(r.Calls) == 0 {
		return &holdshort.Error{Code: holdshort.ModelFailed, Message: "the model will not answer", Hint: "look at what it was asked"}
	}
	if strings.TrimSpace(r.Text) == "" && len(r.Calls) == 0 && r.Stop != model.StopLength {
		return &holdshort.Error{Code: holdshort.ModelFailed, Message: "the model said nothing", Hint: "retry the run"}
	}
	return nil
}

// fits reads the final answer where a schema says what it must be; wrong tells the model what to mend.
func (a *Agent) fits(said model.Response) (data json.RawMessage, wrong string) {
	if strings.TrimSpace(said.Text) == "" {
		return nil, "Your answer was cut off before it said anything. Answer again, shorter."
	}
	if a.schema == nil {
		return nil, ""
	}
	raw := json.RawMessage(strings.TrimSpace(said.Text))
	if !json.Valid(raw) {
		return nil, "Your answer is not JSON. Answer again with nothing but JSON that fits the schema."
	}
	if err := a.schema.Validate(raw); err != nil {
		return nil, "Your answer does not fit the schema: " + clip(err.Error(), 500) + ". Answer again."
	}
	return raw, ""
}

// maxSaid is how much of an answer one message takes: what a session's message may have.
const maxSaid = 60 << 10

// speak sends the answer to the user.
func (t *turn) speak(n int, said answer) {
	if t.about.Session == "" || t.sub {
		return
	}
	text := said.Text
	if said.Stop == model.StopLength {
		text += " …"
	}
	flow.Send(t.c, "say-"+strconv.Itoa(n), holdshort.Message{ID: said.Message, Parts: []holdshort.Part{{Type: "text", Text: clip(text, maxSaid)}}})
}

// giveUp tells the user that nothing more will come, and ends the run with the error. A retry goes on from the step that failed.
func (t *turn) giveUp(n int, err error) error {
	if t.about.Session != "" && !t.sub {
		flow.Say(t.c, "sorry-"+strconv.Itoa(n), sorry(t.language()))
	}
	return err
}
