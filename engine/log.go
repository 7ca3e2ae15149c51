package engine

import (
	"github.com/holdshort/holdshort"
)

// Log lines hold ids and codes. They never hold a question, an argument, a reply or the text of an error that may quote one.

// logRequest writes a line about a request after the commit. The code is also the line's message.
func (c *change) logRequest(code string, req holdshort.Request, fields ...any) {
	c.logs = append(c.logs, func() { c.e.log.Info(code, append(requestFields(code, req), fields...)...) })
}

func requestFields(code string, req holdshort.Request) []any {
	return []any{"code", code, "trace_id", req.TraceID, "session_id", req.SessionID, "run_id", req.RunID, "request_id", req.ID}
}

// returnField is where the run continues, for a request that says so: a question of a flow returns to its step.
func returnField(req holdshort.Request) []any {
	if req.ReturnTo == (holdshort.ReturnTo{}) {
		return nil
	}
	return []any{"return_to", req.ReturnTo.Node + "/" + req.ReturnTo.Mode}
}

// runFields identifies a run in a log line.
func runFields(run holdshort.Run) []any {
	return []any{"trace_id", run.TraceID, "session_id", run.SessionID, "run_id", run.ID, "flow", run.Flow}
}

// logFailed writes the line of a run that failed after the commit, with the stack of a panic. The message of the error stays in the run's
// record: it may quote a user.
func (c *change) logFailed(run holdshort.Run) {
	if run.Status != holdshort.RunFailed || run.Error == nil {
		return
	}
	fields := append(runFields(run), "code", run.Error.Code)
	if run.Error.Step != "" {
		fields = append(fields, "step", run.Error.Step)
	}
	if run.Error.Stack != "" {
		fields = append(fields, "stack", run.Error.Stack)
	}
	c.logs = append(c.logs, func() { c.e.log.Error("a run failed", fields...) })
}

// callFields identifies a call of this run in a log line.
func (s *slice) callFields(c *call, op holdshort.Operation, code holdshort.Code) []any {
	return append(runFields(s.snapshot()), "code", code, "request_id", op.RequestID, "operation_id", op.ID, "step", c.Key, "tool", c.Tool)
}
