package bench

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Agents is what an agent costs besides its model and its tools: the life of a run with one approved call, beside the same life as a flow.
type Agents struct {
	Rows   []AgentCycles `json:"rows"`
	Resume *AgentResume  `json:"resume,omitempty"`
}

// AgentCycles is one row of it: runs that are started, or that a message into a new session begins and that answer there.
type AgentCycles struct {
	Callers int     `json:"callers"`
	Session bool    `json:"session"`
	Flow    Lives   `json:"flow"`  // step, pause, decision, call, step, completed
	Agent   Lives   `json:"agent"` // model, pause, decision, call, model, completed
	Ratio   float64 `json:"ratio"` // how many times as long as the flow's the agent's life takes, on average over all callers
}

// Lives is how runs of one kind went.
type Lives struct {
	PerSecond    float64       `json:"per_s"`
	P50          time.Duration `json:"p50_ns"`
	DecideP50    time.Duration `json:"decide_to_completed_p50_ns"`
	Transactions float64       `json:"transactions"` // each
}

// AgentResume is how soon a run goes on that has a long way behind it.
type AgentResume struct {
	Steps    int           `json:"steps"`
	Runs     int           `json:"runs"`
	P50      time.Duration `json:"decide_to_model_p50_ns"`
	P99      time.Duration `json:"decide_to_model_p99_ns"`
	ShortP50 time.Duration `json:"short_p50_ns"` // the same of a run with one step behind it
}

// way is one in which a call is made.
type way struct {
	do     func(context.Context) (lap, error)
	laps   []lap
	took   time.Duration
	writes int64
}

func (w *way) lives() Lives {
	var whole []time.Duration
	for _, l := range w.laps {
		whole = append(whole, l.whole)
	}
	return Lives{PerSecond: float64(len(w.laps)) / w.took.Seconds(), P50: quantile(whole, 0.5), DecideP50: quantile(decidedOf(w.laps), 0.5),
		Transactions: float64(w.writes) / float64(max(len(w.laps), 1))}
}

// measureAgents fills the table of agents.
func measureAgents(ctx context.Context, t *target, o Options, report *Report) error {
	if !o.Agents {
		return nil
	}
	own, drop, err := t.fresh(ctx, "agents")
	if err != nil {
		return err
	}
	defer drop()
	report.Agents = &Agents{}
	for _, callers := range o.Callers {
		o.Progress(fmt.Sprintf("%s: agents, %d callers", report.Store, callers))
		rows, err := agentCallers(ctx, own, o, callers)
		if err != nil {
			return err
		}
		report.Agents.Rows = append(report.Agents.Rows, rows...)
	}
	return nil
}

func agentCallers(ctx context.Context, t *target, o Options, callers int) ([]AgentCycles, error) {
	s, err := t.open(ctx, 256, callers)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	k, err := startKernel(ctx, s, callers+64)
	if err != nil {
		return nil, err
	}
	defer k.stop()
	ways := []*way{{do: k.callCycle}, {do: k.agentCycle}, {do: k.talkCycle}, {do: k.chatCycle}}
	for _, w := range ways { // connections and plans
		if _, _, err := laps(ctx, callers, o.Duration/20, w.do); err != nil {
			return nil, err
		}
	}
	const rounds = 4 // they alternate, so that a slow moment of the machine hits all
	for range rounds {
		for _, w := range ways {
			if err := k.settled(ctx); err != nil {
				return nil, err
			}
			before := k.store.updates.Load()
			some, took, err := laps(ctx, callers, o.Duration/rounds, w.do)
			if err != nil {
				return nil, err
			}
			w.laps, w.took, w.writes = append(w.laps, some...), w.took+took, w.writes+k.store.updates.Load()-before
		}
	}
	var rows []AgentCycles
	for i := 0; i < len(ways); i += 2 {
		row := AgentCycles{Callers: callers, Session: i > 0, Flow: ways[i].lives(), Agent: ways[i+1].lives()}
		row.Ratio = row.Flow.PerSecond / row.Agent.PerSecond
		rows = append(rows, row)
	}
	return rows, nil
}

func (a *Agents) table(w io.Writer) {
	if a == nil {
		return
	}
	fmt.Fprintln(w, "agents\tcallers\tflow/s\tagent/s\ttimes\tflow p50\tagent p50\tdecided p50\tagent\ttransactions\tagent\t")
	for _, r := range a.Rows {
		name := "started"
		if r.Session {
			name = "written to"
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t\n", name, r.Callers, r.Flow.PerSecond, r.Agent.PerSecond, r.Ratio, micro(r.Flow.P50), micro(r.Agent.P50),
			micro(r.Flow.DecideP50), micro(r.Agent.DecideP50), r.Flow.Transactions, r.Agent.Transactions)
	}
}

func (a *Agents) write(w io.Writer) {
	if a == nil || a.Resume == nil {
		return
	}
	r := a.Resume
	fmt.Fprintf(w, "a run of an agent with %d answers of its model behind it: from the decision to the next question to the model p50 %s, p99 %s; with one answer %s\n", r.Steps, micro(r.P50), micro(r.P99),
		micro(r.ShortP50))
}
