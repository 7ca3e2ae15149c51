//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// group is a program and everything that it starts, unless that leaves the group: it is killed as a whole.
type group struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	over bool // the program is, or will at once be, reaped: its id may become somebody else's
}

// newGroup makes the program the first of a group of processes, which is killed when the context ends.
func newGroup(cmd *exec.Cmd) *group {
	g := &group{cmd: cmd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = g.kill
	return g
}

func (g *group) kill() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return os.ErrProcessDone
	}
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
