package group

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/holdshort/holdshort/store/internal/sqldb"
)

var errOwn = errors.New("its own")

// wait runs the caller's side and gives its answer.
func wait(ctx context.Context, m *Member) <-chan error {
	out := make(chan error, 1)
	go func() { out <- m.Wait(ctx) }()
	return out
}

func TestTurnAndAnswer(t *testing.T) {
	runs := 0
	m := NewMember(func(sqldb.Conn, time.Time) error { runs++; return errOwn }, 1, 2)
	answer := wait(context.Background(), m)
	if !m.Take() || m.Take() {
		t.Error("a member is taken once")
	}
	for range 2 { // a function may run again
		if a := m.Turn(nil, time.Time{}); !errors.Is(a.Err, errOwn) || a.Gone {
			t.Errorf("the turn went %+v", a)
		}
	}
	select {
	case err := <-answer:
		t.Errorf("answered %v before anybody did", err)
	default:
	}
	m.Answer(nil)
	if err := <-answer; err != nil || runs != 2 {
		t.Errorf("answered %v after %d runs", err, runs)
	}
}

func TestGone(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("x") }, "goexit": runtime.Goexit} {
		m := NewMember(func(sqldb.Conn, time.Time) error { end(); return nil })
		ended := make(chan any, 1)
		go func() {
			defer func() { ended <- recover() }()
			m.Wait(context.Background())
		}()
		if a := m.Turn(nil, time.Time{}); !a.Gone || a.Err == nil {
			t.Errorf("%s: the turn went %+v", name, a)
		}
		if got := <-ended; (name == "panic") != (got == "x") {
			t.Errorf("%s: the caller got %v", name, got)
		}
	}
}

func TestGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := NewMember(func(sqldb.Conn, time.Time) error { t.Error("it ran"); return nil })
	answer := wait(ctx, m)
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if m.Take() {
		t.Error("whoever gave up can still be taken")
	}

	ctx, cancel = context.WithCancel(context.Background())
	late := NewMember(func(sqldb.Conn, time.Time) error { return nil })
	if !late.Take() {
		t.Fatal("not free")
	}
	cancel()
	answer = wait(ctx, late) // taken: now only the answer counts
	if a := late.Turn(nil, time.Time{}); a.Err != nil || a.Gone {
		t.Errorf("the turn went %+v", a)
	}
	late.Answer(errOwn)
	if err := <-answer; !errors.Is(err, errOwn) {
		t.Errorf("got %v, want the answer", err)
	}
}
