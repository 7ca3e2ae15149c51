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
	Parked  *Parked       `json:"parked,omitempty"`
	Sweep   *Sweep        `json:"sweep,omitempty"`
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

// Parked is what waiting costs.
type Parked struct {
	Runs       int           `json:"runs"`
	BytesEach  float64       `json:"bytes_each"`
	InboxP50   time.Duration `json:"inbox_p50_ns"`
	InboxP99   time.Duration `json:"inbox_p99_ns"`
	RSSEmpty   int64         `json:"rss_empty"`
	RSSParked  int64         `json:"rss_parked"`
	OpenTook   time.Duration `json:"open_ns"`
	LoadedRate float64       `json:"loaded_per_s"`
}

// Sweep is a mass expiry beside running decisions.
type Sweep struct {
	Timers     int           `json:"timers"`
	Took       time.Duration `json:"took_ns"`
	Rate       float64       `json:"per_s"`
	Expired    int           `json:"expired"`
	IdleP50    time.Duration `json:"decide_idle_p50_ns"`
	BesideP50  time.Duration `json:"decide_beside_p50_ns"`
	BesideP99  time.Duration `json:"decide_beside_p99_ns"`
	Slowdown   float64       `json:"slowdown"`
	Decisions  int           `json:"decisions"`
	EmptyLooks int           `json:"empty_looks"`
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
		fmt.Fprintf(w, ", one fsync %s", r.Fsync.Round(time.Microsecond))
	}
	fmt.Fprintln(w)
	if len(r.Commits) > 0 {
		fmt.Fprintln(t, "transaction\tcallers\talone/s\tgrouped/s\tratio\tp50\tp99\t")
		for _, c := range r.Commits {
			fmt.Fprintf(t, "%s\t%d\t%.0f\t%.0f\t%.1f\t%s\t%s\t\n", c.Transaction, c.Callers, c.Alone, c.Grouped, c.Ratio, c.P50.Round(time.Microsecond), c.P99.Round(time.Microsecond))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if p := r.Parked; p != nil {
		fmt.Fprintf(w, "%d parked runs: %.0f bytes each; inbox first page p50 %s, p99 %s; memory %d MiB empty, %d MiB with them; opened in %s\n", p.Runs, p.BytesEach,
			p.InboxP50.Round(time.Microsecond), p.InboxP99.Round(time.Microsecond), p.RSSEmpty>>20, p.RSSParked>>20, p.OpenTook.Round(time.Millisecond))
	}
	if s := r.Sweep; s != nil {
		fmt.Fprintf(w, "%d due timers swept in %s (%.0f/s); a decision beside it p50 %s, p99 %s, idle p50 %s: %.1f times\n", s.Timers, s.Took.Round(time.Millisecond), s.Rate,
			s.BesideP50.Round(time.Microsecond), s.BesideP99.Round(time.Microsecond), s.IdleP50.Round(time.Microsecond), s.Slowdown)
	}
	return nil
}

func newReport() Report { return Report{Cores: runtime.NumCPU()} }

// quantile of times, which it sorts.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(float64(len(times))*q), len(times)-1)]
}
