package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// smallDisk mounts a disk of that size; without the right to mount there is none.
func smallDisk(t *testing.T, size string) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("holdshort-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Logf("LEFT OUT: a real full disk, because this user cannot mount one (%v); a limit on the file's size stands in for it", err)
		return "", false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir, true
}

// TestFullDisk fills a real one while many write. Here it is COMMIT that fails, after everybody's statements went well.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, ok := smallDisk(t, "8m")
	f := &file{clock: &shiftedClock{}, options: Options{Logger: quiet}}
	var free func()
	if ok {
		f.path = filepath.Join(dir, "holdshort.db")
		f.options.Clock = f.clock.now
		f.open(t)
		t.Cleanup(func() { f.close(t) })
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		free = func() { os.Remove(ballast) }
	} else {
		f = newFile(t, Options{})
		free = f.Fill(t, 2<<20)
	}
	const writers, each = 8, 40
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var full int
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				run := fmt.Sprintf("run_%d_%d", w, n)
				err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
					return errors.Join(tx.PutRun(holdshort.Run{ID: holdshort.RunID(run), Status: holdshort.RunQueued, Flow: "f", Input: []byte(`"` + strings.Repeat("x", 32<<10) + `"`)}),
						tx.AddJournal(holdshort.JournalEntry{RunID: holdshort.RunID(run), Key: "k", Kind: "step"}), tx.AddEvent(holdshort.Event{Type: "run.created", Run: holdshort.RunID(run)}))
				})
				mu.Lock()
				acknowledged[run] = err == nil
				if err != nil {
					if full++; holdshort.CodeOf(err) != holdshort.StoreFull && holdshort.CodeOf(err) != holdshort.StoreUnavailable || holdshort.HintOf(err) == "" {
						t.Errorf("a full disk gives %v (%v)", err, holdshort.CodeOf(err))
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if full == 0 || full == writers*each {
		t.Errorf("%d of %d did not fit: the test shows nothing", full, writers*each)
	}
	check := func(when string) {
		t.Helper()
		for run, yes := range acknowledged {
			n := f.Rows(t, "SELECT (SELECT COUNT(*) FROM runs WHERE id = ?) + (SELECT COUNT(*) FROM journal WHERE run_id = ?) + (SELECT COUNT(*) FROM events WHERE stream = ?)",
				run, run, run)[0][0].(int64)
			if yes && n != 3 || !yes && n != 0 {
				t.Errorf("%s: %d of 3 rows of %s, acknowledged: %v", when, n, run, yes)
			}
		}
	}
	check("while it is full")
	free()
	if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) }); err != nil {
		t.Errorf("after there was room again: %v", err)
	}
	check("after there was room again")
	f.Crash(t)
	check("after a crash")
	if v, err := f.store.System().Verify(context.Background()); err != nil || len(v.Faults) > 0 {
		t.Errorf("verify: %+v (%v)", v, err)
	}
}

// TestOpenOnFullDisk: a new database that has no room is refused with a hint, not made by half.
func TestOpenOnFullDisk(t *testing.T) {
	t.Parallel()
	dir, ok := smallDisk(t, "100k")
	if !ok {
		return
	}
	path := filepath.Join(dir, "holdshort.db")
	_, err := Open(context.Background(), path, Options{Logger: quiet})
	refused(t, err, holdshort.StoreFull)
	if err := syscall.Mount("holdshort-test", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), path, Options{Logger: quiet})
	if err != nil {
		t.Fatalf("after there was room: %v", err)
	}
	defer s.Close()
	if err := s.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) }); err != nil {
		t.Errorf("after there was room: %v", err)
	}
}

const nobody = 65534

// TestReadOnly opens databases that this user may not write, as a user whom the rights bind.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forbid func(path string) error
		codes  []holdshort.Code
	}{
		"the folder": {func(path string) error {
			return errors.Join(chmodAll(path, 0o444), os.Chmod(filepath.Dir(path), 0o555))
		}, []holdshort.Code{holdshort.StoreReadOnly}},
		"the folder, with the lock of a process that is gone": {func(path string) error {
			return errors.Join(os.WriteFile(path+".lock", nil, 0o666), chmodAll(path, 0o444), os.Chmod(path+".lock", 0o666), os.Chmod(filepath.Dir(path), 0o555))
		}, []holdshort.Code{holdshort.StoreReadOnly}},
		"the file": {func(path string) error {
			return errors.Join(os.Chmod(path, 0o444), os.Chown(path, 0, 0), os.Remove(path+".lock"))
		}, []holdshort.Code{holdshort.StoreReadOnly}},
		"the keyring":     {func(path string) error { return errors.Join(os.Chmod(path+".keys", 0o000), os.Remove(path+".lock")) }, []holdshort.Code{holdshort.Forbidden}},
		"a closed folder": {func(path string) error { return os.Chmod(filepath.Dir(path), 0o000) }, []holdshort.Code{holdshort.StoreReadOnly, holdshort.Forbidden}},
	} {
		t.Run(name, func(t *testing.T) {
			uid := 0
			if os.Getuid() == 0 {
				uid = nobody
			}
			folder := filepath.Join(openFolder(t), "store")
			path := filepath.Join(folder, "holdshort.db")
			f := &file{path: path, clock: &shiftedClock{}, options: Options{Logger: quiet}}
			f.open(t)
			if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) }); err != nil {
				t.Fatal(err)
			}
			f.close(t)
			if uid != 0 {
				give(t, folder, uid)
			}
			if err := c.forbid(path); err != nil {
				t.Fatal(err)
			}
			before := contents(t, path)
			answer := startChild(t, uid, "open", path).line(t)
			fields := strings.SplitN(answer, "\t", 3)
			ok := false
			for _, code := range c.codes {
				ok = ok || fields[0] == string(code)
			}
			if !ok || len(fields) < 3 || fields[1] == "" {
				t.Errorf("got %q, want %v with a hint", answer, c.codes)
			}
			if os.Getuid() == 0 && contents(t, path) != before {
				t.Error("something was written")
			}
			if err := errors.Join(os.Chmod(folder, 0o700), chmodAll(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			f.open(t)
			defer f.close(t)
			if v, err := f.store.System().Verify(context.Background()); err != nil || v.Events != 1 || len(v.Faults) > 0 || f.store.Quarantine() != "" {
				t.Errorf("with the rights back: %+v (%v) %s", v, err, f.store.Quarantine())
			}
		})
	}
}

func chmodAll(path string, mode os.FileMode) error {
	files, err := filepath.Glob(path + "*")
	for _, name := range files {
		err = errors.Join(err, os.Chmod(name, mode))
	}
	return err
}

func give(t *testing.T, folder string, uid int) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*")
	for _, name := range append(files, folder) {
		err = errors.Join(err, os.Chown(name, uid, uid))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	var out []string
	for _, part := range []string{"", "-wal", ".keys", ".mark"} {
		content, err := os.ReadFile(path + part)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %x", part, content)) // an empty log is as good as none
	}
	return strings.Join(out, "\n")
}
