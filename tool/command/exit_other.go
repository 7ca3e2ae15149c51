//go:build unix && !linux

package command

import "os/exec"

// wait waits for the program, then ends what it left running and holds its pipes no longer than WaitDelay.
func wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	_ = killGroup(cmd)
	return err
}
