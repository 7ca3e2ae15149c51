package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// abilities are what a build can carry on: its flows by title, its tools by name, and its rules.
type abilities struct {
	flows map[string]bool
	tools map[string]tool.Tool
	rules policy.Policy
}

// abilities are those of the configuration that serve would read here, and those of this binary. Programs that embed the engine have flows of
// their own.
func (c *doctorCommand) abilities(ctx context.Context, s kept) (can []abilities, failed []check, parts *setup.Parts, err error) {
	if file := c.configFile(); file != "" {
		if read, err := config.Read(file); err == nil { // what is wrong with it is told elsewhere
			connecting, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			built, err := setup.Build(connecting, read, setup.Options{Dir: filepath.Dir(file), Store: s, Logger: slog.New(slog.DiscardHandler)})
			if err == nil {
				parts = built
				configured, err := abilitiesOf(parts.Flows, parts.Tools, parts.Policy)
				if err != nil {
					return nil, nil, parts, err
				}
				can = append(can, configured)
			} else {
				f := explain(err)
				failed = append(failed, check{"pending", statusFail, "what " + file + " says cannot be had: " + f.Message, f.Hint})
			}
		}
	}
	own, err := ownAbilities()
	return append(can, own), failed, parts, err
}

// ownAbilities are those of this binary alone: the demo's.
func ownAbilities() (abilities, error) {
	parts, err := (&demo.Desk{}).Parts(context.Background(), slog.New(slog.DiscardHandler))
	if err != nil {
		return abilities{}, err
	}
	return abilitiesOf(append(demo.Flows(), parts.Flows...), parts.Tools, parts.Policy)
}

func abilitiesOf(flows []flow.Flow, tools []tool.Tool, rules policy.Policy) (abilities, error) {
	a := abilities{flows: map[string]bool{}, tools: map[string]tool.Tool{}, rules: rules}
	for _, f := range flows {
		a.flows[f.Title()] = true
	}
	for _, t := range tools {
		prepared, err := t.Prepare()
		if err != nil {
			return a, err
		}
		a.tools[t.Name] = prepared
	}
	return a, nil
}

// mostPending lines of one diagnosis.
const mostPending = 50

// pendingChecks says of each open request whether this build could carry it on once it is decided.
func pendingChecks(ctx context.Context, s store.Store, tenant holdshort.TenantID, can []abilities) ([]check, error) {
	var checks []check
	open, broken := 0, 0
	for cursor := ""; ; {
		var page store.Page[holdshort.Request]
		err := s.View(ctx, tenant, func(tx store.ReadTx) (err error) {
			if page, err = tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen, Limit: 200, Cursor: cursor}); err != nil {
				return err
			}
			for _, req := range page.Items {
				open++
				why, err := breaks(ctx, tx, req, can)
				if err != nil {
					return err
				}
				if why == "" {
					continue
				}
				if broken++; broken <= mostPending {
					checks = append(checks, check{"pending", statusFail, string(req.ID) + ": " + why, "run it with the build that it was made by, or cancel it"})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, id := range page.Corrupt {
			broken++
			checks = append(checks, check{"pending", statusFail, id + ": it cannot be read", "restore it from a backup, or cancel its run"})
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if broken == 0 {
		return []check{{"pending", statusOK, plural(open, "open request") + ", this build can carry on each", ""}}, nil
	}
	if broken > mostPending {
		checks = append(checks, check{"pending", statusFail, fmt.Sprintf("and %d more", broken-mostPending), ""})
	}
	return checks, nil
}

// breaks says what stands in the way of a request, "" if nothing does.
func breaks(ctx context.Context, tx store.ReadTx, req holdshort.Request, can []abilities) (string, error) {
	a := can[0]
	rules := a.rules
	call := policy.Call{Tenant: tx.Tenant(), User: req.Requester.User, Session: req.SessionID, Run: req.RunID, Now: tx.Now()}
	if req.RunID != "" {
		run, err := tx.Run(req.RunID)
		if err != nil {
			return "", err
		}
		title := fmt.Sprintf("%s@%d", run.Flow, run.FlowVersion)
		i := slices.IndexFunc(can, func(a abilities) bool { return a.flows[title] })
		if i < 0 {
			return "this build has no flow " + title, nil
		}
		a, rules = can[i], can[i].rules
		if run.Held != nil {
			return "its run is held: " + string(run.Held.Code), nil
		}
		call.Flow, call.Agent, call.User = run.Flow, cmp.Or(flow.AgentOf(req.OriginStepID), run.Agent), run.User
	} else if len(can) == 1 {
		rules = policy.AskAlways // raised from outside, where its tools live, and there are no rules but the demo's
	}
	var wrong []string
	for _, action := range req.Actions {
		if why := a.breaksCall(ctx, rules, call, req, action); why != "" {
			wrong = append(wrong, action.Tool+" "+why)
		}
	}
	return strings.Join(wrong, "; "), nil
}

func (a abilities) breaksCall(ctx context.Context, rules policy.Policy, call policy.Call, req holdshort.Request, action holdshort.Action) string {
	call.Tool, call.Args, call.Known, call.Effect, call.Reversible = action.Tool, action.Args, true, "write", "no"
	if req.RunID != "" {
		t, known := a.tools[action.Tool]
		switch {
		case !known:
			return "is no tool of this build"
		case action.SchemaHash != "" && action.SchemaHash != t.SchemaHash():
			return "takes other arguments now"
		}
		call.Effect, call.Reversible, call.Idempotent, call.Guarded = string(t.Effect), string(t.Reversible), t.Idempotent, t.Guarded
		call.Changed = t.Changed != nil && t.Changed()
		if t.Hints != nil {
			call.Hinted, call.Trusted, call.ReadOnly, call.Destroys = true, t.Hints.Trusted, t.Hints.ReadOnly, t.Hints.Destructive
		}
	}
	verdict := policy.Judge(ctx, rules, call)
	switch {
	case verdict.Decision == policy.Deny:
		return "is denied by the rule " + verdict.Rule + " now"
	case action.NeedsApproval && !verdict.Meets(req.Audience):
		return "needs more people by the rule " + verdict.Rule + " now: an approval would ask again"
	}
	return ""
}
