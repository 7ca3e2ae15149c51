package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is what a run measured.
type Report struct {
	Store   string        `json:"store"`
	Server  string        `json:"server"`
	Cores   int           `json:"cores"`
	Fsync   time.Duration `json:"fsync_ns,omitempty"` // median of one 4 KiB write and fsync in the same folder
	Commits []Commits     `json:"commits,omitempty"`
	Cycle   *Cycle        `json:"cycle,omitempty"`
	Parked  *Parked       `json:"parked,omitempty"`
	Sweep   *Sweep        `json:"sweep,omitempty"`
	Sleeps  *Sleeps       `json:"sleeps,omitempty"`
	Door    *Door         `json:"door,omitempty"`
	Starts  *Starts       `json:"starts,omitempty"`
	Agents  *Agents       `json:"agents,omitempty"`
	Rules   *Rules        `json:"rules,omitempty"`
	Inbox   *Inbox        `json:"inbox,omitempty"`
}

// Commits is one row of the commit table.
type Commits struct {
	Transaction string        `json:"transaction"`
	Callers     int           `json:"callers"`
	Alone       float64       `json:"alone_per_s"`   // each transaction its own commit
	Grouped     float64       `json:"grouped_per_s"` // transactions share commits
	Ratio       float64       `json:"ratio"`
	P50         time.Duration `json:"grouped_p50_ns"`
	P99         time.Duration `json:"grouped_p99_ns"`
}

// Cycle is the life of a run, from start over a step, a durable pause, a decision and a step to its durable end.
type Cycle struct {
	Rows         []Cycles      `json:"rows"`
	Statements   []int         `json:"statements"` // of each transaction of the replay
	BareP50      time.Duration `json:"bare_commit_p50_ns,omitempty"`
	DecideToBare float64       `json:"decide_to_bare,omitempty"` // decide to completed at one caller, in bare durable commits
}

// Cycles is one row of it.
type Cycles struct {
	Callers      int           `json:"callers"`
	PerSecond    float64       `json:"per_s"`
	Replay       float64       `json:"replay_per_s"` // the same rows and commits in raw SQL, in the same run
	Ratio        float64       `json:"ratio"`
	P50          time.Duration `json:"p50_ns"`
	P99          time.Duration `json:"p99_ns"`
	DecideP50    time.Duration `json:"decide_to_completed_p50_ns"`
	DecideP99    time.Duration `json:"decide_to_completed_p99_ns"`
	Transactions float64       `json:"transactions"` // each
	Refused      float64       `json:"refused"`      // transactions that came to nothing, each
	Commits      float64       `json:"commits"`      // of the database, each: transactions share them
}

// Parked is what waiting costs: an engine on a store with many parked runs, beside one on an empty store.
type Parked struct {
	Runs             int           `json:"runs"`
	BytesEach        float64       `json:"bytes_each"`
	InboxP50         time.Duration `json:"inbox_p50_ns"`
	InboxP99         time.Duration `json:"inbox_p99_ns"`
	RSSEmpty         int64         `json:"rss_empty"`
	RSSParked        int64         `json:"rss_parked"`
	GoroutinesEmpty  int           `json:"goroutines_empty"`
	GoroutinesParked int           `json:"goroutines_parked"`
	OpenTook         time.Duration `json:"open_ns"`
	ReadyTook        time.Duration `json:"ready_ns"` // from before the store is opened until the engine is ready
	Decided          int           `json:"decided"`
	DecideEmptyP50   time.Duration `json:"decide_empty_p50_ns"`
	DecideParkedP50  time.Duration `json:"decide_parked_p50_ns"`
	DecideRatio      float64       `json:"decide_ratio"`
	LoadedRate       float64       `json:"loaded_per_s"`
}

// Sweep is a mass expiry beside running decisions.
type Sweep struct {
	Timers    int           `json:"timers"`
	Took      time.Duration `json:"took_ns"`
	Rate      float64       `json:"per_s"`
	Expired   int           `json:"expired"`
	IdleP50   time.Duration `json:"decide_idle_p50_ns"`
	BesideP50 time.Duration `json:"decide_beside_p50_ns"`
	BesideP99 time.Duration `json:"decide_beside_p99_ns"`
	Slowdown  float64       `json:"slowdown"`
	Decisions int           `json:"decisions"`
}

// Sleeps is how late an idle engine's timers fire, and what looking for them costs the store.
type Sleeps struct {
	Timers    int           `json:"timers"`
	LateP50   time.Duration `json:"late_p50_ns"`
	LateP99   time.Duration `json:"late_p99_ns"`
	IdleCalls float64       `json:"idle_calls_per_s"`
}

// WriteJSON prints the report for programs.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteTable prints it for people.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s (%s), %d cores", r.Store, r.Server, r.Cores)
	if r.Fsync > 0 {
		fmt.Fprintf(w, ", one fsync %s", micro(r.Fsync))
	}
	fmt.Fprintln(w)
	if len(r.Commits) > 0 {
		fmt.Fprintln(t, "transaction\tcallers\talone/s\tgrouped/s\tratio\tp50\tp99\t")
		for _, c := range r.Commits {
			fmt.Fprintf(t, "%s\t%d\t%.0f\t%.0f\t%.1f\t%s\t%s\t\n", c.Transaction, c.Callers, c.Alone, c.Grouped, c.Ratio, micro(c.P50), micro(c.P99))
		}
	}
	if c := r.Cycle; c != nil {
		c.table(t)
	}
	r.Agents.table(t)
	r.Rules.table(t)
	r.Inbox.table(t)
	if err := t.Flush(); err != nil {
		return err
	}
	if c := r.Cycle; c != nil && c.BareP50 > 0 {
		fmt.Fprintf(w, "decided to completed at one caller: %.1f bare durable commits of %s\n", c.DecideToBare, micro(c.BareP50))
	}
	if p := r.Parked; p != nil {
		fmt.Fprintf(w, "%d parked runs: %.0f bytes each; inbox first page p50 %s, p99 %s\n", p.Runs, p.BytesEach, micro(p.InboxP50), micro(p.InboxP99))
		fmt.Fprintf(w, "an engine beside them: ready in %s; memory %d MiB, %d MiB on an empty store; %d goroutines, %d; a decision p50 %s, %s: %.2f times\n",
			p.ReadyTook.Round(time.Millisecond), p.RSSParked>>20, p.RSSEmpty>>20, p.GoroutinesParked, p.GoroutinesEmpty, micro(p.DecideParkedP50), micro(p.DecideEmptyP50), p.DecideRatio)
	}
	if s := r.Sweep; s != nil {
		fmt.Fprintf(w, "%d requests expired in %s (%.0f/s); a decision beside it p50 %s, p99 %s, idle p50 %s: %.1f times\n", s.Expired, s.Took.Round(time.Millisecond), s.Rate,
			micro(s.BesideP50), micro(s.BesideP99), micro(s.IdleP50), s.Slowdown)
	}
	if s := r.Sleeps; s != nil {
		fmt.Fprintf(w, "%d sleeps woke %s late, p99 %s; an idle engine asks the store %.1f times a second\n", s.Timers, micro(s.LateP50), micro(s.LateP99), s.IdleCalls)
	}
	r.Door.write(w)
	r.Starts.write(w)
	r.Agents.write(w)
	r.Inbox.write(w)
	return nil
}

func (c *Cycle) table(w io.Writer) {
	fmt.Fprintln(w, "cycle\tcallers\tcycles/s\treplay/s\tratio\tp50\tp99\tdecided p50\tp99\ttransactions\tcommits\t")
	for _, r := range c.Rows {
		fmt.Fprintf(w, "start to end\t%d\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t\n", r.Callers, r.PerSecond, r.Replay, r.Ratio, micro(r.P50),
			micro(r.P99), micro(r.DecideP50), micro(r.DecideP99), r.Transactions, r.Commits)
	}
}

func micro(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

func newReport() Report { return Report{Cores: runtime.NumCPU()} }

// quantile of times, which it sorts.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(float64(len(times))*q), len(times)-1)]
}
