package holdshorttest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// recording is a run as it is kept beside the tests, for the versions of its flow to come.
type recording struct {
	Flow    string                   `json:"flow"`
	Version int                      `json:"version"`
	User    string                   `json:"user,omitempty"`
	Status  holdshort.RunStatus      `json:"status"`
	Attempt int                      `json:"attempt"`
	Input   json.RawMessage          `json:"input,omitempty"`
	Result  json.RawMessage          `json:"result,omitempty"`
	Error   *holdshort.Failure       `json:"error,omitempty"`
	Open    []question               `json:"open,omitempty"`
	Journal []holdshort.JournalEntry `json:"journal"`
}

// question is a request that was open when the run was recorded.
type question struct {
	Step  string         `json:"step"`
	Kind  holdshort.Kind `json:"kind"`
	Calls []string       `json:"calls,omitempty"` // tool and arguments
}

// Golden keeps the journal of a run in a file, or compares it with the one that is there: ids and times apart, a run of the same flow with
// the same people leaves the same journal. Commit the file and let Replay show that the next version of the flow still reads it.
// HOLDSHORT_UPDATE=1, or a test binary's own flag -update, writes it anew.
func (k *Kit) Golden(run holdshort.RunID, file string) {
	k.t.Helper()
	got := k.record(run)
	want, err := os.ReadFile(file)
	if err == nil && plain(want) == plain(got) {
		return
	}
	if updating() {
		k.must("make the folder of "+file, os.MkdirAll(filepath.Dir(file), 0o755))
		k.must("write "+file, os.WriteFile(file, got, 0o644))
		return
	}
	if err != nil {
		k.t.Fatalf("holdshorttest: %v: run the test with HOLDSHORT_UPDATE=1 to record it, look at the file, and commit it", err)
	}
	k.t.Fatalf("holdshorttest: run %s left another journal than %s has:\n%s\nIf the flow is meant to do that, give it a new version and record that in a file of its own: "+
		"the old file is what runs that wait now look like. HOLDSHORT_UPDATE=1 writes it anew", run, file, difference(plain(want), plain(got)))
}

func updating() bool {
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		return true
	}
	on, _ := strconv.ParseBool(os.Getenv("HOLDSHORT_UPDATE"))
	return on
}

// record writes a run down.
func (k *Kit) record(id holdshort.RunID) []byte {
	k.t.Helper()
	run := k.Run(id)
	if run.Status == holdshort.RunCanceled || run.Held != nil {
		k.t.Fatalf("holdshorttest: %s: no replay would come to that: record it while it waits", k.Why(id))
	}
	r := recording{Flow: run.Flow, Version: run.FlowVersion, User: run.User, Status: run.Status, Attempt: run.Attempt, Input: run.Input, Result: run.Result, Error: run.Error,
		Open: k.questions(id), Journal: k.Journal(id)}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	k.must("write the journal of "+string(id), enc.Encode(r))
	return number(out.Bytes())
}

func (k *Kit) questions(id holdshort.RunID) (open []question) {
	for _, req := range k.list(store.RequestQuery{Run: id, Status: holdshort.RequestOpen}) {
		q := question{Step: req.OriginStepID, Kind: req.Kind}
		for _, a := range req.Actions {
			q.Calls = append(q.Calls, a.Tool+" "+string(a.Args))
		}
		open = append(open, q)
	}
	return open
}

var (
	anyID   = regexp.MustCompile(`\b(run|req|dec|ses|msg|evt|dlv|inb)_[0-9a-hjkmnp-tv-z]{26}\b`)
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
)

// number gives ids that are the same each time, and sort by time as the real ones do. Those of one moment go by where they stand.
func number(raw []byte) []byte {
	var ids []string
	for _, id := range anyID.FindAllString(string(raw), -1) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	const moment = len("run_") + 13 // the time is in the first thirteen digits
	slices.SortStableFunc(ids, func(a, b string) int { return strings.Compare(a[:moment], b[:moment]) })
	pairs, count := make([]string, 0, 2*len(ids)), map[string]int{}
	for _, id := range ids {
		prefix := id[:len("run_")]
		count[prefix]++
		pairs = append(pairs, id, fmt.Sprintf("%s%026d", prefix, count[prefix]))
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(raw)))
}

// plain leaves times out.
func plain(raw []byte) string { return anyTime.ReplaceAllString(string(raw), "(time)") }

// difference shows the first lines that differ.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	lines := func(of []string) string { return strings.Join(of[min(i, len(of)):min(i+5, len(of))], "\n\t") }
	return "line " + strconv.Itoa(i+1) + ", recorded:\n\t" + lines(a) + "\nnow:\n\t" + lines(b)
}
