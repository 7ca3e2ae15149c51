package holdshort_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

var operationInputs = []holdshort.OperationInput{holdshort.OperationFinish, holdshort.OperationProveFailed, holdshort.OperationLose, holdshort.OperationRerun,
	holdshort.OperationSettleDone, holdshort.OperationSettleNot, holdshort.OperationGiveUp, holdshort.OperationRetry}

func anOperation(status holdshort.OperationStatus) holdshort.Operation {
	o := holdshort.Operation{ID: "trace:run_1/refund", Status: status, Attempt: 1, Nonce: "n1", StartedAt: noon, Deadline: later}
	if status != holdshort.OperationStarted {
		o.ClosedAt = noon
	}
	o.Success = status == holdshort.OperationDone
	return o
}

func TestOperationApply(t *testing.T) {
	afterwards := later.Add(time.Second)
	for _, test := range []struct {
		from   holdshort.OperationStatus
		input  holdshort.OperationInput
		change func(*holdshort.Operation)
	}{
		{holdshort.OperationStarted, holdshort.OperationFinish, func(o *holdshort.Operation) {
			o.Status, o.Success, o.ClosedAt = holdshort.OperationDone, true, afterwards
		}},
		{holdshort.OperationStarted, holdshort.OperationProveFailed, func(o *holdshort.Operation) { o.Status, o.ClosedAt = holdshort.OperationFailed, afterwards }},
		{holdshort.OperationStarted, holdshort.OperationLose, func(o *holdshort.Operation) { o.Status, o.ClosedAt = holdshort.OperationUnknown, afterwards }},
		{holdshort.OperationStarted, holdshort.OperationRerun, func(o *holdshort.Operation) { o.Attempt, o.Nonce, o.Deadline = 2, "", time.Time{} }},
		{holdshort.OperationUnknown, holdshort.OperationSettleDone, func(o *holdshort.Operation) {
			o.Status, o.Success, o.ClosedAt = holdshort.OperationDone, true, afterwards
		}},
		{holdshort.OperationUnknown, holdshort.OperationSettleNot, func(o *holdshort.Operation) { o.Status, o.ClosedAt = holdshort.OperationFailed, afterwards }},
		{holdshort.OperationUnknown, holdshort.OperationGiveUp, func(o *holdshort.Operation) { o.Settled, o.ClosedAt = true, afterwards }},
		{holdshort.OperationFailed, holdshort.OperationRetry, func(o *holdshort.Operation) {
			o.Status, o.Attempt, o.Nonce, o.Deadline, o.ClosedAt = holdshort.OperationStarted, 2, "", time.Time{}, time.Time{}
		}},
	} {
		want := anOperation(test.from)
		test.change(&want)
		got, err := anOperation(test.from).Apply(test.input, "n1", afterwards)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: %v\ngot  %+v\nwant %+v", test.from, test.input, err, got, want)
		}
	}
}

// The answer of an attempt that was given up must not close the one after it.
func TestOperationTakesOnlyTheAnswerOfItsAttempt(t *testing.T) {
	for _, status := range []holdshort.OperationStatus{holdshort.OperationStarted, holdshort.OperationDone, holdshort.OperationFailed, holdshort.OperationUnknown} {
		for _, input := range operationInputs {
			for _, nonce := range []string{"", "n0", "n1 ", "N1"} {
				got, err := anOperation(status).Apply(input, nonce, later)
				if !errors.Is(err, holdshort.Conflict) || !reflect.DeepEqual(got, anOperation(status)) {
					t.Errorf("%s, %s with nonce %q: %s, %v; want conflict", status, input, nonce, got.Status, err)
				}
			}
		}
	}
}

func TestNobodyGivesACallUpBeforeItsDeadline(t *testing.T) {
	for _, test := range []struct {
		name string
		at   time.Time
		ok   bool
	}{
		{"at the start", noon, false},
		{"a nanosecond before", later.Add(-1), false},
		{"at the instant", later, true},
		{"after", later.Add(time.Hour), true},
	} {
		for _, input := range []holdshort.OperationInput{holdshort.OperationLose, holdshort.OperationRerun} {
			got, err := anOperation(holdshort.OperationStarted).Apply(input, "n1", test.at)
			if test.ok != (err == nil) || !test.ok && (!errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, anOperation(holdshort.OperationStarted))) {
				t.Errorf("%s %s: %s, %v", input, test.name, got.Status, err)
			}
		}
		for _, input := range []holdshort.OperationInput{holdshort.OperationFinish, holdshort.OperationProveFailed} {
			if _, err := anOperation(holdshort.OperationStarted).Apply(input, "n1", test.at); err != nil {
				t.Errorf("%s %s: %v; an answer counts whenever it comes", input, test.name, err)
			}
		}
	}
}

// Settled says that a person gave up; whoever learns the truth later takes that back.
func TestOperationSettledOnlyWhileUnknown(t *testing.T) {
	gaveUp, err := anOperation(holdshort.OperationUnknown).Apply(holdshort.OperationGiveUp, "n1", later)
	if err != nil || !gaveUp.Settled {
		t.Fatalf("%+v, %v", gaveUp, err)
	}
	for _, input := range []holdshort.OperationInput{holdshort.OperationSettleDone, holdshort.OperationSettleNot} {
		if got, err := gaveUp.Apply(input, "n1", later); err != nil || got.Settled {
			t.Errorf("%s after giving up: %s, settled %v, %v", input, got.Status, got.Settled, err)
		}
	}
}

// No road leads from done to another call of the tool, and none from unknown without somebody who settles it.
func TestOperationNeverRunsTwiceUnasked(t *testing.T) {
	for _, from := range []holdshort.OperationStatus{holdshort.OperationDone, holdshort.OperationUnknown} {
		for _, input := range operationInputs {
			if got, err := anOperation(from).Apply(input, "n1", later); err == nil && got.Status == holdshort.OperationStarted {
				t.Errorf("%s of an operation that is %s starts it again", input, from)
			}
		}
	}
}
