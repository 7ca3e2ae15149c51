package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/web"
)

type refund struct {
	Order  string `json:"order"`
	Amount int    `json:"amount"`
}

var pay = flow.New("pay", 1, func(c *flow.Context, in refund) (json.RawMessage, error) {
	return flow.Call[json.RawMessage](c, "pay", "refund", in)
})

// shop keeps refunds by idempotency key, and dies after taking one if it is told to.
type shop struct {
	*httptest.Server
	mu   sync.Mutex
	dies bool
	kept map[string]int // by key
	asks int
}

func newShop(t *testing.T) *shop {
	s := &shop{kept: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Method == http.MethodGet {
			s.asks++
			if s.kept[r.URL.Query().Get("key")] == 0 {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = io.WriteString(w, `{"id":"re_1"}`)
			return
		}
		var in refund
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Amount > 100 {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"detail":[{"loc":["body","amount"],"msg":"must be at most 100"}]}`)
			return
		}
		s.kept[r.Header.Get("Idempotency-Key")]++
		if s.dies {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `{"id":"re_1"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) counts() (kept []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.kept {
		kept = append(kept, n)
	}
	return kept
}

func kit(t *testing.T, c web.Config) *holdshorttest.Kit {
	t.Helper()
	made, err := web.New("refund", c)
	if err != nil {
		t.Fatal(err)
	}
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{pay}, Tools: []tool.Tool{made}})
	k.WhenAsked(holdshorttest.Match{Kind: holdshort.Approval}).By("ana", "reviewer").Approve()
	return k
}

// The answer of a write is lost: nobody repeats it, a person is asked.
func TestLostAnswerIsUnknown(t *testing.T) {
	s := newShop(t)
	s.dies = true
	k := kit(t, web.Config{URL: s.URL, IdempotencyHeader: "Idempotency-Key"})
	run := k.Start("pay", refund{"77", 12})
	k.Wait(run)
	k.Advance(2 * time.Minute)
	ops := k.Operations(run)
	if len(ops) != 1 || ops[0].Status != holdshort.OperationUnknown || k.Request(run).Kind != holdshort.Reconcile {
		t.Fatalf("the operations are %+v", ops)
	}
	if kept := s.counts(); len(kept) != 1 || kept[0] != 1 {
		t.Errorf("the shop has %v", kept)
	}
}

// The same with a way to ask: the shop says that it happened, and the run goes on with what it says.
func TestLostAnswerIsLookedUp(t *testing.T) {
	s := newShop(t)
	s.dies = true
	k := kit(t, web.Config{URL: s.URL, IdempotencyHeader: "Idempotency-Key", Response: "id", ExternalIDs: map[string]string{"refund": "id"},
		Reconcile: &web.Reconcile{URL: s.URL, Query: map[string]string{"key": "{@operation_id}"}}})
	run := k.Start("pay", refund{"77", 12})
	k.Wait(run)
	k.Advance(2 * time.Minute)
	if got := holdshorttest.Result[string](k, run); got != "re_1" {
		t.Errorf("the result is %q", got)
	}
	ops := k.Operations(run)
	if len(ops) != 1 || ops[0].Status != holdshort.OperationDone || ops[0].ExternalIDs["refund"][0] != "re_1" || s.asks != 1 {
		t.Errorf("the operations are %+v after %d questions", ops, s.asks)
	}
	if kept := s.counts(); len(kept) != 1 || kept[0] != 1 {
		t.Errorf("the shop has %v", kept)
	}
}

// The shop is away: nothing happened, and that is known at once.
func TestNobodyThereIsFailed(t *testing.T) {
	s := newShop(t)
	k := kit(t, web.Config{URL: s.URL})
	s.Close()
	run := k.Start("pay", refund{"77", 12})
	if f := k.Failure(run); f.Code != holdshort.ToolFailed || k.Operations(run)[0].Status != holdshort.OperationFailed {
		t.Errorf("fails with %+v", f)
	}
}

// The shop says which argument is wrong: whoever puts it right can read that.
func TestFaultIsKept(t *testing.T) {
	s := newShop(t)
	k := kit(t, web.Config{URL: s.URL})
	run := k.Start("pay", refund{"77", 120})
	k.Failure(run)
	var fault tool.Fault
	entries := k.Journal(run)
	f := entries[0].Error
	if f == nil {
		t.Fatalf("the journal has %d entries, and no failure of the call", len(entries))
	}
	if err := json.Unmarshal(f.Detail, &fault); err != nil || fault.Class != tool.Validation || fault.Field != "amount" || string(fault.Value) != "120" {
		t.Errorf("fails with %+v: %v", f, err)
	}
	if len(s.counts()) != 0 {
		t.Error("something happened")
	}
}
