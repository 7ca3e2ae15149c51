package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// refused wants the code, a message and a hint.
func refused(t *testing.T, err error, code holdshort.Code) {
	t.Helper()
	if holdshort.CodeOf(err) != code {
		t.Fatalf("got %v (%v), want %s", err, holdshort.CodeOf(err), code)
	}
	if holdshort.HintOf(err) == "" {
		t.Errorf("%v does not say what to do", err)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	f := newFile(t, Options{})
	answer := startChild(t, 0, "open", f.path).line(t)
	code, _, _ := strings.Cut(answer, "\t")
	if code != string(holdshort.StoreLocked) || !strings.Contains(answer, fmt.Sprint("pid ", os.Getpid())) {
		t.Errorf("a second process got %q, want store_locked and our pid %d", answer, os.Getpid())
	}
	if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
		return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "x"})
	}); err != nil {
		t.Errorf("the holder after that: %v", err)
	}
}

func TestSecondStoreIsRefused(t *testing.T) {
	f := newFile(t, Options{})
	_, err := Open(context.Background(), f.path, Options{Logger: quiet})
	refused(t, err, holdshort.StoreLocked)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(f.path, link); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), link, Options{Logger: quiet})
	refused(t, err, holdshort.StoreLocked)
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.Symlink(filepath.Dir(f.path), folder); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), filepath.Join(folder, ".", "holdshort.db"), Options{Logger: quiet})
	refused(t, err, holdshort.StoreLocked)
	f.Reopen(t) // who closes it lets go of it
}

// TestCrashKilledProcess kills a writing process and wants everything that it had acknowledged.
func TestCrashKilledProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdshort.db")
	total := 0
	p := startChild(t, 0, "write", path)
	if line := p.line(t); line != "open" {
		t.Fatal(line)
	}
	for range 200 {
		fmt.Sscan(p.line(t), &total)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for p.lines.Scan() { // what it said before it died
		fmt.Sscan(p.lines.Text(), &total)
	}
	p.Wait()
	s, err := Open(context.Background(), path, Options{Logger: quiet})
	if err != nil {
		t.Fatalf("open after kill -9: %v", err)
	}
	defer s.Close()
	if s.Quarantine() != "" {
		t.Errorf("quarantined after kill -9: %s", s.Quarantine())
	}
	err = s.View(context.Background(), "acme", func(tx store.ReadTx) error {
		for n := 1; n <= total; n++ {
			if _, err := tx.Run(holdshort.RunID(fmt.Sprint("run_", n))); err != nil {
				return fmt.Errorf("%d was acknowledged: %w", n, err)
			}
		}
		if _, err := tx.Run(holdshort.RunID(fmt.Sprint("run_", total+2))); err == nil {
			return fmt.Errorf("%d is there, and only %d was acknowledged", total+2, total)
		}
		return nil
	})
	if err != nil || total < 200 {
		t.Errorf("after %d acknowledgements: %v", total, err)
	}
	verdict, err := s.System().Verify(context.Background())
	if err != nil || len(verdict.Faults) > 0 || verdict.Events < int64(total) {
		t.Errorf("verify: %+v (%v)", verdict, err)
	}
}
