package holdshorttest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

// recorded is a run of refunds, waiting or done, written to a file by a process that was told to.
func recorded(t *testing.T, decided bool) string {
	t.Helper()
	t.Setenv("HOLDSHORT_UPDATE", "1")
	defer os.Unsetenv("HOLDSHORT_UPDATE")
	file := filepath.Join(t.TempDir(), "journals", "refund.json")
	k, _ := newRefunds(t)
	run := k.As("ben").Start("refund", Refund{"77", 120})
	if decided {
		k.As("ana", "finance").Approve(k.Request(run))
	}
	k.Golden(run, file)
	return file
}

func TestGolden(t *testing.T) {
	file := recorded(t, true)
	again := func(t holdshorttest.TB, amount int) {
		k, _ := newRefunds(t)
		run := k.As("ben").Start("refund", Refund{"77", amount})
		k.As("ana", "finance").Approve(k.Request(run))
		k.Golden(run, file)
	}
	if text := failing(t, func(t holdshorttest.TB) { again(t, 120) }); text != "" {
		t.Errorf("the same run leaves another journal:\n%s", text)
	}
	wants(t, failing(t, func(t holdshorttest.TB) { again(t, 121) }), "left another journal", `"amount": 120`, `"amount": 121`, "HOLDSHORT_UPDATE=1")
	wants(t, failing(t, func(t holdshorttest.TB) {
		k, _ := newRefunds(t)
		k.Golden(k.Start("refund", nil), filepath.Join(filepath.Dir(file), "none.json"))
	}), "none.json", "HOLDSHORT_UPDATE=1 to record it")
	raw, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(raw), `"run_id": "run_0000000000000000000000000`) {
		t.Errorf("ids are not numbered: %v\n%s", err, raw)
	}
}

func TestReplay(t *testing.T) {
	variant := func(fn func(c *flow.Context, in Refund) (string, error)) flow.Flow { return flow.New("refund", 1, fn) }
	customer := func(c *flow.Context, in Refund) (string, error) {
		return flow.Step(c, "customer", func(context.Context) (string, error) { return "somebody else", nil })
	}
	tests := []struct {
		name    string
		decided bool
		flow    flow.Flow
		says    []string // none: it fits
	}{
		{"the same code, done", true, refunds, nil},
		{"the same code, waiting", false, refunds, nil},
		{"other arguments", true, variant(func(c *flow.Context, in Refund) (string, error) {
			who, _ := customer(c, in)
			in.Amount *= 2
			id, err := flow.Call[string](c, "pay", "refund", in)
			return who + " got " + id, err
		}), []string{"is held: journal_mismatch", "leave refund@1 as it was"}},
		{"another question", false, variant(func(c *flow.Context, in Refund) (string, error) {
			_, _ = customer(c, in)
			_, err := flow.Approve(c, "sure", flow.Question{Text: "Sure?"})
			return "", err
		}), []string{"it asks", "Step:sure", "and asked", "Step:pay"}},
		{"another result", true, variant(func(c *flow.Context, in Refund) (string, error) {
			_, _ = customer(c, in)
			return flow.Call[string](c, "pay", "refund", in)
		}), []string{`it was completed "customer of 77 got re_1"`, `completed with "re_1"`}},
		{"something more", true, variant(func(c *flow.Context, in Refund) (string, error) {
			who, _ := customer(c, in)
			_, _ = flow.Step(c, "new", func(context.Context) (int, error) { return 1, nil })
			id, err := flow.Call[string](c, "pay", "refund", in)
			return who + " got " + id, err
		}), []string{"does what the journal does not have", `step "new"`}},
		{"another version only", true, flow.New("refund", 2, func(*flow.Context, Refund) (string, error) { return "", nil }), []string{"cannot run refund@1", "Options"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := recorded(t, tt.decided)
			refund := holdshorttest.Counter("refund")
			text := failing(t, func(t holdshorttest.TB) {
				k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{tt.flow}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
				if run := k.Replay(file); run.Status != holdshort.RunCompleted && run.Status != holdshort.RunWaiting {
					t.Errorf("%s", run.Status)
				}
			})
			if (text == "") != (len(tt.says) == 0) {
				t.Fatalf("it said %q", text)
			}
			wants(t, text, tt.says...)
			if refund.Calls() > 0 {
				t.Error("a replay called a tool")
			}
		})
	}
}

func TestCheckFlows(t *testing.T) {
	dir := t.TempDir()
	code := "package shop\n\nimport (\n\t\"time\"\n\n\t\"github.com/holdshort/holdshort/flow\"\n)\n\nvar f = flow.New(\"f\", 1, func(c *flow.Context, in int) (time.Time, error) { return time.Now(), nil })\n"
	if err := os.WriteFile(filepath.Join(dir, "shop.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, failing(t, func(t holdshorttest.TB) { holdshorttest.CheckFlows(t, dir+"/...") }), "shop.go", "time.Now")
	wants(t, failing(t, func(t holdshorttest.TB) { holdshorttest.CheckFlows(t, filepath.Join(dir, "none")) }), "check the flows in")
	holdshorttest.CheckFlows(t, "./...")
}
