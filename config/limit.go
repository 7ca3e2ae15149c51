package config

import (
	"cmp"
	"math"
	"time"

	"github.com/holdshort/holdshort/policy"
)

// Limits cap what one run, session, tenant or message can take on this server. A key that is not written has the
// engine's default.
type Limits struct {
	Args         int      `yaml:"args" min:"1024" max:"1048576" doc:"Arguments of one call, in bytes. Default: 262144."`
	Text         int      `yaml:"text" min:"1024" max:"1048576" doc:"A question, message or comment, in bytes. Default: 65536."`
	Pauses       int      `yaml:"pauses" min:"1" max:"10000" doc:"Requests that one run may raise. Default: 1000."`
	OpenRequests int      `yaml:"open_requests" min:"1" max:"200" doc:"Requests of one session that may be open at once. Default: 100."`
	Workers      int      `yaml:"workers" min:"1" max:"10000" doc:"Runs that this server executes at once; runs that wait are not counted. Default: 64."`
	TenantRuns   int      `yaml:"tenant_runs" min:"1" max:"10000" doc:"Runs of one tenant that this server executes at once. Default: no limit besides workers."`
	Claims       int      `yaml:"claims" min:"1" max:"100" doc:"How often a run is started again without making progress, such as after a crash, before it is held for an operator. Default: 5."`
	Silence      Duration `yaml:"silence" min:"10s" max:"24h" doc:"How long the code of a flow may compute between two steps before its run is held. Default: 10m."`
	CallAttempts int      `yaml:"call_attempts" min:"1" max:"100" doc:"Attempts of one operation that is safe to repeat. Default: 5."`
	Reasks       int      `yaml:"reasks" min:"1" max:"100" doc:"Repetitions of a question that are counted on its request. The question is repeated after every reply that cannot be understood. Default: 3."`
}

// Retention says how long data is kept. Pending work is never deleted. A key that is not written has the engine's
// default.
type Retention struct {
	Journals   Duration `yaml:"journals" min:"1d" doc:"Journals and messages, counted from the end of their run. At most as long as records. Default: 30d."`
	Records    Duration `yaml:"records" min:"90d" doc:"Requests, decisions, operations and the ids of received messages, counted from the end of their run. Default: 90d."`
	Replays    Duration `yaml:"replays" min:"1d" doc:"Answers under idempotency keys: for so long a repeated call has no second effect. Default: 7d."`
	Deliveries Duration `yaml:"deliveries" min:"1d" doc:"Messages and webhooks, counted from when they were sent or given up. Default: 30d."`
	Events     Duration `yaml:"events" min:"90d" doc:"Events of the audit log. At least as long as records. Default: never deleted."`
}

// The defaults of engine.Config.Retention that other keys are compared with.
const (
	defaultJournals = 30 * 24 * time.Hour
	defaultRecords  = 90 * 24 * time.Hour
)

func (c *checker) retention() {
	r := c.Config.Retention
	length := func(d Duration, byDefault time.Duration) time.Duration {
		if time.Duration(d) == policy.Never {
			return math.MaxInt64
		}
		return cmp.Or(time.Duration(d), byDefault)
	}
	records := length(r.Records, defaultRecords)
	if !c.isUnread("retention.records") && length(r.Journals, defaultJournals) > records {
		c.wrong("retention.journals", "write at most as long as records, or keep records longer",
			"journals are deleted with the records of their run, which are kept for less")
	}
	if r.Events != 0 && !c.isUnread("retention.records") && length(r.Events, 0) < records {
		c.wrong("retention.events", "write at least as long as records, or never",
			"records would be kept without the events that prove them")
	}
}
