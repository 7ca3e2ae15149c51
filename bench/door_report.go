package bench

import (
	"fmt"
	"io"
	"time"
)

// Door is the HTTP API: whole lives of runs over it beside the same in the process, and what those who wait cost.
type Door struct {
	Connections   int           `json:"connections"`
	PerSecond     float64       `json:"per_s"`
	InProcess     float64       `json:"in_process_per_s"`
	Ratio         float64       `json:"ratio"`
	DecidedP50    time.Duration `json:"decide_to_completed_p50_ns"`
	OneDecidedP50 time.Duration `json:"one_connection_decide_to_completed_p50_ns"`
	Pollers       int           `json:"pollers,omitempty"`
	PollP50       time.Duration `json:"decide_to_poller_p50_ns,omitempty"`
	PollP99       time.Duration `json:"decide_to_poller_p99_ns,omitempty"`
	DecideP50     time.Duration `json:"decide_call_p50_ns,omitempty"`
	Idle          int           `json:"idle_connections,omitempty"`
	EventBytes    float64       `json:"bytes_per_event_stream,omitempty"`
	PollBytes     float64       `json:"bytes_per_long_poll,omitempty"`
}

func (d *Door) write(w io.Writer) {
	if d == nil {
		return
	}
	fmt.Fprintf(w, "over HTTP, %d connections: %.0f cycles/s, in the process %.0f: ratio %.2f; decided to completed p50 %s, at one connection %s\n", d.Connections, d.PerSecond, d.InProcess, d.Ratio,
		micro(d.DecidedP50), micro(d.OneDecidedP50))
	if d.PollP50 > 0 {
		fmt.Fprintf(w, "%d long polls wait: from the decision to who waits for it p50 %s, p99 %s (the decision's own call %s)\n", d.Pollers, micro(d.PollP50), micro(d.PollP99), micro(d.DecideP50))
	}
	if d.EventBytes > 0 || d.PollBytes > 0 {
		fmt.Fprintf(w, "%d idle connections: %.1f KiB an event stream, %.1f KiB a long poll\n", d.Idle, d.EventBytes/1024, d.PollBytes/1024)
	}
}
