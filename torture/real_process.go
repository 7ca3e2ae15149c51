package torture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// process is a child of ours: the counter, or a worker that gets killed.
type process struct {
	cmd     *exec.Cmd
	line    io.WriteCloser // its life hangs on this pipe
	log     string         // the file that it logs to
	address string
	api     string        // of its public API, if it has one
	exited  chan struct{} // closed when it is gone
	err     error         // how it ended
}

const startPatience = 30 * time.Second

// startProcess starts a child, tells it what to do, and waits until it says where it answers. What it logs goes to the end of a file.
func startProcess(command []string, setup any, log string) (*process, error) {
	first, err := json.Marshal(setup)
	if err != nil {
		return nil, err
	}
	logs, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	p := &process{cmd: exec.Command(command[0], command[1:]...), log: log, exited: make(chan struct{})}
	p.cmd.Stderr, p.cmd.SysProcAttr = logs, attributes()
	if p.line, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(command[0]), err)
	}
	said := make(chan []byte, 1)
	go func() {
		reader := bufio.NewReader(out)
		line, _ := reader.ReadBytes('\n')
		said <- line
		_, _ = io.Copy(io.Discard, reader)
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	if _, err := p.line.Write(append(first, '\n')); err != nil {
		p.kill()
		return nil, err
	}
	timer := time.NewTimer(startPatience)
	defer timer.Stop()
	var hello greeting
	select {
	case line := <-said:
		err = json.Unmarshal(line, &hello)
	case <-timer.C:
		err = fmt.Errorf("no answer after %s", startPatience)
	}
	if err != nil || hello.Address == "" {
		p.kill()
		return nil, fmt.Errorf("start %s: it did not come up, see %s", filepath.Base(command[0]), log)
	}
	p.address, p.api = hello.Address, hello.API
	return p, nil
}

// kill ends it at once, as a power cut would, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
	p.line.Close()
}

// stop asks it to end, and gives how it did.
func (p *process) stop(patience time.Duration) error {
	p.line.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return p.err
	case <-timer.C:
		p.kill()
		return fmt.Errorf("it did not end within %s", patience)
	}
}

// mostQuoted is how many bytes of a log a fault quotes: a report of the race detector has about two thousand.
const mostQuoted = 8 << 10

// logEnd gives the end of what it logged, for the fault that names it: the file may be gone when somebody reads the fault.
func (p *process) logEnd() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	content = bytes.TrimSpace(content)
	return string(content[max(len(content)-mostQuoted, 0):])
}
