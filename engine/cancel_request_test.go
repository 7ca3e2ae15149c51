package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// asksTwice asks, takes a cancellation of the first question as an answer, and not of the second.
var asksTwice = flow.New("asks", 1, func(c *flow.Context, _ string) (string, error) {
	_, err := flow.Approve(c, "first", flow.Question{Text: "First?", TakeCancel: true})
	first := string(holdshort.CodeOf(err))
	if _, err := flow.Approve(c, "second", flow.Question{Text: "Second?"}); err != nil {
		return "", err
	}
	return first, nil
})

// TestCancelRequest: a canceled request decides nothing; the run gets it back or is canceled with it.
func TestCancelRequest(t *testing.T) {
	b := newBed(t, engine.Config{Flows: []flow.Flow{asksTwice}})
	cancel := func(id holdshort.RequestID, actor holdshort.Actor) (engine.Decided, error) {
		out, err := b.CancelRequest(t.Context(), tenant, engine.CancelRequestInput{Request: id, Actor: actor, Reason: "not needed"})
		b.settle()
		return out, err
	}
	run := b.start("asks", "")
	first := b.request(run.ID)
	for actor, want := range map[*holdshort.Actor]holdshort.Code{&eve: holdshort.NotFound, &ana: holdshort.Forbidden} {
		if out, err := cancel(first.ID, *actor); code(err) != want || out.Request.ID != "" {
			t.Errorf("%s: %+v %v", actor.ID, out, err)
		}
	}
	out, err := cancel(first.ID, ops)
	if err != nil || out.Request.Status != holdshort.RequestCanceled || out.Request.CancelReason != "not needed" {
		t.Fatalf("%+v %v", out, err)
	}
	b.want(run.ID, holdshort.RunWaiting, "")
	if _, err := cancel(first.ID, ops); code(err) != holdshort.Closed {
		t.Errorf("again: %v", err)
	}
	second := b.request(run.ID)
	b.decide(engine.DecideInput{Request: second.ID, Action: holdshort.Approve, Actor: ana})
	b.want(run.ID, holdshort.RunCompleted, `"canceled"`)

	run = b.start("asks", "")
	b.approve(run.ID)
	if out, err := cancel(b.request(run.ID).ID, holdshort.Actor{ID: "carl", Kind: holdshort.Person}); err != nil || out.Run == nil || out.Run.Status != holdshort.RunCanceled {
		t.Fatalf("%+v %v", out, err)
	}
	b.want(run.ID, holdshort.RunCanceled, "")

	late := b.ask(engine.AskInput{Kind: holdshort.Approval, Question: "Well?", Actor: bot})
	b.clock.move(time.Hour)
	if _, err := cancel(late.ID, bot); code(err) != holdshort.Expired {
		t.Errorf("past its time: %v", err)
	}
	if _, err := b.CancelRequest(t.Context(), tenant, engine.CancelRequestInput{Request: late.ID, Actor: bot, Reason: strings.Repeat("x", 1<<20)}); code(err) != holdshort.TooLarge {
		t.Errorf("a long reason: %v", err)
	}
}

// TestAssign: assigning routes and notifies; it neither restricts who may decide nor lets anybody who may not.
func TestAssign(t *testing.T) {
	b := newBed(t, engine.Config{})
	req := b.ask(wantsRefund(50))
	assign := func(actor holdshort.Actor, to string) error {
		_, err := b.Assign(t.Context(), tenant, engine.AssignInput{Request: req.ID, Actor: actor, To: to})
		return err
	}
	if err := assign(eve, "eve"); code(err) != holdshort.NotFound {
		t.Errorf("eve: %v", err)
	}
	if err := assign(bot, "eve"); code(err) != holdshort.Forbidden {
		t.Errorf("its raiser: %v", err)
	}
	if err := assign(ana, strings.Repeat("x", 300)); code(err) != holdshort.Invalid {
		t.Errorf("a long name: %v", err)
	}
	for range 2 {
		if err := assign(ana, "eve"); err != nil {
			t.Fatal(err)
		}
	}
	page, err := b.Requests(t.Context(), tenant, engine.RequestQuery{Assignee: "eve", Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) != 1 || page.Items[0].Fingerprint != req.Fingerprint {
		t.Errorf("%+v %v", page, err)
	}
	if got := b.events("hitl.request.assigned"); !slices.Equal(got, []string{"hitl.request.assigned by ana"}) {
		t.Errorf("%q", got)
	}
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: eve}); code(err) != holdshort.NotFound {
		t.Errorf("whom it was assigned to decides: %v", err)
	}
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ben})
	if err := assign(ana, "ben"); code(err) != holdshort.Closed {
		t.Errorf("after it was decided: %v", err)
	}
	req = b.ask(wantsRefund(50))
	b.clock.move(time.Hour)
	if err := assign(ana, "ben"); code(err) != holdshort.Expired {
		t.Errorf("past its time: %v", err)
	}
}

// TestComment: a comment's text is beside the log, not in it.
func TestComment(t *testing.T) {
	b := newBed(t, engine.Config{Flows: []flow.Flow{asksTwice}})
	run := b.start("asks", "")
	for _, req := range []holdshort.Request{b.ask(wantsRefund(50)), b.request(run.ID)} {
		in := engine.CommentInput{Request: req.ID, Actor: ana, Text: "call the bank first"}
		digest, err := b.Comment(t.Context(), tenant, in)
		if err != nil {
			t.Fatal(err)
		}
		err = b.store.View(t.Context(), tenant, func(tx store.ReadTx) error {
			body, err := tx.Body(digest)
			if string(body) != in.Text {
				t.Errorf("%q", body)
			}
			found, eventsErr := tx.Events(store.EventQuery{Run: req.RunID, Types: []string{"hitl.request.commented"}})
			last := found.Items[len(found.Items)-1]
			if last.Request != req.ID || last.Actor != "ana" || !strings.Contains(string(last.Data), digest) || strings.Contains(string(last.Data), "bank") {
				t.Errorf("%+v", last)
			}
			if err == nil {
				err = eventsErr
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []struct {
			in   engine.CommentInput
			code holdshort.Code
		}{
			{engine.CommentInput{Actor: eve, Text: "x"}, holdshort.NotFound},
			{engine.CommentInput{Actor: ana, Text: " "}, holdshort.Invalid},
			{engine.CommentInput{Actor: ana, Text: "\xff"}, holdshort.Invalid},
			{engine.CommentInput{Actor: ana, Text: strings.Repeat("x", 1<<20)}, holdshort.TooLarge},
		} {
			wrong.in.Request = req.ID
			if _, err := b.Comment(t.Context(), tenant, wrong.in); code(err) != wrong.code {
				t.Errorf("%s: %v, want %s", wrong.in.Actor.ID, err, wrong.code)
			}
		}
	}
}

// TestReveal: who looked is noted, and only those who may decide see what is hidden from others.
func TestReveal(t *testing.T) {
	b := newBed(t, engine.Config{})
	req := b.ask(wantsRefund(50))
	if err := b.Viewed(t.Context(), tenant, req.ID, ops); err != nil {
		t.Fatal(err)
	}
	if err := b.Viewed(t.Context(), tenant, req.ID, eve); code(err) != holdshort.NotFound {
		t.Errorf("eve looks: %v", err)
	}
	if shown, err := b.Reveal(t.Context(), tenant, req.ID, ana); err != nil || shown.Fingerprint != req.Fingerprint {
		t.Errorf("%+v %v", shown, err)
	}
	if shown, err := b.Reveal(t.Context(), tenant, req.ID, ops); code(err) != holdshort.Forbidden || shown.ID != "" {
		t.Errorf("%+v %v", shown, err)
	}
	if got := b.events("hitl.request.viewed", "hitl.request.revealed", "access.*"); !slices.Equal(got, []string{"hitl.request.viewed by ops", "hitl.request.revealed by ana", "access.denied hitl.request.decide by ops"}) {
		t.Errorf("%q", got)
	}
}
