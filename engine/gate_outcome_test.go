package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// handedOut is a refund that was approved and claimed, for a minute.
func (b *bed) handedOut() (holdshort.Request, engine.Claimed) {
	b.Helper()
	req := b.approved()
	return req, b.claim(engine.ClaimInput{Request: req.ID, Actor: bot, Lease: time.Minute})
}

func (b *bed) report(in engine.OutcomeInput) holdshort.Operation {
	b.Helper()
	op, err := b.Outcome(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return op
}

// reconcile gives the open question about a claimed call.
func (b *bed) reconcile() holdshort.Request {
	b.Helper()
	page, err := b.Requests(b.Context(), tenant, engine.RequestQuery{Kind: holdshort.Reconcile, Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) != 1 {
		b.Fatalf("%d questions are open (%v)", len(page.Items), err)
	}
	return page.Items[0]
}

// TestOutcome: what a claimer reports closes the operation, once, and nothing of its content is kept.
func TestOutcome(t *testing.T) {
	for _, status := range []holdshort.OperationStatus{holdshort.OperationDone, holdshort.OperationFailed} {
		t.Run(string(status), func(t *testing.T) {
			b := newBed(t, engine.Config{})
			req, claim := b.handedOut()
			in := engine.OutcomeInput{Request: req.ID, Token: claim.Token, Status: status, ExternalIDs: map[string][]string{"refund": {"r1"}}, Result: json.RawMessage(`{"iban":"secret"}`), Actor: bot}
			op := b.report(in)
			stored := b.operation(op.ID)
			if stored.Status != status || stored.Success != (status == holdshort.OperationDone) || stored.ExternalIDs["refund"][0] != "r1" || (stored.ResultHash != "") != stored.Success || strings.Contains(stored.ResultHash, "secret") {
				t.Errorf("%+v", stored)
			}
			if again := b.report(in); again.ClosedAt != op.ClosedAt {
				t.Errorf("%+v, then %+v", op, again)
			}
			in.CallID = "call_1"
			b.report(in)
			other := in
			if other.Status = holdshort.OperationDone; status == holdshort.OperationDone {
				other.Status = holdshort.OperationFailed
			}
			if _, err := b.Outcome(t.Context(), tenant, other); code(err) != holdshort.Conflict {
				t.Errorf("the opposite: %v", err)
			}
			b.advance(time.Hour) // no timer is left
			if got := b.operation(op.ID); got.Status != status {
				t.Errorf("%+v", got)
			}
			want := []string{"operation.started by key_bot", "operation." + string(status) + " by key_bot", "operation.reconciled late_conflict by key_bot"}
			if got := b.events("operation.*"); !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestOutcomeRefusals: without the token of the claim nobody reports and nobody prolongs.
func TestOutcomeRefusals(t *testing.T) {
	b := newBed(t, engine.Config{})
	req, claim := b.handedOut()
	_, other := b.handedOut()
	unclaimed := b.approved()
	token := claim.Token
	flipped := token[:len(token)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(token, "0")]
	for name, c := range map[string]struct {
		in   engine.OutcomeInput
		code holdshort.Code
	}{
		"no token":              {engine.OutcomeInput{}, holdshort.Forbidden},
		"no token at all":       {engine.OutcomeInput{Token: "clm_x"}, holdshort.Forbidden},
		"a guessed token":       {engine.OutcomeInput{Token: flipped}, holdshort.Forbidden},
		"another claim's":       {engine.OutcomeInput{Token: other.Token}, holdshort.Forbidden},
		"of a key nobody has":   {engine.OutcomeInput{Token: "k00000000" + token[strings.Index(token, ":"):]}, holdshort.Forbidden},
		"by a stranger":         {engine.OutcomeInput{Token: flipped, Actor: eve}, holdshort.NotFound},
		"not claimed":           {engine.OutcomeInput{Request: unclaimed.ID, Token: token}, holdshort.Forbidden},
		"no such request":       {engine.OutcomeInput{Request: "req_none", Token: token}, holdshort.NotFound},
		"no such call":          {engine.OutcomeInput{Token: token, CallID: "call_9"}, holdshort.Invalid},
		"no such outcome":       {engine.OutcomeInput{Token: token, Status: holdshort.OperationUnknown}, holdshort.Invalid},
		"a result that is none": {engine.OutcomeInput{Token: token, Result: json.RawMessage(`{`)}, holdshort.NotCanonical},
		"a large result":        {engine.OutcomeInput{Token: token, Result: json.RawMessage(`"` + strings.Repeat("x", 300<<10) + `"`)}, holdshort.TooLarge},
		"ids that are content":  {engine.OutcomeInput{Token: token, ExternalIDs: map[string][]string{"x": {strings.Repeat("x", 5000)}}}, holdshort.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if c.in.Request == "" {
				c.in.Request = req.ID
			}
			if c.in.Status == "" {
				c.in.Status = holdshort.OperationDone
			}
			if c.in.Actor.ID == "" {
				c.in.Actor = bot
			}
			op, err := b.Outcome(t.Context(), tenant, c.in)
			if code(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if c.code == holdshort.Forbidden && op.ID != "" {
				t.Errorf("it shows %+v", op)
			}
			if c.code != holdshort.Forbidden || c.in.Status != holdshort.OperationDone {
				return
			}
			if _, err := b.Extend(t.Context(), tenant, engine.ExtendInput{Request: c.in.Request, Token: c.in.Token, Actor: bot}); code(err) != holdshort.Forbidden {
				t.Errorf("extend: %v", err)
			}
		})
	}
	if op := b.operation(claim.OperationIDs[0]); op.Status != holdshort.OperationStarted || op.Revision != 1 {
		t.Errorf("%+v", op)
	}
}

// TestExtend: a lease can be prolonged while it lasts, for what is still under way.
func TestExtend(t *testing.T) {
	b := newBed(t, engine.Config{})
	batch := engine.AskInput{Kind: holdshort.Approval, Actor: bot, Actions: []engine.AskAction{{Tool: "pay"}, {Tool: "mail"}}}
	req := b.ask(batch)
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	claim := b.claim(engine.ClaimInput{Request: req.ID, Actor: bot, Key: "k", Lease: time.Minute})
	b.report(engine.OutcomeInput{Request: req.ID, Token: claim.Token, CallID: "call_1", Status: holdshort.OperationDone, Actor: bot})
	extend := engine.ExtendInput{Request: req.ID, Token: claim.Token, Lease: 10 * time.Minute, Actor: bot}
	b.clock.move(59 * time.Second)
	until, err := b.Extend(t.Context(), tenant, extend)
	if err != nil || !until.Equal(b.clock.now().Add(10*time.Minute)) {
		t.Fatalf("%s %v", until, err)
	}
	if again := b.claim(engine.ClaimInput{Request: req.ID, Actor: bot, Key: "k"}); !again.LeaseUntil.Equal(until) || again.Token != claim.Token {
		t.Errorf("%+v", again)
	}
	b.advance(5 * time.Minute) // past the first lease
	if op := b.operation(claim.OperationIDs[1]); op.Status != holdshort.OperationStarted {
		t.Fatalf("%+v", op)
	}
	if shorter, err := b.Extend(t.Context(), tenant, engine.ExtendInput{Request: req.ID, Token: claim.Token, Lease: time.Second, Actor: bot}); err != nil || !shorter.Equal(until) {
		t.Errorf("it was shortened to %s (%v)", shorter, err)
	}
	if _, err := b.Extend(t.Context(), tenant, engine.ExtendInput{Request: req.ID, Token: claim.Token, Lease: 3 * time.Hour}); code(err) != holdshort.Invalid {
		t.Errorf("for three hours: %v", err)
	}
	b.clock.move(5 * time.Minute)
	if _, err := b.Extend(t.Context(), tenant, extend); code(err) != holdshort.LeaseLost {
		t.Errorf("after its end, before the timer: %v", err)
	}
	b.settle()
	if op := b.operation(claim.OperationIDs[1]); op.Status != holdshort.OperationUnknown {
		t.Errorf("%+v", op)
	}
	if op := b.operation(claim.OperationIDs[0]); op.Status != holdshort.OperationDone {
		t.Errorf("%+v", op)
	}
	if _, err := b.Extend(t.Context(), tenant, extend); code(err) != holdshort.LeaseLost {
		t.Errorf("after its end: %v", err)
	}
	b.report(engine.OutcomeInput{Request: req.ID, Token: claim.Token, CallID: "call_2", Status: holdshort.OperationDone, Actor: bot})
	if _, err := b.Extend(t.Context(), tenant, extend); code(err) != holdshort.WrongState {
		t.Errorf("when all is done: %v", err)
	}
}

// TestEarlyTimer: a timer that was read before the lease was extended, or that the clock misled, takes nothing away.
func TestEarlyTimer(t *testing.T) {
	b := newBed(t, engine.Config{})
	_, claim := b.handedOut()
	b.forge(`UPDATE timers SET due_at = 1 WHERE kind = 'operation' AND subject = ?`, claim.OperationIDs[0])
	b.advance(time.Second)
	if op := b.operation(claim.OperationIDs[0]); op.Status != holdshort.OperationStarted {
		t.Fatalf("%+v", op)
	}
	b.advance(time.Minute)
	if op := b.operation(claim.OperationIDs[0]); op.Status != holdshort.OperationUnknown {
		t.Errorf("%+v", op)
	}
}

// TestVanishedClaimer: a claimer that says nothing leaves the operation unknown, those who approved it are asked, and what they or a late
// report say settles it, once.
func TestVanishedClaimer(t *testing.T) {
	late := func(status holdshort.OperationStatus) func(*bed, holdshort.Request, engine.Claimed) error {
		return func(b *bed, req holdshort.Request, claim engine.Claimed) error {
			_, err := b.Outcome(b.Context(), tenant, engine.OutcomeInput{Request: req.ID, Token: claim.Token, Status: status, Actor: bot, ExternalIDs: map[string][]string{"refund": {"r1"}}})
			return err
		}
	}
	say := func(option string) func(*bed, holdshort.Request, engine.Claimed) error {
		return func(b *bed, _ holdshort.Request, _ engine.Claimed) error {
			_, err := b.Decide(b.Context(), tenant, engine.DecideInput{Request: b.reconcile().ID, Action: holdshort.Select, OptionIDs: []string{option}, Actor: dan})
			return err
		}
	}
	for name, c := range map[string]struct {
		settle  func(*bed, holdshort.Request, engine.Claimed) error
		status  holdshort.OperationStatus
		settled bool
		event   string
		later   map[holdshort.OperationStatus]holdshort.Code // what a report after that is told
	}{
		"it happened":       {say("happened"), holdshort.OperationDone, false, "operation.reconciled happened by dan", map[holdshort.OperationStatus]holdshort.Code{holdshort.OperationDone: "", holdshort.OperationFailed: holdshort.Conflict}},
		"it did not happen": {say("retry"), holdshort.OperationFailed, false, "operation.reconciled retry by dan", map[holdshort.OperationStatus]holdshort.Code{holdshort.OperationDone: holdshort.Conflict, holdshort.OperationFailed: ""}},
		"nobody can tell":   {say("give_up"), holdshort.OperationUnknown, true, "operation.reconciled give_up by dan", map[holdshort.OperationStatus]holdshort.Code{holdshort.OperationDone: holdshort.Conflict, holdshort.OperationFailed: holdshort.Conflict}},
		"late, done":        {late(holdshort.OperationDone), holdshort.OperationDone, false, "operation.reconciled late_done by key_bot", map[holdshort.OperationStatus]holdshort.Code{holdshort.OperationDone: "", holdshort.OperationFailed: holdshort.Conflict}},
		"late, failed":      {late(holdshort.OperationFailed), holdshort.OperationFailed, false, "operation.reconciled late_failed by key_bot", map[holdshort.OperationStatus]holdshort.Code{holdshort.OperationDone: holdshort.Conflict, holdshort.OperationFailed: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{Policy: asking(policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Users: []string{"dan"}}})})
			req, claim := b.handedOut()
			b.restart(nil) // the claimer's death is not the engine's business, nor the engine's the claimer's
			b.advance(time.Minute - time.Microsecond)
			if op := b.operation(claim.OperationIDs[0]); op.Status != holdshort.OperationStarted {
				t.Fatalf("before the lease ended: %+v", op)
			}
			b.advance(time.Microsecond)
			if op := b.operation(claim.OperationIDs[0]); op.Status != holdshort.OperationUnknown || op.Settled {
				t.Fatalf("%+v", op)
			}
			question := b.reconcile()
			if question.RunID != "" || !slices.Equal(question.Audience.Users, []string{"dan"}) || !question.ExpiresAt.IsZero() || !strings.Contains(string(question.Context), claim.OperationIDs[0]) {
				t.Errorf("%+v", question)
			}
			reviewing := bot
			reviewing.Roles = []string{"reviewer"}
			if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: question.ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: reviewing}); code(err) != holdshort.Forbidden {
				t.Errorf("the claimer settles it as a reviewer: %v", err)
			}
			for _, actor := range []holdshort.Actor{bot, ops} {
				if _, err := b.CancelRequest(t.Context(), tenant, engine.CancelRequestInput{Request: question.ID, Actor: actor}); code(err) != holdshort.WrongState {
					t.Errorf("%s cancels the question: %v", actor.ID, err)
				}
			}
			b.advance(1000 * time.Hour)
			if err := c.settle(b, req, claim); err != nil {
				t.Fatal(err)
			}
			b.settle()
			if op := b.operation(claim.OperationIDs[0]); op.Status != c.status || op.Settled != c.settled || op.Success != (c.status == holdshort.OperationDone) {
				t.Errorf("%+v", op)
			}
			closed := b.requestByID(question.ID)
			if closed.Status == holdshort.RequestOpen || strings.HasPrefix(name, "late") != (closed.Status == holdshort.RequestCanceled) {
				t.Errorf("the question is %s", closed.Status)
			}
			if got := b.events("operation.*"); !slices.Equal(got, []string{"operation.started by key_bot", "operation.unknown by system:timer", c.event}) {
				t.Errorf("%q", got)
			}
			for status, want := range c.later {
				if err := late(status)(b, req, claim); code(err) != want {
					t.Errorf("reported %s after that: %v, want %s", status, err, want)
				}
			}
			if op := b.operation(claim.OperationIDs[0]); op.Status != c.status {
				t.Errorf("a later report changed it: %+v", op)
			}
			if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: req.ID, Actor: bot}); code(err) == "" {
				t.Error("it was handed out again")
			}
		})
	}
}

var dan = holdshort.Actor{ID: "dan", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}

// TestSettledOnce: a person and a late report that come at the same moment leave one outcome, and nothing half.
func TestSettledOnce(t *testing.T) {
	for range 10 {
		b := newBed(t, engine.Config{})
		req, claim := b.handedOut()
		b.advance(time.Minute)
		question := b.reconcile()
		var person, report atomic.Value
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: question.ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: ana})
			person.Store(code(err))
		})
		wg.Go(func() {
			_, err := b.Outcome(t.Context(), tenant, engine.OutcomeInput{Request: req.ID, Token: claim.Token, Status: holdshort.OperationDone, Actor: bot})
			report.Store(code(err))
		})
		wg.Wait()
		op, closed := b.operation(claim.OperationIDs[0]), b.requestByID(question.ID)
		switch {
		case op.Status == holdshort.OperationDone && closed.Status == holdshort.RequestCanceled && report.Load() == holdshort.Code("") && person.Load() == holdshort.Closed:
		case op.Status == holdshort.OperationFailed && closed.Status == holdshort.RequestResolved && report.Load() == holdshort.Conflict && person.Load() == holdshort.Code(""):
		default:
			t.Errorf("the operation is %s, the question %s; the person was told %q, the report %q", op.Status, closed.Status, person.Load(), report.Load())
		}
	}
}

// TestOutcomeOnce: many reports of one outcome at the same moment are one, on both databases.
func TestOutcomeOnce(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		asked, err := e.Ask(t.Context(), tenant, wantsRefund(50))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Decide(t.Context(), tenant, engine.DecideInput{Request: asked.Request.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		claim, err := e.Claim(t.Context(), tenant, engine.ClaimInput{Request: asked.Request.ID, Actor: bot})
		if err != nil {
			t.Fatal(err)
		}
		var done, failed, conflicts atomic.Int64
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				in := engine.OutcomeInput{Request: asked.Request.ID, Token: claim.Token, Status: holdshort.OperationDone, Actor: bot}
				if i%2 == 0 {
					in.Status = holdshort.OperationFailed
				}
				switch _, err := e.Outcome(t.Context(), tenant, in); {
				case code(err) == holdshort.Conflict:
					conflicts.Add(1)
				case err != nil:
					t.Error(err)
				case in.Status == holdshort.OperationDone:
					done.Add(1)
				default:
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		view, err := e.RequestFor(t.Context(), tenant, asked.Request.ID, ops)
		if err != nil || len(view.Operations) != 1 {
			t.Fatalf("%+v %v", view, err)
		}
		want := map[holdshort.OperationStatus][2]int64{holdshort.OperationDone: {20, 0}, holdshort.OperationFailed: {0, 20}}[view.Operations[0].Status]
		if done.Load() != want[0] || failed.Load() != want[1] || conflicts.Load() != 20 {
			t.Errorf("%s: %d done, %d failed, %d conflicts", view.Operations[0].Status, done.Load(), failed.Load(), conflicts.Load())
		}
	})
}
