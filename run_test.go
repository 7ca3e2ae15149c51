package holdshort_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"pgregory.net/rapid"
)

var (
	runStates = []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunWaiting, holdshort.RunCompleted, holdshort.RunFailed, holdshort.RunCanceled}
	runInputs = []holdshort.RunInput{holdshort.RunClaim, holdshort.RunSuspend, holdshort.RunRequeue, holdshort.RunWake, holdshort.RunComplete,
		holdshort.RunFail, holdshort.RunCancel, holdshort.RunRetry}
	later = noon.Add(time.Minute)
)

// aRun is a run with every field that Apply may touch set to something.
func aRun(status holdshort.RunStatus) holdshort.Run {
	r := holdshort.Run{ID: "run_1", Revision: 3, Status: status, TraceID: "trace", Flow: "refund", Wake: 5, Claims: 2, Attempt: 1, CreatedAt: noon, UpdatedAt: noon,
		Lease: holdshort.Lease{Epoch: 7}}
	switch {
	case status == holdshort.RunRunning:
		r.Lease.Owner, r.Lease.Until = "node-1", later
	case status.Ended():
		r.EndedAt = noon
	}
	if status == holdshort.RunFailed {
		r.Error = &holdshort.Failure{Code: holdshort.Internal, Message: "out of luck"}
	}
	return r
}

// What each input does to a run, beside its status and UpdatedAt.
func TestRunApplyChangesWhatItSaysAndNothingElse(t *testing.T) {
	free := func(r *holdshort.Run) { r.Lease.Owner, r.Lease.Until = "", time.Time{} }
	for _, test := range []struct {
		from   holdshort.RunStatus
		input  holdshort.RunInput
		to     holdshort.RunStatus
		change func(*holdshort.Run)
	}{
		{holdshort.RunQueued, holdshort.RunClaim, holdshort.RunRunning, func(r *holdshort.Run) { r.Claims++; r.Lease.Epoch++ }},
		{holdshort.RunQueued, holdshort.RunWake, holdshort.RunQueued, func(r *holdshort.Run) { r.Wake++ }},
		{holdshort.RunQueued, holdshort.RunCancel, holdshort.RunCanceled, func(r *holdshort.Run) { r.Wake++; r.Lease.Epoch++; r.EndedAt = later }},
		{holdshort.RunRunning, holdshort.RunSuspend, holdshort.RunWaiting, free},
		{holdshort.RunRunning, holdshort.RunRequeue, holdshort.RunQueued, free},
		{holdshort.RunRunning, holdshort.RunWake, holdshort.RunRunning, func(r *holdshort.Run) { r.Wake++ }},
		{holdshort.RunRunning, holdshort.RunComplete, holdshort.RunCompleted, func(r *holdshort.Run) { free(r); r.EndedAt = later }},
		{holdshort.RunRunning, holdshort.RunFail, holdshort.RunFailed, func(r *holdshort.Run) { free(r); r.EndedAt = later }},
		{holdshort.RunRunning, holdshort.RunCancel, holdshort.RunCanceled, func(r *holdshort.Run) { free(r); r.Wake++; r.Lease.Epoch++; r.EndedAt = later }},
		{holdshort.RunWaiting, holdshort.RunWake, holdshort.RunQueued, func(r *holdshort.Run) { r.Wake++ }},
		{holdshort.RunWaiting, holdshort.RunCancel, holdshort.RunCanceled, func(r *holdshort.Run) { r.Wake++; r.Lease.Epoch++; r.EndedAt = later }},
		{holdshort.RunFailed, holdshort.RunRetry, holdshort.RunQueued, func(r *holdshort.Run) {
			r.Attempt, r.Claims, r.Error, r.EndedAt = 2, 0, nil, time.Time{}
		}},
	} {
		want := aRun(test.from)
		want.Status, want.UpdatedAt = test.to, later
		test.change(&want)
		got, err := aRun(test.from).Apply(test.input, later)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: %v\ngot  %+v\nwant %+v", test.from, test.input, err, got, want)
		}
	}
}

func TestRunApplyThatIsRefusedChangesNothing(t *testing.T) {
	for _, from := range runStates {
		for _, input := range runInputs {
			got, err := aRun(from).Apply(input, later)
			if err != nil && (!errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, aRun(from))) {
				t.Errorf("%s, %s: %v and %+v", from, input, err, got)
			}
		}
	}
}

func TestRunEnded(t *testing.T) {
	for status, want := range map[holdshort.RunStatus]bool{
		holdshort.RunQueued: false, holdshort.RunRunning: false, holdshort.RunWaiting: false,
		holdshort.RunCompleted: true, holdshort.RunFailed: true, holdshort.RunCanceled: true, "": false,
	} {
		if status.Ended() != want {
			t.Errorf("%q is over: %v", status, !want)
		}
	}
}

func TestSuspendNeverLosesAWakeUp(t *testing.T) {
	r := aRun(holdshort.RunRunning)
	atClaim := r.Wake
	if got, err := r.Suspend(atClaim, later); err != nil || got.Status != holdshort.RunWaiting {
		t.Errorf("nothing happened: %s, %v", got.Status, err)
	}
	woken, err := r.Apply(holdshort.RunWake, later)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := woken.Suspend(atClaim, later); err != nil || got.Status != holdshort.RunQueued || got.Lease.Owner != "" {
		t.Errorf("woken since the claim: %s, %v", got.Status, err)
	}
	for _, status := range runStates {
		if status == holdshort.RunRunning {
			continue
		}
		for _, since := range []int64{atClaim, atClaim - 1} {
			if got, err := aRun(status).Suspend(since, later); !errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, aRun(status)) {
				t.Errorf("suspend of a run that is %s: %s, %v", status, got.Status, err)
			}
		}
	}
}

// However claims, suspensions and wake-ups interleave, a run never rests in waiting with a wake-up that no claim has seen.
func TestWakeUpsAreNeverLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := aRun(holdshort.RunQueued)
		seen := r.Wake // by the last claim
		for _, step := range rapid.SliceOfN(rapid.SampledFrom([]string{"wake", "claim", "suspend", "requeue", "hold", "release"}), 1, 40).Draw(t, "steps") {
			var next holdshort.Run
			var err error
			switch step {
			case "wake":
				if next, err = r.Apply(holdshort.RunWake, later); err != nil {
					t.Fatalf("a wake-up of a run that is %s was refused: %v", r.Status, err)
				}
			case "claim":
				if next, err = r.Apply(holdshort.RunClaim, later); err == nil {
					seen = next.Wake
				}
			case "suspend":
				next, err = r.Suspend(seen, later)
			case "requeue":
				next, err = r.Apply(holdshort.RunRequeue, later)
			case "hold":
				next, err = r.Hold(holdshort.KeyUnknown, later)
			case "release":
				next, err = r.Release(later)
			}
			if err == nil {
				r = next
			}
			if r.Status == holdshort.RunWaiting && r.Wake != seen {
				t.Fatalf("after %s the run waits, with %d wake-ups of which a claim saw %d", step, r.Wake, seen)
			}
		}
	})
}

func TestHeldRunsStayWhereTheyAre(t *testing.T) {
	for _, status := range []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunWaiting} {
		held, err := aRun(status).Hold(holdshort.KeyUnknown, later)
		if err != nil {
			t.Fatal(err)
		}
		want := aRun(status)
		want.Held, want.UpdatedAt = &holdshort.Hold{Code: holdshort.KeyUnknown, Since: later}, later
		want.Lease = holdshort.Lease{Epoch: 8}
		if !reflect.DeepEqual(held, want) {
			t.Errorf("hold of a run that is %s:\ngot  %+v\nwant %+v", status, held, want)
		}
		again, err := held.Hold(holdshort.Corrupt, later.Add(time.Hour))
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("held twice: %v, %+v; the first reason stays", err, again.Held)
		}
		for _, input := range []holdshort.RunInput{holdshort.RunClaim, holdshort.RunComplete, holdshort.RunSuspend, holdshort.RunFail} {
			got, err := held.Apply(input, later)
			if !errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, held) {
				t.Errorf("%s of a held run that is %s: %s, %v", input, status, got.Status, err)
			}
			if holdshort.HintOf(err) == "" {
				t.Errorf("%s of a held run gives no hint: %v", input, err)
			}
		}
		woken, err := held.Apply(holdshort.RunWake, later)
		if err != nil || woken.Wake != held.Wake+1 || woken.Held == nil {
			t.Errorf("a wake-up of a held run that is %s: %v, %+v", status, err, woken)
		}
		if canceled, err := held.Apply(holdshort.RunCancel, later); err != nil || canceled.Status != holdshort.RunCanceled || canceled.Held != nil {
			t.Errorf("cancel of a held run that is %s: %s, %v, still held: %v", status, canceled.Status, err, canceled.Held != nil)
		}

		released, err := held.Release(later)
		want = aRun(status)
		want.Status, want.Wake, want.Claims, want.UpdatedAt, want.Lease = holdshort.RunQueued, held.Wake+1, 0, later, holdshort.Lease{Epoch: 8}
		if err != nil || !reflect.DeepEqual(released, want) {
			t.Errorf("release of a run that is %s: %v\ngot  %+v\nwant %+v", status, err, released, want)
		}
		if _, err := released.Release(later); !errors.Is(err, holdshort.WrongState) {
			t.Errorf("released twice: %v", err)
		}
	}
	for _, status := range []holdshort.RunStatus{holdshort.RunCompleted, holdshort.RunFailed, holdshort.RunCanceled} {
		if got, err := aRun(status).Hold(holdshort.Corrupt, later); !errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, aRun(status)) {
			t.Errorf("hold of a run that is %s: %v", status, err)
		}
	}
}

func TestHoldDoesNotShareItsReasonWithTheRunBefore(t *testing.T) {
	before := aRun(holdshort.RunWaiting)
	if _, err := before.Hold(holdshort.Corrupt, later); err != nil || before.Held != nil {
		t.Errorf("the run before is held as well: %v, %v", before.Held, err)
	}
}
