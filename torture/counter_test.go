package torture

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/holdshort/holdshort/tool"
)

// inProcess runs the counter beside the test.
func inProcess(t *testing.T) outside {
	t.Helper()
	childIn, parentOut := io.Pipe()
	parentIn, childOut := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- RunCounter(context.WithoutCancel(t.Context()), childIn, childOut) }()
	t.Cleanup(func() {
		parentOut.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	go func() { _, _ = io.WriteString(parentOut, "{}\n") }()
	var hello greeting
	if err := json.NewDecoder(parentIn).Decode(&hello); err != nil {
		t.Fatal(err)
	}
	return newOutside(hello.Address)
}

// TestCounterBehaves: what each kind of call sees, and what happened.
func TestCounterBehaves(t *testing.T) {
	w := inProcess(t)
	definite := func(err error) bool { return tool.Tool{}.IsDefinite(err) }
	for _, tt := range []struct {
		world   string
		once    bool
		calls   int
		answers bool // the last call
		refuses bool // the first call, definitely
		count   int
	}{
		{world: worldFine, calls: 1, answers: true, count: 1},
		{world: worldFine, calls: 2, answers: true, count: 2},
		{world: worldFine, once: true, calls: 3, answers: true, count: 1},
		{world: worldSlow, calls: 1, answers: true, count: 1},
		{world: worldDrop, calls: 1, count: 1},
		{world: worldDrop, once: true, calls: 2, answers: true, count: 1},
		{world: worldLost, calls: 1, count: 0},
		{world: worldLost, calls: 2, answers: true, count: 1},
		{world: worldRefuse, calls: 1, refuses: true, count: 0},
		{world: worldRefuse, calls: 2, refuses: true, answers: true, count: 1},
		{world: worldHang, calls: 1, count: 1},
	} {
		t.Run(tt.world, func(t *testing.T) {
			args := `{"amount": 1,  "world":"` + tt.world + `"}` // not canonical: the counter keeps bytes
			call := tool.Call{OperationID: t.Name(), Args: json.RawMessage(args), Deadline: time.Now().Add(time.Minute)}
			var err error
			for n := range tt.calls {
				call.Attempt = n + 1
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				if tt.world == worldHang {
					go cancelOnceSeen(ctx, w, call.OperationID, cancel)
				}
				_, err = w.call(ctx, payTool, tt.once, call)
				cancel()
				if n == 0 && definite(err) != tt.refuses {
					t.Errorf("the first call: %v, definite %v, want %v", err, definite(err), tt.refuses)
				}
			}
			if (err == nil) != tt.answers {
				t.Errorf("the last call: %v, want an answer: %v", err, tt.answers)
			}
			seen, err := w.seen(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			e := seen.Effects[call.OperationID]
			if e.Count != tt.count || e.Calls != tt.calls || len(e.Args) != tt.count || tt.count > 0 && string(e.Args[0]) != args {
				t.Errorf("seen %+v, want %d effects of %d calls with %s", e, tt.count, tt.calls, args)
			}
		})
	}
}

// cancelOnceSeen cancels a call when the counter has it.
func cancelOnceSeen(ctx context.Context, w outside, operation string, cancel func()) {
	for ctx.Err() == nil {
		if seen, err := w.seen(ctx); err == nil && seen.Effects[operation] != nil && seen.Effects[operation].Count > 0 {
			cancel()
		}
	}
}

// TestCounterKeepsItsWord: an attempt that somebody was told did not happen cannot happen later; the next one can.
func TestCounterKeepsItsWord(t *testing.T) {
	w := inProcess(t)
	w.timed = true
	e, err := w.settle(t.Context(), "op", 1)
	if err != nil || e.Count != 0 {
		t.Fatalf("%+v %v", e, err)
	}
	call := tool.Call{OperationID: "op", Attempt: 1, Args: json.RawMessage(`{}`), Deadline: time.Now().Add(time.Minute)}
	if _, err := w.call(t.Context(), payTool, false, call); !(tool.Tool{}).IsDefinite(err) {
		t.Errorf("the settled attempt: %v, want a definite refusal", err)
	}
	call.Attempt, call.Deadline = 2, time.Now().Add(-time.Minute)
	if _, err := w.call(t.Context(), payTool, false, call); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
	e, err = w.settle(t.Context(), "op", 2)
	if err != nil || e.Count != 1 || e.Fenced != 1 || e.Overdue != 1 || e.Settled != 1 {
		t.Errorf("%+v %v, want one effect, one fenced call and one after its deadline", e, err)
	}
}

// TestChildrenEnd: a child ends when its parent closes the pipe, and says what is wrong with what it is told.
func TestChildrenEnd(t *testing.T) {
	if err := RunCounter(t.Context(), closedPipe(t), io.Discard); !errors.Is(err, io.EOF) {
		t.Errorf("a counter without a parent: %v", err)
	}
	if err := RunWorker(t.Context(), closedPipe(t), io.Discard, io.Discard); !errors.Is(err, io.EOF) {
		t.Errorf("a worker without a parent: %v", err)
	}
}

func closedPipe(t *testing.T) io.Reader {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
