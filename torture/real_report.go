package torture

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdshort/holdshort"
)

// RealReport is what a torture of real processes came to.
type RealReport struct {
	Store      string                 `json:"store"`
	Server     string                 `json:"server"`
	Seed       uint64                 `json:"seed"`
	Duration   time.Duration          `json:"duration_ns"`
	Settled    time.Duration          `json:"settled_ns"` // from the last kill until everything had come to its end
	Workers    int                    `json:"workers"`
	Clients    int                    `json:"clients"`
	Kills      int64                  `json:"kills"`
	Freezes    int64                  `json:"freezes"`
	ClockJumps int64                  `json:"clock_jumps"`
	Runs       int                    `json:"runs"`
	Agents     int                    `json:"agents"` // runs of an agent, of all
	Thoughts   int                    `json:"model_calls"`
	Pauses     int                    `json:"pauses"`
	Decisions  int                    `json:"decisions"`
	Votes      int                    `json:"votes"`
	Inbound    int                    `json:"inbound"`   // messages whose senders were answered
	Conflicts  int                    `json:"conflicts"` // deciders who came too late and were shown what stands
	Refused    int                    `json:"refused"`   // decisions by people who may not, or about something else
	Calls      int                    `json:"calls"`     // that reached the world
	Effects    int                    `json:"effects"`
	Unknown    int                    `json:"unknown"`  // operations that a person gave up on
	Lost       int                    `json:"lost"`     // operations whose outcome was not known for a while
	Released   int                    `json:"released"` // runs that were cut off five times and that a person let go on
	Overdue    int                    `json:"overdue"`  // calls that arrived after their deadline
	Fenced     int                    `json:"fenced"`   // calls that arrived after somebody was told that they did not happen
	Events     int64                  `json:"events"`
	URL        string                 `json:"url,omitempty"`  // of a server that is not ours
	HTTP       bool                   `json:"http,omitempty"` // clients spoke the public API
	Expired    int                    `json:"expired"`
	Raised     int                    `json:"raised"`   // requests of agents outside
	Claimed    int                    `json:"claimed"`  // of them
	Replayed   int                    `json:"replayed"` // calls that were answered as made before under their key
	Streams    int                    `json:"streams"`  // connections of the one who watched the events
	Streamed   int                    `json:"streamed"` // events that reached them
	Surprises  map[holdshort.Code]int `json:"surprises,omitempty"`
	Violations map[Promise]int        `json:"violations_by_promise"`
	Faults     []string               `json:"faults,omitempty"`
	Kept       string                 `json:"kept,omitempty"` // the folder, when there is something to look at
}

// Broken reports whether any promise was.
func (r RealReport) Broken() bool {
	for _, n := range r.Violations {
		if n > 0 {
			return true
		}
	}
	return false
}

// notMeasured are the promises that this torture cannot break: what waiting costs is a matter of the bench.
var notMeasured = []Promise{WaitingFree}

// WriteJSON prints the report for programs.
func (r RealReport) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteTable prints it for people.
func (r RealReport) WriteTable(w io.Writer) error {
	if r.URL != "" {
		return r.writeOutside(w)
	}
	fmt.Fprintf(w, "%s (%s), %d worker processes, %d clients, %s, seed %d; settled in %s\n\n", r.Store, r.Server, r.Workers, r.Clients, r.Duration.Round(time.Second), r.Seed,
		r.Settled.Round(time.Millisecond))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kills\tfreezes\tclock jumps\truns\tpauses\tdecisions\tvotes\tinbound\tconflicts\trefused\tcalls\teffects\tlost\tunknown\t")
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n\n", r.Kills, r.Freezes, r.ClockJumps, r.Runs, r.Pauses, r.Decisions, r.Votes, r.Inbound, r.Conflicts, r.Refused,
		r.Calls, r.Effects, r.Lost, r.Unknown)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d runs were of an agent, whose model was asked %d times\n", r.Agents, r.Thoughts)
	if r.HTTP {
		fmt.Fprintf(w, "over HTTP: %d requests raised from outside, %d claimed, %d calls replayed, %d events on %d connections\n", r.Raised, r.Claimed, r.Replayed, r.Streamed, r.Streams)
	}
	fmt.Fprintln(w)
	if err := r.writePromises(w, notMeasured, "see bench"); err != nil {
		return err
	}
	if r.Released+r.Overdue+r.Fenced > 0 {
		fmt.Fprintf(w, "\n%d runs were let go on after five cuts; %d calls came after their deadline, %d of an attempt that was settled\n", r.Released, r.Overdue, r.Fenced)
	}
	r.writeFaults(w)
	var err error
	if r.Kept != "" {
		_, err = fmt.Fprintf(w, "\nstore and logs are kept in %s\n", r.Kept)
	}
	return err
}

func (r RealReport) writePromises(w io.Writer, missing []Promise, why string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "promise\t\tviolations")
	for _, p := range Promises {
		count := fmt.Sprint(r.Violations[p])
		if slices.Contains(missing, p) {
			count = why
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", p, promiseTexts[p], count)
	}
	return t.Flush()
}

func (r RealReport) writeFaults(w io.Writer) {
	if len(r.Faults) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(r.Faults, "\n"))
	}
}

// notSeen are the promises of which nothing can be seen at the gate.
var notSeen = []Promise{WaitingFree, NotRepeated}

// writeOutside prints the report of a server that is not ours.
func (r RealReport) writeOutside(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d agents, %d deciders, %s, seed %d; settled in %s\n\n", r.URL, r.Clients, deciders, r.Duration.Round(time.Second), r.Seed, r.Settled.Round(time.Millisecond))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "raised\tpauses\tdecisions\texpired\tvotes\tconflicts\trefused\treplayed\tclaimed\tcalls\teffects\tunknown\tevents\tconnections\t")
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n\n", r.Raised, r.Pauses, r.Decisions, r.Expired, r.Votes, r.Conflicts, r.Refused, r.Replayed, r.Claimed, r.Calls, r.Effects, r.Unknown, r.Streamed, r.Streams)
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.writePromises(w, notSeen, "not seen from outside"); err != nil {
		return err
	}
	r.writeFaults(w)
	return nil
}
