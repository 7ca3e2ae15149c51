//go:build unix

package sqlite

import (
	"os"
	"os/exec"
	"testing"
)

// TestClosedStoreLetsGo: between fork and exec a child shares every open file with its parent. A store that is closed at that moment is free
// to be opened again, though the child still has the lock file.
func TestClosedStoreLetsGo(t *testing.T) {
	f := newFile(t, Options{})
	child := exec.Command("cat") // until its standard input ends
	child.ExtraFiles = []*os.File{f.store.lock.file}
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		child.Wait()
	})
	f.Reopen(t)
}
