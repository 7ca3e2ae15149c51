package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// park writes what a run leaves that waits for an approval: the run, a finished step and the ask in its journal, the request with one
// action, its timer and the events.
func park(tx store.Tx, number int, expires time.Time) (holdshort.RequestID, error) {
	now := tx.Now()
	run := newRun(now)
	run.Status = holdshort.RunWaiting
	args, err := holdshort.Canonical(fmt.Appendf(nil, `{"order":"%d","amount":120,"currency":"EUR","reason":"arrived broken"}`, 100_000+number))
	if err != nil {
		return "", err
	}
	req := holdshort.Request{ID: holdshort.NewRequestID(now), Version: holdshort.RequestVersion, Code: "K7", Kind: holdshort.Approval, Reason: "tool_requires_review",
		Source: "agent", PolicySource: "tool_policy", PolicyVersion: "3", Rule: "big refunds", Status: holdshort.RequestOpen, RunID: run.ID, TraceID: run.TraceID,
		OriginStepID: "call_1", FlowVersion: 1, ReturnTo: holdshort.ReturnTo{Node: "tool_call", Mode: "execute"},
		Question: fmt.Sprintf("Refund 120 EUR to order %d?", 100_000+number), ExpectedInput: holdshort.YesNo,
		Options: []holdshort.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}},
		Actions: []holdshort.Action{{CallID: "call_1", Tool: "orders.refund", Args: args, ArgsHash: holdshort.ArgsHash(args), NeedsApproval: true, Editable: []string{"amount"}}},
		Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Edit, holdshort.Reject, holdshort.Respond}, Salt: holdshort.NewSalt(),
		Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 1}, Requester: holdshort.Requester{User: "ana"}, Priority: holdshort.PriorityNormal, Language: "en",
		Context: json.RawMessage(`{"customer":"C-1881","order_total":340}`), CreatedAt: now, AskedAt: now, ExpiresAt: expires, OnTimeout: holdshort.TimeoutFail, OnReject: holdshort.RejectContinue}
	if req.Fingerprint, err = req.ComputeFingerprint(tx.Tenant()); err != nil {
		return "", err
	}
	event := func(kind string) error {
		return tx.AddEvent(holdshort.Event{Type: kind, Run: run.ID, Request: req.ID, Trace: run.TraceID, Flow: "refund", Actor: "system:worker"})
	}
	for _, write := range []func() error{
		func() error { return tx.PutRun(run) },
		func() error {
			return tx.AddJournal(holdshort.JournalEntry{RunID: run.ID, Key: "look up order", Kind: "step", Outcome: json.RawMessage(`{"order":"77","total":340,"paid":true}`), Started: now, Ended: now})
		},
		func() error {
			return tx.AddJournal(holdshort.JournalEntry{RunID: run.ID, Key: "call_1", Kind: "ask", Hash: req.Actions[0].ArgsHash, Outcome: json.RawMessage(`"` + string(req.ID) + `"`), Started: now, Ended: now})
		},
		func() error { return tx.PutRequest(req) },
		func() error {
			return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerExpiry, Subject: string(req.ID), DueAt: expires})
		},
		func() error { return event("run.created") },
		func() error { return event("run.started") },
		func() error { return event("hitl.request.asked") },
		func() error { return event("hitl.interrupt.paused") },
	} {
		if err := write(); err != nil {
			return "", err
		}
	}
	return req.ID, nil
}

// load parks n runs, many to a transaction: it is not what is measured.
func load(ctx context.Context, s store.Store, n int, expires func(now time.Time, i int) time.Time, keep bool) ([]holdshort.RequestID, error) {
	const batch = 500
	var ids []holdshort.RequestID
	for done := 0; done < n; done += batch {
		var some []holdshort.RequestID
		err := s.Update(ctx, tenant, func(tx store.Tx) error {
			some = some[:0]
			for i := done; i < min(done+batch, n); i++ {
				id, err := park(tx, i, expires(tx.Now(), i))
				if err != nil {
					return err
				}
				some = append(some, id)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if keep {
			ids = append(ids, some...)
		}
	}
	return ids, nil
}

func measureParked(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Parked == 0 {
		return nil
	}
	p := Parked{Runs: o.Parked}
	fresh := &target{folder: t.folder, url: t.url, path: t.folder + "/parked.db"}
	s, err := fresh.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	if p.RSSEmpty, err = touch(ctx, s, nil); err != nil {
		return err
	}
	before, err := s.System().Health(ctx)
	if err != nil {
		return err
	}
	o.Progress(fmt.Sprintf("parking %d runs", o.Parked))
	start := time.Now()
	if _, err := load(ctx, s, o.Parked, func(now time.Time, _ int) time.Time { return now.Add(24 * time.Hour) }, false); err != nil {
		return err
	}
	p.LoadedRate = float64(o.Parked) / time.Since(start).Seconds()
	if err := s.Close(); err != nil { // closing moves the write-ahead log into the file
		return err
	}
	start = time.Now()
	if s, err = fresh.open(ctx, 256, 1); err != nil {
		return err
	}
	defer s.Close()
	p.OpenTook = time.Since(start)
	after, err := s.System().Health(ctx)
	if err != nil {
		return err
	}
	p.BytesEach = float64(after.Bytes-before.Bytes) / float64(o.Parked)
	o.Progress("reading the inbox")
	var times []time.Duration
	if p.RSSParked, err = touch(ctx, s, &times); err != nil {
		return err
	}
	p.InboxP50, p.InboxP99 = quantile(times, 0.5), quantile(times, 0.99)
	report.Parked = &p
	return nil
}

// touch reads the first page of the inbox many times and says how much memory the process has afterwards.
func touch(ctx context.Context, s store.Store, times *[]time.Duration) (int64, error) {
	for range 500 {
		start := time.Now()
		err := s.View(ctx, tenant, func(tx store.ReadTx) error {
			_, err := tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen, Limit: 50})
			return err
		})
		if err != nil {
			return 0, err
		}
		if times != nil {
			*times = append(*times, time.Since(start))
		}
	}
	debug.FreeOSMemory()
	return residentMemory(), nil
}

// residentMemory of this process in bytes, 0 where the system does not say.
func residentMemory() int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
