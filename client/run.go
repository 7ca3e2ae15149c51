package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
)

// Run is a run as the server shows it.
type Run struct {
	holdshort.Run
	OpenRequests []holdshort.RequestID `json:"open_requests"`
	Request      *Request              `json:"request,omitempty"` // what it waits for, where one run is asked for
}

// Start says what to run.
type Start struct {
	SessionID holdshort.SessionID `json:"session_id,omitempty"`
	Agent     string              `json:"agent,omitempty"`
	Flow      string              `json:"flow,omitempty"`
	Input     json.RawMessage     `json:"input,omitempty"`
	TraceID   string              `json:"trace_id,omitempty"`

	// Key makes it once. Default: a new one.
	Key string `json:"-"`
	// Wait is how long it may take until the run rests; then it is given as it stands. Default: no time.
	Wait time.Duration `json:"-"`
}

// Start begins a run of a flow or an agent.
func (c *Client) Start(ctx context.Context, in Start) (out Run, err error) {
	wait := min(in.Wait, time.Minute)
	asked := length(wait)
	if in.Agent != "" {
		asked = wait.String() // also 0s: the call of a blocking agent would wait
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/runs" + query("wait", asked), body: in, key: in.Key, wait: wait}, &out)
	return out, err
}

// FindRuns selects runs.
type FindRuns struct {
	Status      holdshort.RunStatus
	Session     holdshort.SessionID
	Agent, Flow string
	Held        bool
	Limit       int
	Cursor      string
}

// Runs lists runs, newest first, one page.
func (c *Client) Runs(ctx context.Context, f FindRuns) (Page[Run], error) {
	held := ""
	if f.Held {
		held = "true"
	}
	var p page[Run]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/runs" + query("status", string(f.Status), "session", string(f.Session), "agent", f.Agent, "flow", f.Flow,
		"held", held, "limit", number(f.Limit), "cursor", f.Cursor)}, &p)
	return p.out(), err
}

// Run gives one run.
func (c *Client) Run(ctx context.Context, run holdshort.RunID) (out Run, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/runs/" + id(run)}, &out)
	return out, err
}

// AwaitRun gives the run when it has ended, waits for somebody, or is held. When ctx ends first it gives the run as it stood, with ctx's error.
func (c *Client) AwaitRun(ctx context.Context, run holdshort.RunID) (out Run, err error) {
	for {
		var now Run
		status, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/runs/" + id(run) + query("wait", c.options.Wait.String()), wait: c.options.Wait}, &now)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			return out, err
		}
		if out = now; status != http.StatusAccepted {
			return out, nil
		}
	}
}

// AwaitEnd gives the run when it has ended, through every pause.
func (c *Client) AwaitEnd(ctx context.Context, run holdshort.RunID) (out Run, err error) {
	for {
		if out, err = c.AwaitRun(ctx, run); err != nil || out.Status.Ended() {
			return out, err
		}
		if len(out.OpenRequests) == 0 { // asleep, or held: nothing to wait on but time
			if err := c.pause(ctx, time.Second); err != nil {
				return out, err
			}
			continue
		}
		if _, err := c.AwaitRequest(ctx, out.OpenRequests[0]); err != nil {
			return out, err
		}
	}
}

// Journal gives what a run recorded, step by step.
func (c *Client) Journal(ctx context.Context, run holdshort.RunID) ([]holdshort.JournalEntry, error) {
	var p page[holdshort.JournalEntry]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/runs/" + id(run) + "/journal"}, &p)
	return p.Items, err
}

// Operations gives what a run did to the world.
func (c *Client) Operations(ctx context.Context, run holdshort.RunID) ([]holdshort.Operation, error) {
	var p page[holdshort.Operation]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/runs/" + id(run) + "/operations"}, &p)
	return p.Items, err
}

// Reason is one thing that a run waits for.
type Reason struct {
	Code  string    `json:"code"`
	Text  string    `json:"text"`
	Hint  string    `json:"hint,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Why tells why a run stands where it stands, what matters most first.
func (c *Client) Why(ctx context.Context, run holdshort.RunID) ([]Reason, error) {
	var out struct {
		Reasons []Reason `json:"reasons"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/runs/" + id(run) + "/why"}, &out)
	return out.Reasons, err
}

// CancelRun calls a run off.
func (c *Client) CancelRun(ctx context.Context, run holdshort.RunID, reason string) (out Run, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/runs/" + id(run) + "/cancel", body: map[string]string{"reason": reason}}, &out)
	return out, err
}

// RetryRun lets a failed or held run go on.
func (c *Client) RetryRun(ctx context.Context, run holdshort.RunID) (out Run, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/runs/" + id(run) + "/retry"}, &out)
	return out, err
}
