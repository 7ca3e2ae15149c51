package torture

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFaultQuotesTheLog: a worker that ends badly is reported with the last lines that it logged, not with its exit status alone.
func TestFaultQuotesTheLog(t *testing.T) {
	t.Parallel()
	worker := []string{"sh", "-c", `read setup; echo '{"address":"127.0.0.1:1"}'; read end; echo 'the reason it ended' >&2; exit 66`}
	f := newFleet(worker, workerSetup{}, t.TempDir(), 1, false)
	if err := f.raiseAll(); err != nil {
		t.Fatal(err)
	}
	faults := f.stop()
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "exit status 66") || !strings.Contains(faults[0].Error(), "the reason it ended") {
		t.Errorf("stop reports %v", faults)
	}
	said := make(chan error, 1)
	f = newFleet([]string{"sh", "-c", `read setup; echo '{"address":"127.0.0.1:1"}'; echo 'the reason it died' >&2; exit 1`}, workerSetup{}, t.TempDir(), 1, false)
	f.died = func(err error) { said <- err }
	if err := f.raiseAll(); err != nil {
		t.Fatal(err)
	}
	if err := <-said; !strings.Contains(err.Error(), "the reason it died") {
		t.Errorf("a worker that died is reported as %v", err)
	}
}

// TestLogEnd: a long log is quoted from its end.
func TestLogEnd(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	p, err := startProcess([]string{"sh", "-c", `read setup; echo '{"address":"127.0.0.1:1"}'; for i in 1 2 3 4 5 6 7 8 9 10; do printf '%2000d\n' $i >&2; done`}, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.stop(time.Minute); err != nil {
		t.Fatal(err)
	}
	if end := p.logEnd(); len(end) != mostQuoted || !strings.HasSuffix(end, " 10") {
		t.Errorf("%d bytes are quoted, they end with %q", len(end), end[max(len(end)-20, 0):])
	}
}
