package holdshort_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"pgregory.net/rapid"
)

func aRequest(status holdshort.RequestStatus) holdshort.Request {
	r := refund()
	r.Status, r.Fingerprint, r.CreatedAt, r.AskedAt, r.ExpiresAt = status, "f", noon, noon, later
	if status != holdshort.RequestOpen {
		r.ClosedAt = noon
	}
	if status == holdshort.RequestResolved {
		r.Outcome = holdshort.Approved
	}
	return r
}

var (
	closedStates = []holdshort.RequestStatus{holdshort.RequestResolved, holdshort.RequestExpired, holdshort.RequestCanceled}
	beforeExpiry = later.Add(-1)
)

func TestRequestDue(t *testing.T) {
	queue := noon.Add(24 * time.Hour)
	for _, test := range []struct {
		name                           string
		askedAt, queueUntil, expiresAt time.Time
		want                           time.Time
	}{
		{"never", time.Time{}, time.Time{}, time.Time{}, time.Time{}},
		{"asked, never expires", noon, time.Time{}, time.Time{}, time.Time{}},
		{"asked", noon, time.Time{}, later, later},
		{"asked after it queued", noon, queue, later, later},
		{"asked after it queued, never expires", noon, queue, time.Time{}, time.Time{}},
		{"queued", time.Time{}, queue, time.Time{}, queue},
		{"queued, with an expiry that does not count yet", time.Time{}, queue, later, queue},
		{"never asked in chat, only in the inbox", time.Time{}, time.Time{}, later, later},
	} {
		r := holdshort.Request{Status: holdshort.RequestOpen, AskedAt: test.askedAt, QueueUntil: test.queueUntil, ExpiresAt: test.expiresAt}
		if got := r.Due(); !got.Equal(test.want) {
			t.Errorf("%s: due %v, want %v", test.name, got, test.want)
		}
	}
}

func TestRequestStatusAt(t *testing.T) {
	for _, test := range []struct {
		name string
		at   time.Time
		want holdshort.RequestStatus
	}{
		{"when asked", noon, holdshort.RequestOpen},
		{"a nanosecond before its time", beforeExpiry, holdshort.RequestOpen},
		{"at the instant", later, holdshort.RequestExpired},
		{"at the instant, in another zone", later.In(time.FixedZone("east", 3600)), holdshort.RequestExpired},
		{"after", later.Add(time.Hour), holdshort.RequestExpired},
	} {
		if got := aRequest(holdshort.RequestOpen).StatusAt(test.at); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		for _, status := range closedStates {
			if got := aRequest(status).StatusAt(test.at); got != status {
				t.Errorf("%s, what is %s reads as %s", test.name, status, got)
			}
		}
	}
	never := aRequest(holdshort.RequestOpen)
	never.ExpiresAt = time.Time{}
	if got := never.StatusAt(noon.AddDate(1000, 0, 0)); got != holdshort.RequestOpen {
		t.Errorf("what never expires is %s after a thousand years", got)
	}
}

func TestAskWritesExpiryOnce(t *testing.T) {
	queued := holdshort.Request{Status: holdshort.RequestOpen, QueueUntil: noon.Add(24 * time.Hour), ExpiresIn: 5 * time.Minute}
	asked, err := queued.Ask(noon)
	want := queued
	want.AskedAt, want.ExpiresAt = noon, noon.Add(5*time.Minute)
	if err != nil || !reflect.DeepEqual(asked, want) {
		t.Fatalf("asked: %v\ngot  %+v\nwant %+v", err, asked, want)
	}
	if again, err := asked.Ask(later); err != nil || !reflect.DeepEqual(again, asked) {
		t.Errorf("asked again: %v, %+v", err, again)
	}
	if _, err := queued.Ask(queued.QueueUntil); !errors.Is(err, holdshort.Expired) {
		t.Errorf("asked when its queue ended: %v", err)
	}
	if _, err := asked.Ask(asked.ExpiresAt); !errors.Is(err, holdshort.Expired) {
		t.Errorf("asked again when it had expired: %v", err)
	}

	fixed := queued
	fixed.ExpiresAt = later
	if got, err := fixed.Ask(noon); err != nil || !got.ExpiresAt.Equal(later) {
		t.Errorf("an expiry that stood became %v, %v", got.ExpiresAt, err)
	}
	never := queued
	never.ExpiresIn = 0
	if got, err := never.Ask(noon); err != nil || !got.ExpiresAt.IsZero() || !got.Due().IsZero() {
		t.Errorf("what never expires is due %v, %v", got.Due(), err)
	}
}

func TestReaskOnlyCounts(t *testing.T) {
	want := aRequest(holdshort.RequestOpen)
	want.Reasks = 1
	if got, err := aRequest(holdshort.RequestOpen).Reask(noon); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestCancelRequest(t *testing.T) {
	want := aRequest(holdshort.RequestOpen)
	want.Status, want.ClosedAt, want.CancelReason = holdshort.RequestCanceled, beforeExpiry, "session_deleted"
	if got, err := aRequest(holdshort.RequestOpen).Cancel("session_deleted", beforeExpiry); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestExpireRequest(t *testing.T) {
	want := aRequest(holdshort.RequestOpen)
	want.Status, want.ClosedAt = holdshort.RequestExpired, later
	if got, err := aRequest(holdshort.RequestOpen).Expire(later); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("at the instant: %v\ngot  %+v\nwant %+v", err, got, want)
	}
	if got, err := aRequest(holdshort.RequestOpen).Expire(beforeExpiry); !errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, aRequest(holdshort.RequestOpen)) {
		t.Errorf("before its time: %s, %v", got.Status, err)
	}
	never := aRequest(holdshort.RequestOpen)
	never.ExpiresAt = time.Time{}
	if _, err := never.Expire(later.AddDate(100, 0, 0)); !errors.Is(err, holdshort.WrongState) {
		t.Errorf("what never expires: %v", err)
	}
}

// Every way to touch a request that is over is refused with the code people must hear, and changes nothing.
func TestClosedRequestsStayClosed(t *testing.T) {
	type request = holdshort.Request
	touch := map[string]func(request, time.Time) (request, error){
		"ask":    request.Ask,
		"reask":  request.Reask,
		"cancel": func(r request, now time.Time) (request, error) { return r.Cancel("why", now) },
		"decide": func(r request, now time.Time) (request, error) {
			return r.Decide(holdshort.Decision{Action: holdshort.Approve}, now)
		},
		"decide to cancel": func(r request, now time.Time) (request, error) {
			return r.Decide(holdshort.Decision{Action: holdshort.Cancel}, now)
		},
	}
	want := map[holdshort.RequestStatus]holdshort.Code{
		holdshort.RequestResolved: holdshort.Closed, holdshort.RequestCanceled: holdshort.Closed, holdshort.RequestExpired: holdshort.Expired,
	}
	for how, do := range touch {
		for _, status := range closedStates {
			for _, at := range []time.Time{noon, later, later.Add(time.Hour)} {
				before := aRequest(status)
				got, err := do(before, at)
				if !errors.Is(err, want[status]) || holdshort.HintOf(err) == "" || !reflect.DeepEqual(got, before) {
					t.Errorf("%s what is %s: %s, %v; want %s with a hint", how, status, got.Status, err, want[status])
				}
			}
		}
		before := aRequest(holdshort.RequestOpen)
		if got, err := do(before, later); !errors.Is(err, holdshort.Expired) || !reflect.DeepEqual(got, before) {
			t.Errorf("%s what is past its time and not swept: %s, %v", how, got.Status, err)
		}
	}
	for _, status := range closedStates {
		before := aRequest(status)
		if got, err := before.Expire(later); !errors.Is(err, holdshort.Closed) || !reflect.DeepEqual(got, before) {
			t.Errorf("expire what is %s: %s, %v", status, got.Status, err)
		}
	}
}

// Decider, sweeper and canceler may come in any order at any time: one wins, and afterwards nothing changes any more.
func TestExactlyOneClosesARequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := aRequest(holdshort.RequestOpen)
		winners := 0
		for _, who := range rapid.SliceOfN(rapid.SampledFrom([]string{"decide", "expire", "cancel", "ask"}), 1, 12).Draw(t, "who") {
			at := later.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "at")))
			before := r
			var after holdshort.Request
			var err error
			switch who {
			case "decide":
				after, err = r.Decide(holdshort.Decision{Action: holdshort.Reject}, at)
			case "expire":
				after, err = r.Expire(at)
			case "cancel":
				after, err = r.Cancel("", at)
			case "ask":
				after, err = r.Ask(at)
			}
			if err != nil {
				if !reflect.DeepEqual(after, before) {
					t.Fatalf("%s was refused and changed the request", who)
				}
				continue
			}
			if who == "ask" {
				continue
			}
			winners++
			if late := !at.Before(later); late != (who == "expire") {
				t.Fatalf("%s won at %v of an expiry at %v", who, at, later)
			}
			if r = after; r.Status == holdshort.RequestOpen || !r.ClosedAt.Equal(at) || (r.Outcome != "") != (who == "decide") {
				t.Fatalf("%s left %s, closed %v, outcome %q", who, r.Status, r.ClosedAt, r.Outcome)
			}
		}
		if winners > 1 {
			t.Fatalf("%d won", winners)
		}
	})
}

func TestKindOf(t *testing.T) {
	for reason, want := range map[string]holdshort.Kind{
		"intent_unclear": holdshort.Clarification, "missing_fields": holdshort.Clarification, "ambiguous_scope": holdshort.Clarification,
		"low_confidence_plan": holdshort.Clarification, "confirmation": holdshort.Approval, "high_risk": holdshort.Approval,
		"needs_approval": holdshort.Approval, "tool_requires_review": holdshort.Approval, "policy_violation": holdshort.Approval,
		"policy_error": holdshort.Approval, "disambiguation": holdshort.Disambiguation,
	} {
		if got, ok := holdshort.KindOf(reason); !ok || got != want {
			t.Errorf("%s: %s, %v; want %s", reason, got, ok, want)
		}
	}
	for _, reason := range []string{"", "High_Risk", "whim"} {
		if got, ok := holdshort.KindOf(reason); ok || got != "" {
			t.Errorf("%q asks for %s", reason, got)
		}
	}
}
