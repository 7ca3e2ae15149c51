package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

// canary is the text of users, arguments and errors in these tests: no log line may hold it.
const canary = "canary-order-77"

// logLines is a handler that keeps lines from level info up.
type logLines struct {
	mu  sync.Mutex
	all []map[string]string
}

func (*logLines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler             { return l }
func (l *logLines) WithGroup(string) slog.Handler                  { return l }

func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	line := map[string]string{"msg": r.Message, "level": r.Level.String()}
	r.Attrs(func(a slog.Attr) bool { line[a.Key] = fmt.Sprint(a.Value.Any()); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	return nil
}

// find returns the only line with a message.
func (l *logLines) find(t testing.TB, message string) map[string]string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []map[string]string
	for _, line := range l.all {
		for key, value := range line {
			if strings.Contains(value, canary) {
				t.Errorf("the line %q holds a user's text in %s: %s", line["msg"], key, value)
			}
		}
		if line["msg"] == message {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d lines %q among %v", len(found), message, l.all)
	}
	return found[0]
}

// TestLogLines: each of these facts leaves one line with the ids of run, session, trace and request, its code, and no text of a user.
func TestLogLines(t *testing.T) {
	for _, c := range []struct {
		name, message, code string
		level               slog.Level
		story               func(n *eventEnv) (holdshort.Run, holdshort.RequestID)
		want                map[string]string // further fields; "": the field is absent
		stack               bool
	}{
		{name: "created", message: "HITL_CREATED", code: "HITL_CREATED", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.start("ask")
			return run, n.open(run).ID
		}, want: map[string]string{"kind": "clarification", "source": "flow", "return_to": ""}},
		{name: "created for a call", message: "HITL_CREATED", code: "HITL_CREATED", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.pay("refund")
			return run, n.open(run).ID
		}, want: map[string]string{"kind": "approval", "return_to": "tool_call/execute"}},
		{name: "resumed", message: "HITL_RESUME_VALID", code: "HITL_RESUME_VALID", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.start("ask")
			return run, n.decide(run, holdshort.Answer, ben).ID
		}, want: map[string]string{"action": "answer", "outcome": "answered", "actor": "ben", "return_to": ""}},
		{name: "resumed with a call", message: "HITL_RESUME_VALID", code: "HITL_RESUME_VALID", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.pay("refund")
			return run, n.decide(run, holdshort.Approve, olga).ID
		}, want: map[string]string{"outcome": "approved", "return_to": "tool_call/execute"}},
		{name: "expired", message: "HITL_EXPIRED", code: "HITL_EXPIRED", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.start("ask")
			req := n.open(run)
			n.pass(time.Hour)
			return run, req.ID
		}, want: map[string]string{"origin_step_id": "q"}},
		{name: "asked again", message: "HITL_RE_ASK", code: "HITL_RE_ASK", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.start("confirm")
			n.clock.move(5 * time.Second) // it was delivered before the reply was sent
			n.hear(n.s, canary)
			return run, n.open(run).ID
		}},
		{name: "stale reply", message: "HITL_STALE_REPLY", code: "HITL_STALE_REPLY", story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			run := n.start("confirm")
			req := n.decide(run, holdshort.Approve, ben)
			n.hearAs(n.s, Inbound{ID: "late", Text: "yes", ReplyTo: string(req.ID)})
			return run, req.ID
		}},
		{name: "second request of a step", message: "HITL_DUPLICATE_ATTEMPT", code: "HITL_DUPLICATE_ATTEMPT",
			story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
				run := n.start("both")
				first := n.open(run)
				n.pass(2 * time.Second) // the nap is over: the flow runs again and asks the same
				if again := n.open(run); again.ID != first.ID {
					n.Errorf("the step has request %s, want the first one, %s", again.ID, first.ID)
				}
				return run, first.ID
			}, want: map[string]string{"origin_step_id": "each/ask/q"}},
		{name: "failed run", message: "a run failed", code: "internal", level: slog.LevelError, story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			return n.start("fail"), ""
		}, want: map[string]string{"flow": "fail", "stack": ""}},
		{name: "panic", message: "a run failed", code: "panicked", level: slog.LevelError, stack: true, story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			return n.start("panic"), ""
		}},
		{name: "held run", message: "a run is held", code: "journal_mismatch", level: slog.LevelError, story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			return n.held(), ""
		}},
		{name: "unknown outcome", message: "the outcome of a call is not known", code: "internal", level: slog.LevelWarn, story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			return n.called(errors.New(canary))
		}, want: map[string]string{"tool": "refund", "step": "pay"}},
		{name: "panic of a tool", message: "a tool panicked", code: "panicked", level: slog.LevelError, stack: true, story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
			n.panics.Store(true)
			return n.called(nil)
		}, want: map[string]string{"tool": "refund"}},
		{name: "missing result", message: "IDEMPOTENCY_MISSING_RESULT", code: "IDEMPOTENCY_MISSING_RESULT", level: slog.LevelError,
			story: func(n *eventEnv) (holdshort.Run, holdshort.RequestID) {
				run := n.start("paid")
				n.loseEntry(run, "pay")
				_, err := n.Retry(n.Context(), acme, run.ID, olga)
				n.must(err)
				n.settle()
				return run, ""
			}, want: map[string]string{"tool": "free", "step": "pay"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newEventEnv(t)
			run, request := c.story(n)
			line := n.lines.find(t, c.message)
			want := map[string]string{"level": c.level.String(), "code": c.code, "run_id": string(run.ID), "session_id": string(n.s.ID), "trace_id": run.TraceID}
			if request != "" {
				want["request_id"] = string(request)
			}
			for key, value := range c.want {
				want[key] = value
			}
			for key, value := range want {
				if got, has := line[key]; got != value || value == "" && key != "code" && has {
					t.Errorf("%s is %q, want %q, in %v", key, got, value, line)
				}
			}
			if c.stack != strings.Contains(line["stack"], "goroutine ") {
				t.Errorf("the stack is %q", line["stack"])
			}
		})
	}
}

// called has a call approved, to which the tool answers fault.
func (n *eventEnv) called(fault error) (holdshort.Run, holdshort.RequestID) {
	n.Helper()
	e := called(n, fault)
	return n.run(e.Run), e.Request
}

// loseEntry deletes an entry of a run's journal and signs the rest, as if the entry had never been written.
func (n *eventEnv) loseEntry(run holdshort.Run, key string) {
	n.Helper()
	db, err := sql.Open("sqlite", "file:"+n.path+"?_pragma=busy_timeout(5000)")
	n.must(err)
	defer db.Close()
	result, err := db.ExecContext(n.Context(), "DELETE FROM journal WHERE run_id = ? AND key = ?", string(run.ID), key)
	n.must(err)
	if lost, err := result.RowsAffected(); err != nil || lost != 1 {
		n.Fatalf("%d entries were deleted: %v", lost, err)
	}
	ResignJournal(n.TB, n.Engine, acme, run.ID)
}
