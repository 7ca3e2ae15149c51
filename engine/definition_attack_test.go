package engine_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// A call that was started and whose answer was lost is repeated if its tool says that this does no harm, but only while it is that tool.
func TestARepeatOfWhatIsAnotherToolNow(t *testing.T) {
	for _, changes := range []bool{false, true} {
		var definition atomic.Value
		definition.Store("first")
		pay := holdshorttest.Counter("pay").Returning("paid").Declared(func(t *tool.Tool) {
			t.Idempotent, t.Definition = true, func() string { return definition.Load().(string) }
		})
		f := flow.New("pay", 1, func(c *flow.Context, _ json.RawMessage) (string, error) {
			return flow.Call[string](c, "pay", "pay", map[string]int{"amount": 1})
		})
		k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{f}, Tools: []tool.Tool{pay.Tool()}, Policy: policy.AskAlways})
		run := k.Start("pay", nil)
		k.CrashAfter("pay")
		k.As("ana", "reviewer").Approve(k.Request(run))
		k.Settle()
		if changes {
			definition.Store("second")
		}
		k.Advance(10 * time.Minute)
		now := k.Run(run)
		switch {
		case !changes && (pay.Calls() != 2 || now.Status != holdshort.RunCompleted):
			t.Errorf("unchanged: %d calls, the run is %s", pay.Calls(), now.Status)
		case changes && (pay.Calls() != 1 || now.Held == nil):
			t.Errorf("changed: %d calls, the run is %s, held %+v", pay.Calls(), now.Status, now.Held)
		}
	}
}
