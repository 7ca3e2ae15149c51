// Command testreport reads the output of "go test -json" and prints progress, failures and a summary.
// It imports the standard library only.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	packages := flag.Int("packages", 0, "number of packages under test")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *packages); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

// heartbeat is the longest silence: after it, the packages that still run are named.
const heartbeat = 30 * time.Second

// run prints a report of the events on in. It returns an error if a test failed or the input ended early.
func run(in io.Reader, out io.Writer, packages int) error {
	report := newReport(out, packages, time.Now())
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		defer close(lines)
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				if err != io.EOF {
					failed <- err
				}
				return
			}
		}
	}()
	silence := time.NewTicker(heartbeat)
	defer silence.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				select {
				case err := <-failed:
					return err
				default:
					return report.finish(time.Now())
				}
			}
			if report.line(line, time.Now()) {
				silence.Reset(heartbeat)
			}
		case now := <-silence.C:
			report.stillRunning(now)
		}
	}
}
