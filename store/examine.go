package store

import "github.com/holdshort/holdshort"

// RunFault is a run whose stored rows are damaged.
type RunFault struct {
	Tenant  holdshort.TenantID `json:"tenant"`
	Run     holdshort.RunID    `json:"run_id"`
	Problem string             `json:"problem"`
}

// RunsExamined is the result of ExamineRuns.
type RunsExamined struct {
	Runs   int64      `json:"runs"`
	More   bool       `json:"more,omitempty"` // the limit was reached: there may be runs that were not examined
	Faults []RunFault `json:"faults"`         // 100 at most
}
