package bench

import (
	"fmt"
	"io"
	"time"
)

// Starts compares runs on a server with many open requests, parked through its API, with runs on a server without.
type Starts struct {
	Open            int        `json:"open"`
	ParkedRate      float64    `json:"parked_per_s"`
	CatchingUpRatio float64    `json:"start_ratio_while_indexing"` // the engine still indexes the parked runs
	OneCaller       StartTimes `json:"one_connection"`
	Connections     int        `json:"connections"`
	NonePerSecond   float64    `json:"none_open_per_s"` // whole cycles
	OpenPerSecond   float64    `json:"open_per_s"`
}

// StartTimes are times from POST /v1/runs until the response that shows the paused run, and from the decision until the
// run is completed.
type StartTimes struct {
	NoneP50        time.Duration `json:"none_open_start_p50_ns"`
	NoneP99        time.Duration `json:"none_open_start_p99_ns"`
	OpenP50        time.Duration `json:"open_start_p50_ns"`
	OpenP99        time.Duration `json:"open_start_p99_ns"`
	StartRatio     float64       `json:"start_ratio"`
	NoneDecidedP50 time.Duration `json:"none_open_decide_to_completed_p50_ns"`
	OpenDecidedP50 time.Duration `json:"open_decide_to_completed_p50_ns"`
	DecidedRatio   float64       `json:"decide_ratio"`
}

func (s *Starts) write(w io.Writer) {
	if s == nil {
		return
	}
	one := s.OneCaller
	fmt.Fprintf(w, "%d open requests, parked over HTTP at %.0f/s\n", s.Open, s.ParkedRate)
	fmt.Fprintf(w, "start to paused, one connection: p50 %s, p99 %s; none open: p50 %s, p99 %s; ratio %.2f\n",
		micro(one.OpenP50), micro(one.OpenP99), micro(one.NoneP50), micro(one.NoneP99), one.StartRatio)
	fmt.Fprintf(w, "start to paused while the parked runs are indexed: ratio %.2f\n", s.CatchingUpRatio)
	fmt.Fprintf(w, "decide to completed, one connection: p50 %s; none open: p50 %s; ratio %.2f\n",
		micro(one.OpenDecidedP50), micro(one.NoneDecidedP50), one.DecidedRatio)
	fmt.Fprintf(w, "%d connections: %.0f cycles/s; none open: %.0f cycles/s; ratio %.2f\n", s.Connections, s.OpenPerSecond,
		s.NonePerSecond, s.OpenPerSecond/max(s.NonePerSecond, 1))
}
