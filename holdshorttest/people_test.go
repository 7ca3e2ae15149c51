package holdshorttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

var refundTool = holdshorttest.Match{Tool: "refund"}

func TestWhoeverIsFirstDecides(t *testing.T) {
	k, refund := newRefunds(t)
	k.WhenAsked(refundTool).By("ana", "finance").After(2 * time.Minute).Approve()
	k.WhenAsked(refundTool).By("ben", "finance").After(time.Minute).Reject("not now")
	run := k.Wait(k.Start("refund", Refund{"77", 120}))
	if run.Status != holdshort.RunFailed || run.Error.Code != holdshort.Denied || refund.Calls() != 0 {
		t.Errorf("%s %+v after %d calls: ben was first", run.Status, run.Error, refund.Calls())
	}
	k.Advance(time.Hour) // ana comes too late, which is nobody's fault
	if refund.Calls() != 0 {
		t.Error("ana's approval ran something that ben had rejected")
	}
}

func TestSameMomentGoesByTheScript(t *testing.T) {
	k, _ := newRefunds(t)
	k.WhenAsked(refundTool).By("ana", "finance").Times(1).Reject("first of all")
	k.WhenAsked(refundTool).By("ben", "finance").Approve()
	for i, want := range []holdshort.RunStatus{holdshort.RunFailed, holdshort.RunCompleted, holdshort.RunCompleted} {
		if got := k.Wait(k.Start("refund", Refund{"77", i})).Status; got != want {
			t.Errorf("run %d is %s, want %s", i+1, got, want)
		}
	}
}

func boardOf(n int) policy.Policy {
	return policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Audience: holdshort.Audience{Roles: []string{"board"}, Quorum: n}}, nil
	})
}

func TestQuorum(t *testing.T) {
	start := func(t *testing.T) (*holdshorttest.Kit, *holdshorttest.Counted) {
		refund := holdshorttest.Counter("refund").Returning("re_1")
		return holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: boardOf(3)}), refund
	}
	t.Run("named", func(t *testing.T) {
		k, refund := start(t)
		k.WhenAsked(refundTool).By("ana", "board").By("cleo", "board").After(time.Minute).Approve()
		run := k.As("ben").Start("refund", Refund{"77", 120})
		k.Wait(run)
		req := k.Request(run)
		if votes := k.Votes(req.ID); len(votes) != 2 || votes[0].Actor.ID != "ana" || votes[1].Actor.ID != "cleo" || refund.Calls() != 0 {
			t.Fatalf("votes %+v", votes)
		}
		k.WhenAsked(refundTool).By("dan", "board").After(5 * time.Minute).Approve()
		k.Result(run, new(string))
		if at := k.Now().Sub(req.CreatedAt).Round(time.Second); at != 5*time.Minute {
			t.Errorf("resolved after %s", at)
		}
	})
	t.Run("whoever may", func(t *testing.T) {
		k, refund := start(t)
		k.WhenAsked(refundTool).Approve()
		k.Result(k.Start("refund", Refund{"77", 120}), new(string))
		if refund.Calls() != 1 {
			t.Errorf("%d calls", refund.Calls())
		}
	})
	t.Run("veto", func(t *testing.T) {
		k, refund := start(t)
		k.WhenAsked(refundTool).By("ana", "board").By("cleo", "board").Approve()
		k.WhenAsked(refundTool).By("dan", "board").Reject("no")
		if f := k.Failure(k.Start("refund", Refund{"77", 120})); f.Code != holdshort.Denied || refund.Calls() != 0 {
			t.Errorf("%+v after %d calls", f, refund.Calls())
		}
	})
}

func TestTwoBranchesTwoPeople(t *testing.T) {
	pack := flow.New("pack", 1, func(c *flow.Context, _ struct{}) (string, error) {
		ask := func(role string) func(*flow.Context) (string, error) {
			return func(c *flow.Context) (string, error) {
				a, err := flow.Approve(c, "ok", flow.Question{Text: role + "?", To: holdshort.Audience{Roles: []string{role}}})
				return fmt.Sprintf("%s by %s", a.Outcome, a.Actor.ID), err
			}
		}
		said, err := flow.All(c, "both", flow.Branch[string]{Key: "law", Run: ask("lawyer")}, flow.Branch[string]{Key: "cash", Run: ask("finance")})
		return fmt.Sprint(said), err
	})
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{pack}})
	k.WhenAsked(holdshorttest.Match{Role: "lawyer"}).By("lea", "lawyer").After(4 * time.Minute).Approve()
	k.WhenAsked(holdshorttest.Match{Role: "finance"}).By("ana", "finance").After(2 * time.Minute).Reject("dear")
	run := k.Start("pack", nil)
	if n := len(k.Requests(run)); n != 2 {
		t.Fatalf("%d requests at once, want 2", n)
	}
	k.Advance(3 * time.Minute)
	if open := k.Request(run); open.OriginStepID != "both/law/ok" {
		t.Errorf("after three minutes %s is open", open.OriginStepID)
	}
	if got := holdshorttest.Result[string](k, run); got != "[rejected by ana approved by lea]" {
		t.Errorf("result %s", got)
	}
}

func TestExpiry(t *testing.T) {
	t.Run("while advancing", func(t *testing.T) {
		k, refund := newRefunds(t)
		run := k.Start("refund", Refund{"77", 120})
		k.Advance(10*time.Minute - time.Microsecond)
		if got := k.Request(run).Status; got != holdshort.RequestOpen {
			t.Fatalf("%s before its time", got)
		}
		k.Advance(time.Microsecond)
		if req := k.Requests(run)[0]; req.Status != holdshort.RequestExpired || !req.ClosedAt.Equal(req.ExpiresAt) {
			t.Errorf("request is %s, closed at %s, due at %s", req.Status, req.ClosedAt, req.ExpiresAt)
		}
		if f := k.Failure(run); f.Code != holdshort.Expired || refund.Calls() != 0 {
			t.Errorf("%+v after %d calls", f, refund.Calls())
		}
	})
	t.Run("comes before a person of the same moment", func(t *testing.T) {
		k, refund := newRefunds(t)
		k.WhenAsked(refundTool).By("ana", "finance").After(10 * time.Minute).Approve()
		if f := k.Failure(k.Start("refund", Refund{"77", 120})); f.Code != holdshort.Expired || refund.Calls() != 0 {
			t.Errorf("%+v after %d calls", f, refund.Calls())
		}
	})
	t.Run("of what is ignored", func(t *testing.T) {
		k, _ := newRefunds(t)
		k.WhenAsked(refundTool).Ignore()
		if f := k.Failure(k.Start("refund", Refund{"77", 120})); f.Code != holdshort.Expired {
			t.Errorf("%+v", f)
		}
		if got := k.Now().Sub(holdshorttest.Monday).Round(time.Second); got != 10*time.Minute {
			t.Errorf("the clock moved by %s", got)
		}
	})
}
