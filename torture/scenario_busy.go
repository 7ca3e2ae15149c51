package torture

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
)

// drag is longer than an engine keeps recorded steps back: what follows is stored by itself.
const drag = 25 * time.Millisecond

// SlowPosts: a run that takes its time between the posts that it takes, so that each of its steps is a commit of its own.
var SlowPosts = Scenario{
	Name: "posts, slowly",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("listener", 1, func(c *flow.Context, run string) (string, error) {
			text := ""
			for i := range 2 {
				<-time.After(drag) //flowcheck:allow a flow that takes its time is what the scenario is about
				n, err := flow.Wait[int](c, "news", 0)
				if err != nil {
					return "", err
				}
				text += fmt.Sprint(n)
				<-time.After(drag) //flowcheck:allow a flow that takes its time is what the scenario is about
				if err := flow.Emit(c, fmt.Sprint("took ", i), n); err != nil {
					return "", err
				}
			}
			return text, nil
		})}
	},
	Drive: func(h *Hand) {
		h.Start("run_1", "listener", 1)
		for i := 1; i <= 2; i++ {
			_, err := h.Engine.Post(h.ctx, h.Tenant, engine.PostInput{Run: "run_1", ID: fmt.Sprint("post ", i), Name: "news", Body: json.RawMessage(fmt.Sprint(i)), Actor: User})
			h.must(err, "post")
		}
		h.settle()
		h.Ends("run_1")
	},
	Check: func(w *World, f *Facts) {
		if r := f.Runs["run_1"]; string(r.Result) != `"12"` {
			w.Violate(InboundOnce, "the run took %s of two posts", r.Result)
		}
		if n := f.Count("flow.emitted"); n != 2 {
			w.Violate(NotRepeated, "%d events of two that the flow left", n)
		}
	},
}

// Together: four branches wait for people, and all four are decided while the run is on its way already.
var Together = Scenario{
	Name: "decided together", Tools: refundTools(Works),
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("four", 1, func(c *flow.Context, run string) (string, error) {
			parts, err := flow.Each(c, "all", []string{"a", "b", "c", "d"}, func(s string) string { return s }, func(c *flow.Context, s string) (string, error) {
				if s < "c" {
					a, err := flow.Approve(c, "ok", flow.Question{Text: s + "?"})
					return fmt.Sprint(a.Approved()), err
				}
				_, err := flow.Call[map[string]bool](c, "ok", "refund", map[string]string{"for": s})
				return "called", err
			})
			return fmt.Sprint(parts), err
		})}
	},
	Drive: func(h *Hand) {
		h.Start("run_1", "four", 1)
		var asked []holdshort.Request
		for _, branch := range []string{"a", "b", "c", "d"} {
			if req, ok := h.Asked("run_1", "all/"+branch+"/ok"); ok {
				asked = append(asked, req)
			}
		}
		h.atOnce(len(asked), func(i int) func() {
			in := engine.DecideInput{Request: asked[i].ID, Action: holdshort.Approve, Actor: Ana}
			out, err := h.Engine.Decide(h.ctx, h.Tenant, in)
			return func() { h.told(in, out, err) }
		})
		h.Until("the run ends", func() bool {
			return h.honest("run_1", "all/c/ok") && h.honest("run_1", "all/d/ok") && h.Run("run_1").Status.Ended()
		})
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "[true true called called]")
		did(w, f, "run_1", "all/c/ok", 1)
		did(w, f, "run_1", "all/d/ok", 1)
	},
}
