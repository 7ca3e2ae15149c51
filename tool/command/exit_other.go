//go:build unix && !linux

package command

// wait waits for the program, then ends what it left running; who still holds its pipes is waited for no longer than WaitDelay.
func (g *group) wait() error {
	err := g.cmd.Wait()
	_ = g.kill()
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	return err
}
