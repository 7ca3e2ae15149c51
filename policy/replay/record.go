package replay

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Record is a call that a policy once judged.
type Record struct {
	policy.Call
	Request  holdshort.RequestID
	Was      policy.Decision
	WasRule  string
	Audience *holdshort.Audience // of those who were asked, where it was about this call alone
	Redacted []string
	Outside  bool // it came over the API: its tool lives elsewhere
}

// Past is what a store knows of the calls of a time.
type Past struct {
	Calls  []Record // oldest first
	Erased int      // whose text is gone, with its session or by age
	Unkept int      // of flows, whose journals do not keep the arguments of what ran without being asked about
	Unread int      // that cannot be read
	More   bool     // there are older ones that were not looked at
}

// Bounds are how much of the past is looked at, the latest first. Zero: all of it.
type Bounds struct {
	Requests int
	Runs     int
}

// recall is the reading of a past.
type recall struct {
	Past
	bounds   Bounds
	asked    map[string]bool
	runs     map[holdshort.RunID]holdshort.Run
	since    time.Time
	tenant   holdshort.TenantID
	database store.Store
}

// Recall gathers every call since then: those of requests, also those that policy resolved at once, and those that agents' journals say ran, or
// were denied, without anybody being asked.
func Recall(ctx context.Context, s store.Store, tenant holdshort.TenantID, since time.Time, bounds Bounds) (*Past, error) {
	r := &recall{bounds: bounds, asked: map[string]bool{}, runs: map[holdshort.RunID]holdshort.Run{}, since: since, tenant: tenant, database: s}
	if err := r.requests(ctx); err != nil {
		return nil, err
	}
	if err := r.journals(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Calls, func(a, b Record) int { return a.Now.Compare(b.Now) })
	return &r.Past, nil
}

func (r *recall) requests(ctx context.Context) error {
	looked := 0
	for cursor := ""; ; {
		var page store.Page[holdshort.Request]
		err := r.database.View(ctx, r.tenant, func(tx store.ReadTx) (err error) {
			if page, err = tx.Requests(store.RequestQuery{Order: store.ByNewest, Limit: store.MaxPage, Cursor: cursor}); err != nil {
				return err
			}
			for _, req := range page.Items {
				if req.CreatedAt.Before(r.since) {
					page.Next = ""
					break
				}
				if looked++; r.bounds.Requests > 0 && looked > r.bounds.Requests {
					page.Next, r.More = "", true
					break
				}
				if err := r.request(tx, req); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.Unread += len(page.Corrupt)
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

func (r *recall) request(tx store.ReadTx, req holdshort.Request) error {
	switch {
	case req.Kind != holdshort.Approval:
		return nil
	case req.Version == 0:
		r.Erased++
		return nil
	case len(req.Actions) == 0 || req.PolicySource != "tool_policy": // a question of a flow or of somebody outside
		return nil
	}
	base := Record{Request: req.ID, WasRule: req.Rule, Outside: req.RunID == "", Call: policy.Call{Tenant: r.tenant, User: req.Requester.User, Session: req.SessionID, Run: req.RunID, Now: req.CreatedAt}}
	needed := 0
	for _, a := range req.Actions {
		if a.NeedsApproval {
			needed++
		}
	}
	at := policy.Ask
	if base.Outside {
		var err error
		if at, err = resolvedAtOnce(tx, req); err != nil {
			return err
		}
	} else {
		run, err := r.run(tx, req.RunID)
		if err != nil {
			return err
		}
		base.User, base.Agent, base.Flow = run.User, cmp.Or(flow.AgentOf(req.OriginStepID), run.Agent), run.Flow
	}
	for _, a := range req.Actions {
		if !base.Outside {
			key := askedKey(req.RunID, req.OriginStepID, flow.CallHash(a.Tool, a.Args))
			if r.asked[key] { // asked about again: it is one call
				continue
			}
			r.asked[key] = true
		}
		c := base
		c.Tool, c.Args, c.Was, c.Redacted = a.Tool, a.Args, at, a.Redacted
		if !a.NeedsApproval && at == policy.Ask {
			c.Was, c.WasRule = policy.Allow, "" // it was shown beside one that asked
		} else if at == policy.Ask && needed == 1 && !base.Outside {
			c.Audience = &req.Audience
		}
		r.Calls = append(r.Calls, c)
	}
	return nil
}

func askedKey(run holdshort.RunID, step, hash string) string {
	return string(run) + "\x00" + step + "\x00" + hash
}

// resolvedAtOnce gives what the policy said when the request was raised.
func resolvedAtOnce(tx store.ReadTx, req holdshort.Request) (policy.Decision, error) {
	if req.Status != holdshort.RequestResolved {
		return policy.Ask, nil
	}
	d, err := tx.Decision(req.ID)
	switch {
	case err != nil:
		return policy.Ask, err
	case !strings.HasPrefix(d.Actor.ID, holdshort.SystemActor("policy:").ID):
		return policy.Ask, nil
	case req.Outcome == holdshort.Approved:
		return policy.Allow, nil
	}
	return policy.Deny, nil
}

func (r *recall) run(tx store.ReadTx, id holdshort.RunID) (holdshort.Run, error) {
	if known, ok := r.runs[id]; ok {
		return known, nil
	}
	run, err := tx.Run(id)
	if err == nil {
		r.runs[id] = run
	}
	return run, err
}
