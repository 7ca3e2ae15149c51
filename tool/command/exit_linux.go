package command

import (
	"errors"
	"syscall"
	"unsafe"
)

// wait waits for the program and ends what it left running, so that nothing of it goes on, and nobody holds its pipes.
func (g *group) wait() error {
	awaitExit(g.cmd.Process.Pid)
	_ = g.kill()
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	return g.cmd.Wait()
}

// awaitExit returns when the process has ended and is not reaped yet: until then its id, which is that of its group, is nobody else's.
func awaitExit(pid int) {
	const (
		byPID  = 1          // P_PID
		leave  = 0x01000000 // WNOWAIT
		exited = 0x4        // WEXITED
	)
	var state [16]uint64 // a siginfo_t of 128 bytes
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), uintptr(unsafe.Pointer(&state[0])), exited|leave, 0, 0)
		if !errors.Is(errno, syscall.EINTR) {
			return
		}
	}
}
