package flow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

// Journals of every release are kept in testdata/journals, named flow-state.json: what waits somewhere when the next one is installed. The
// flows here are frozen with them. When a release writes journals in another way, its recordings get new names and so new files
// (HOLDSHORT_UPDATE=1 makes those that are missing); the old files stay, and TestJournalsOfReleases goes on replaying them.
const journals = "testdata/journals"

var frozen = []flow.Flow{
	flow.New("call", 1, func(c *flow.Context, in refundArgs) (string, error) {
		customer, err := flow.Step(c, "customer", func(context.Context) (string, error) { return "customer of " + in.Order, nil })
		if err != nil {
			return "", err
		}
		id, err := flow.Call[string](c, "pay back", "refund", in)
		return customer + " got " + id, err
	}),
	flow.New("batch", 1, func(c *flow.Context, _ struct{}) ([]string, error) {
		results, err := flow.Calls(c, "calls", []flow.Request{{Tool: "refund", Args: refundArgs{"1", 20}}, {Tool: "refund", Args: refundArgs{"2", 120}},
			{Tool: "refund", Args: refundArgs{"3", 5000}}, {Tool: "refund", Args: refundArgs{"4", 500}}})
		var lines []string
		for _, r := range results {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", r.ID, r.Value, r.By, holdshort.CodeOf(r.Err)))
		}
		return lines, err
	}),
	flow.New("branches", 1, func(c *flow.Context, _ struct{}) ([]string, error) {
		return flow.All(c, "reviews", flow.Branch[string]{Key: "law", Run: approvalOf("lawyer")}, flow.Branch[string]{Key: "finance", Run: approvalOf("controller")})
	}),
	flow.New("pauses", 1, func(c *flow.Context, _ struct{}) (string, error) {
		at := flow.Now(c, "start")
		flow.Sleep(c, "a day", 24*time.Hour)
		word, err := flow.Wait[string](c, "word", time.Hour)
		if err != nil {
			return "", err
		}
		_, err = flow.Wait[string](c, "word", time.Hour)
		return fmt.Sprint(at.Format("15:04 "), word, " ", holdshort.CodeOf(err), " ", flow.Random(c, "lot", 1)), nil
	}),
	flow.New("outer", 1, func(c *flow.Context, _ struct{}) (string, error) {
		var all []string
		for range 2 {
			name, err := flow.Sub[string](c, "inner", inner, "What is your name?")
			if err != nil {
				return "", err
			}
			all = append(all, name)
		}
		flow.Say(c, "hello", "Hello, "+strings.Join(all, " and "))
		return strings.Join(all, " and "), flow.Emit(c, "greeted", all)
	}),
	flow.New("expired", 1, func(c *flow.Context, _ struct{}) (string, error) {
		_, err := flow.Confirm(c, "sure", flow.Question{Text: "Sure?", OnTimeout: holdshort.TimeoutFail})
		return "", err
	}),
	flow.New("retried", 1, func(c *flow.Context, _ struct{}) (string, error) {
		return flow.Step(c, "try", func(context.Context) (string, error) { return attempted() })
	}),
}

// attempted is what the step of retried does: it fails until it is replaced.
var attempted = func() (string, error) { return "", fmt.Errorf("no route") }

var inner = flow.New("inner", 1, func(c *flow.Context, question string) (string, error) {
	return flow.Ask(c, "name", flow.Question{Text: question})
})

func frozenKit(t *testing.T) (*holdshorttest.Kit, *holdshorttest.Counted) {
	refund := holdshorttest.Counter("refund").Returning("re_1")
	return holdshorttest.New(t, holdshorttest.Options{Flows: frozen, Tools: []tool.Tool{refund.Tool()}, Policy: bigRefunds}), refund
}

// recordings makes the runs whose journals are kept.
var recordings = map[string]func(k *holdshorttest.Kit) holdshort.RunID{
	"call-waiting": func(k *holdshorttest.Kit) holdshort.RunID { return k.As("ben").Start("call", refundArgs{"77", 120}) },
	"call-completed": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").After(time.Minute).Approve()
		return k.As("ben").Start("call", refundArgs{"77", 120})
	},
	"call-rejected": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").Reject("no")
		return k.As("ben").Start("call", refundArgs{"77", 120})
	},
	"batch-waiting": func(k *holdshorttest.Kit) holdshort.RunID { return k.As("ben").Start("batch", nil) },
	"batch-completed": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").Calls(holdshort.CallDecision{CallID: "call_2", Action: holdshort.Approve},
			holdshort.CallDecision{CallID: "call_3", Action: holdshort.Reject, Message: "no"}, holdshort.CallDecision{CallID: "call_4", Action: holdshort.Respond, Message: "paid in cash"})
		return k.As("ben").Start("batch", nil)
	},
	"branches-half": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{Role: "lawyer"}).By("lea", "lawyer").Approve()
		return k.As("ben").Start("branches", nil)
	},
	"branches-completed": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{Role: "lawyer"}).By("lea", "lawyer").After(time.Hour).Approve()
		k.WhenAsked(holdshorttest.Match{Role: "controller"}).By("cleo", "controller").Reject("too dear")
		return k.As("ben").Start("branches", nil)
	},
	"pauses-asleep": func(k *holdshorttest.Kit) holdshort.RunID { return k.As("ben").Start("pauses", nil) },
	"pauses-completed": func(k *holdshorttest.Kit) holdshort.RunID {
		run := k.As("ben").Start("pauses", nil)
		k.Advance(24 * time.Hour)
		k.Post(run, "word", "hello")
		k.Advance(2 * time.Hour)
		return run
	},
	"outer-half": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{}).By("ben").Times(1).Answer("Ben")
		return k.As("ben").Start("outer", nil)
	},
	"outer-completed": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{}).By("ben").Answer("Ben")
		return k.As("ben").Start("outer", nil)
	},
	"expired-failed": func(k *holdshorttest.Kit) holdshort.RunID {
		k.WhenAsked(holdshorttest.Match{}).Ignore()
		return k.As("ben").Start("expired", nil)
	},
	"retried-failed": func(k *holdshorttest.Kit) holdshort.RunID { return k.As("ben").Start("retried", nil) },
	"retried-completed": func(k *holdshorttest.Kit) holdshort.RunID {
		run := k.As("ben").Start("retried", nil)
		defer func(was func() (string, error)) { attempted = was }(attempted)
		attempted = func() (string, error) { return "there", nil }
		k.Retry(run)
		return run
	},
}

// TestJournalsOfThisRelease: what runs leave behind today is what is kept, so that nobody changes the journal without noticing.
func TestJournalsOfThisRelease(t *testing.T) {
	for name, start := range recordings {
		t.Run(name, func(t *testing.T) {
			k, _ := frozenKit(t)
			run := start(k)
			k.Wait(run)
			k.Golden(run, filepath.Join(journals, name+".json"))
		})
	}
}

// TestJournalsOfReleases: the present code goes on with what earlier ones recorded, does nothing twice and comes to the same end.
func TestJournalsOfReleases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(journals, "*.json"))
	if err != nil || len(files) < len(recordings) {
		t.Fatalf("%d journals, %d recordings: run with HOLDSHORT_UPDATE=1 to record what is missing (%v)", len(files), len(recordings), err)
	}
	k, refund := frozenKit(t)
	for _, file := range files {
		k.Replay(file)
	}
	if refund.Calls() != 0 {
		t.Errorf("replays called a tool %d times", refund.Calls())
	}
}

// TestJournalsSayWhatTheyAre guards the files against being recorded anew by a run that came to another end.
func TestJournalsSayWhatTheyAre(t *testing.T) {
	ends := map[string]string{"waiting": "waiting", "half": "waiting", "asleep": "waiting", "completed": "completed", "failed": "failed", "rejected": "failed"}
	for name := range recordings {
		raw, err := os.ReadFile(filepath.Join(journals, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		_, state, _ := strings.Cut(name, "-")
		if !slices.Contains(strings.Split(string(raw), "\n"), fmt.Sprintf("  \"status\": %q,", ends[state])) {
			t.Errorf("%s is no journal of a run that is %s", name, ends[state])
		}
	}
}
