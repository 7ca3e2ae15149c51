package torture

import (
	"os"
	"syscall"
)

const canFreeze = true

// attributes: a Ctrl-C at the terminal is for the parent; a child dies with it, frozen or not.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error   { return p.Signal(syscall.SIGCONT) }
