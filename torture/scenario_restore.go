package torture

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// backups is a bed whose database can be put back.
type backups interface {
	Keep() error
	PutBack() error
}

// Restore: the database is put back to a moment before an approval. Nothing runs until a person has accepted that; then everything goes on
// from there, and what had been asked is asked as it was.
var Restore = Scenario{
	Name: "restore from backup", Only: "sqlite", Flows: refundFlows, Tools: refundTools(Works),
	Before: func(w *World) error {
		h, err := w.seat(Fault{}, false)
		if err != nil {
			return err
		}
		h.Start("run_1", "refund", 1)
		h.Start("run_2", "refund", 1)
		w.leave(h)
		then, err := w.gather(context.Background())
		if err == nil {
			err = w.bed.(backups).Keep()
		}
		if err == nil {
			h, err = w.seat(Fault{}, false)
		}
		if err != nil {
			return err
		}
		h.Approve("run_1", "refund", Ana)
		h.Ends("run_1")
		h.Start("run_3", "refund", 1)
		w.leave(h)
		w.goBack(then)
		return w.bed.(backups).PutBack()
	},
	Drive: func(h *Hand) {
		health, err := h.node.System().Health(h.ctx)
		h.must(err, "look at the store")
		if health.Quarantine != "" {
			h.quarantined()
			if err := h.node.System().AcceptRestore(h.ctx, Ana); holdshort.CodeOf(err) != holdshort.WrongState {
				h.must(err, "accept the restore")
			}
		}
		h.Reject("run_1", "refund", Ana) // who looked: it was done already
		h.Approve("run_2", "refund", Ana)
		h.Ends("run_1")
		h.Reconciled("run_2", "refund", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "denied")
		ended(w, f, "run_2", holdshort.RunCompleted, "refunded")
		did(w, f, "run_2", "refund", 1)
		if _, ok := f.Runs["run_3"]; ok {
			w.Violate(Progress, "run_3 is there, which the backup does not have: nothing was put back")
		}
	},
}

// goBack makes the world forget what came after a moment, as the database does.
func (w *World) goBack(then *Facts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.witness.forget()
	w.outside = newGround(w.Tenant)
	w.paused, w.before = then.Requests, map[string]int{}
	clear(w.acked)
	delete(w.started, "run_3")
	for _, e := range then.Events {
		w.before[e.Type]++
	}
	for id := range then.Runs { // whatever they had done must not be done again
		w.outside.pinned[id] = map[string]int{"think": 0, "look": 0}
	}
}

// quarantined wants that nothing can be set in motion.
func (h *Hand) quarantined() {
	page, err := h.Engine.Requests(h.ctx, h.Tenant, engine.RequestQuery{Status: holdshort.RequestOpen})
	h.must(err, "look at what is open")
	for _, r := range page.Items {
		in := engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: Ana}
		if r.RunID == "run_1" {
			in.Action = holdshort.Reject
		}
		_, err := h.Engine.Decide(h.ctx, h.Tenant, in)
		h.refusedAs(err, "decide")
	}
	_, err = h.Engine.Tick(h.ctx)
	h.refusedAs(err, "tick")
	if calls, _ := h.outside.seen(); len(calls) > 0 && h.Quarantined() {
		h.Violate(NeverUnasked, "a tool ran in a store that is quarantined: %+v", calls)
	}
}

func (h *Hand) refusedAs(err error, doing string) {
	h.must(nil, doing)
	if code := holdshort.CodeOf(err); code != holdshort.Quarantined && h.Quarantined() {
		h.Violate(NeverUnasked, "%s in a store that is quarantined: %v", doing, err)
	}
}

// Quarantined asks the store itself: another hand may have accepted the restore meanwhile.
func (h *Hand) Quarantined() bool {
	q, ok := h.node.Store.(interface{ Quarantine() string })
	return ok && q.Quarantine() != ""
}
