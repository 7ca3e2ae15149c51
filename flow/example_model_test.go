package flow_test

import (
	"context"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// Poll hears what was sent to the run meanwhile and goes on without it if nothing was: an agent does so before it asks its model again.
func ExamplePoll() {
	clerk := flow.New("clerk", 1, func(c *flow.Context, order string) (string, error) {
		if _, err := flow.Approve(c, "ok", flow.Question{Text: "Ship " + order + "?"}); err != nil {
			return "", err
		}
		note, heard, err := flow.Poll[string](c, "heard", "note", "label")
		if err != nil || !heard {
			note = "nothing to add"
		}
		return flow.Step(c, "label", func(context.Context) (string, error) { return order + ": " + note, nil })
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{clerk}})
	defer k.Close()
	quiet, told := k.Start("clerk", "77"), k.Start("clerk", "78")
	k.Post(told, "note", "gift wrap")
	for _, run := range []holdshort.RunID{quiet, told} {
		k.As("ana", "reviewer").Approve(k.Request(run))
		fmt.Println(holdshorttest.Result[string](k, run))
	}
	// Output:
	// 77: nothing to add
	// 78: gift wrap
}

// History is what was said in the session, Note adds to it without sending anything, Send answers.
func ExampleHistory() {
	echo := flow.New("echo", 1, func(c *flow.Context, in struct{ Text string }) (string, error) {
		history, err := flow.History(c, "history")
		if err != nil {
			return "", err
		}
		flow.Note(c, "note", holdshort.Message{Role: holdshort.RoleTool, Type: "looked_up", Parts: []holdshort.Part{{Type: "text", Text: "found nothing"}}})
		flow.Send(c, "answer", holdshort.Message{Parts: []holdshort.Part{{Type: "text", Text: fmt.Sprintf("%d messages, the last is %q", len(history), in.Text)}}})
		return "", nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{echo}})
	defer k.Close()
	session := k.Session("carl")
	k.As("carl").In(session).Start("echo", map[string]string{"text": "hello"})
	fmt.Println(k.Said())
	for _, m := range k.Messages(session) {
		fmt.Println(m.Role, m.Parts[0].Text)
	}
	// Output:
	// [0 messages, the last is "hello"]
	// tool found nothing
	// assistant 0 messages, the last is "hello"
}

// Mend asks the user to put right what a tool refused, and gives their words.
func ExampleMend() {
	paint := flow.New("paint", 1, func(c *flow.Context, _ any) (string, error) {
		return flow.Mend(c, "ratio", flow.Question{Text: "aspect_ratio cannot be wide. It can be 1:1 or 16:9. Which one?"})
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{paint}})
	defer k.Close()
	run := k.As("carl").In(k.Session("carl")).Start("paint", nil)
	req := k.Request(run)
	fmt.Println(req.Kind, req.ExpectedInput)
	k.As("carl").Answer(req, "use 1:1")
	fmt.Println(holdshorttest.Result[string](k, run))
	// Output:
	// error_recovery free_text
	// use 1:1
}

// StreamOf lets a model's text be heard while it is made; the message that follows has the id of the stream.
func ExampleStreamOf() {
	greet := flow.New("greet", 1, func(c *flow.Context, _ any) (string, error) {
		type answer struct {
			Text string
			ID   holdshort.MessageID
		}
		said, err := flow.Model(c, "model", func(ctx context.Context) (answer, error) {
			stream := flow.StreamOf(ctx)
			for _, word := range []string{"Good ", "morning."} {
				stream.Text(word)
			}
			return answer{"Good morning.", stream.Message()}, nil
		})
		if err != nil {
			return "", err
		}
		flow.Send(c, "say", holdshort.Message{ID: said.ID, Parts: []holdshort.Part{{Type: "text", Text: said.Text}}})
		return "", nil
	})

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{greet}})
	defer k.Close()
	session := k.Session("carl")
	pieces, stop := k.Engine().Listen(k.Tenant(), session, "")
	defer stop()
	k.As("carl").In(session).Start("greet", nil)
	first, second := <-pieces, <-pieces
	fmt.Println(first.Seq, first.Text, second.Seq, second.Text, first.Message == k.Messages(session)[0].ID)
	// Output:
	// 1 Good  2 morning. true
}
