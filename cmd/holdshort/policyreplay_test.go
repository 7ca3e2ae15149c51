package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/tool"
)

// deskTools is the part of a configuration that declares what the past was made with.
const deskTools = `
tools:
  lookup: {http: {url: "http://127.0.0.1:9/x"}, effect: read}
  refund: {http: {url: "http://127.0.0.1:9/x"}, cost_arg: amount}
  erase: {http: {url: "http://127.0.0.1:9/x"}}
policies:
`

// before are the rules that the past was judged by.
const before = deskTools + `
  - {name: reads, when: effect == "read", allow: true}
  - {name: never, when: tool == "erase", deny: true}
  - {name: small, when: tool == "refund" && args.amount <= 50, allow: true}
  - {name: big, when: tool == "refund", ask: {roles: [finance], redacted: [iban]}}
`

func rulesIn(t *testing.T, text string) (config.Config, *rulebook.Book) {
	t.Helper()
	c, err := config.Parse("holdshort.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	book, err := c.Book(rulebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, book
}

// obedient is a model that asks for the calls which it is told as JSON, all at once.
var obedient = model.Func(func(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	last := req.Messages[len(req.Messages)-1]
	var calls []model.Call
	if last.Role != model.User || json.Unmarshal([]byte(last.Text), &calls) != nil {
		return model.Response{Text: "done", Stop: model.StopEnd}, nil
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d", i+1)
	}
	return model.Response{Calls: calls, Stop: model.StopCalls}, nil
})

// past makes a store with everything that can have happened to a call, and gives its file and when it was made.
func past(t *testing.T) (file string, at time.Time) {
	t.Helper()
	file, at = filepath.Join(t.TempDir(), "past.db"), holdshorttest.Monday
	_, book := rulesIn(t, before)
	object := json.RawMessage(`{"type":"object"}`)
	tools := []tool.Tool{
		holdshorttest.Counter("lookup").Declared(func(d *tool.Tool) { d.Effect, d.Schema = tool.Read, object }).Tool(),
		holdshorttest.Counter("refund").Declared(func(d *tool.Tool) { d.Schema = object }).Tool(),
		holdshorttest.Counter("erase").Declared(func(d *tool.Tool) { d.Schema = object }).Tool(),
	}
	desk, err := agent.New(agent.Config{Name: "desk", Model: obedient, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	direct := flow.New("direct", 1, func(c *flow.Context, amount float64) (any, error) {
		return flow.Call[any](c, "refund", "refund", map[string]any{"amount": amount})
	})
	k := holdshorttest.New(t, holdshorttest.Options{Path: file, Tenant: "default", Flows: []flow.Flow{direct}, Agents: []*agent.Agent{desk}, Policy: book})
	k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").After(time.Minute).Approve()
	tell := func(calls string) string { return `{"text":` + string(mustJSON(t, calls)) + `}` }
	begin := func(p *holdshorttest.Person, calls string) {
		t.Helper()
		k.Wait(p.Start(agent.FlowName("desk"), json.RawMessage(tell(calls))))
	}
	ben := k.As("ben")
	begin(ben, `[{"tool":"lookup","args":{"order":"77"}},{"tool":"refund","args":{"amount":20}}]`)                                 // both run
	begin(ben, `[{"tool":"refund","args":{"amount":30}},{"tool":"refund","args":{"amount":700,"iban":"DE89370400440532013000"}}]`) // one asks, both are shown
	begin(ben, `[{"tool":"erase","args":{"id":7}}]`)                                                                               // denied
	k.Wait(ben.Start("direct", 10))                                                                                                // runs, and nobody keeps with what
	k.Wait(ben.Start("direct", 60))                                                                                                // asks
	gone := k.Session("eve")
	begin(k.As("eve").In(gone), `[{"tool":"refund","args":{"amount":5}},{"tool":"refund","args":{"amount":800}}]`)
	begin(k.As("eve").In(gone), `[{"tool":"refund","args":{"amount":6}}]`)
	if done, err := k.Engine().DeleteSession(t.Context(), "default", gone, holdshort.SystemActor("test")); err != nil || !done.Erased {
		t.Fatalf("%+v, %v", done, err)
	}
	key := holdshort.Actor{ID: "key_1", Kind: holdshort.Service}
	for _, amount := range []int{40, 400} { // over the API: resolved at once, and asked
		if _, err := k.Engine().Ask(t.Context(), "default", engine.AskInput{Kind: holdshort.Approval, Actor: key,
			Actions: []engine.AskAction{{Tool: "refund", Args: json.RawMessage(fmt.Sprintf(`{"amount":%d}`, amount))}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"erase", "somewhere.else"} { // denied at once; a tool that nobody here knows
		if _, err := k.Engine().Ask(t.Context(), "default", engine.AskInput{Kind: holdshort.Approval, Actor: key, Actions: []engine.AskAction{{Tool: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	k.Close()
	return file, at
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// again replays the past by other rules.
func again(t *testing.T, file string, since time.Time, rules string) replay.Result {
	t.Helper()
	c, book := rulesIn(t, rules)
	s, err := storeFlags{}.open(t.Context(), location{Driver: sqliteDriver, Path: file}, access{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := replay.Recall(t.Context(), s, "default", since, replay.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := replay.Replay(t.Context(), toolsOf(c), book, book.Version(), found)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestReplayOfPolicies(t *testing.T) {
	file, at := past(t)
	count := func(r replay.Result) string {
		return fmt.Sprintf("%d: more %d, less %d, denied %d+%d, undenied %d, others %d, same %d, untold %d; erased %d, unkept %d, unread %d", r.Judged, r.Sums[replay.AskedMore], r.Sums[replay.AskedLess], r.Sums[replay.RanDenied], r.Sums[replay.AskDenied],
			r.Sums[replay.Undenied], r.Sums[replay.AskOthers], r.Sums[replay.Same], r.Sums[replay.CannotTell], r.Erased, r.Unkept, r.Unread)
	}
	for _, tt := range []struct {
		name, rules string
		want        string
	}{
		{"the same rules", before, "10: more 0, less 0, denied 0+0, undenied 0, others 0, same 10, untold 0; erased 3, unkept 1, unread 0"},
		{"no rules", strings.Replace(deskTools, "policies:", "", 1), "10: more 4, less 0, denied 0+0, undenied 2, others 2, same 2, untold 0; erased 3, unkept 1, unread 0"},
		{"everything runs", deskTools + `  - {name: all, when: "true", allow: true}`, "10: more 0, less 4, denied 0+0, undenied 2, others 0, same 4, untold 0; erased 3, unkept 1, unread 0"},
		{"nothing does", deskTools + `  - {name: none, when: "true", deny: true}`, "10: more 0, less 0, denied 4+4, undenied 0, others 0, same 2, untold 0; erased 3, unkept 1, unread 0"},
		{"others are asked", strings.Replace(before, "roles: [finance]", "roles: [finance], quorum: 2", 1), "10: more 0, less 0, denied 0+0, undenied 0, others 2, same 8, untold 0; erased 3, unkept 1, unread 0"},
		{"less is small", strings.Replace(before, "<= 50", "<= 25", 1), "10: more 2, less 0, denied 0+0, undenied 0, others 0, same 8, untold 0; erased 3, unkept 1, unread 0"},
		{"a limit", strings.Replace(before, `<= 50, allow: true}`, `<= 50, allow: true, limits: [{spend: 60, per: day}]}`, 1), "10: more 1, less 0, denied 0+0, undenied 0, others 0, same 9, untold 0; erased 3, unkept 1, unread 0"},
		{"a limit that denies", strings.Replace(before, `<= 50, allow: true}`, `<= 50, allow: true, limits: [{calls: 1, per: day, past: deny}]}`, 1), "10: more 0, less 0, denied 2+0, undenied 0, others 0, same 8, untold 0; erased 3, unkept 1, unread 0"},
		{"a rule that divides by zero", strings.Replace(before, `- {name: reads`, "- {name: broken, when: 1 / (size(args) - 1) > 0, deny: true}\n  - {name: reads", 1), "10: more 0, less 0, denied 4+3, undenied 0, others 0, same 3, untold 0; erased 3, unkept 1, unread 0"},
		{"tools that nobody declares", before[strings.Index(before, "policies:"):], "10: more 0, less 0, denied 0+0, undenied 0, others 0, same 6, untold 4; erased 3, unkept 1, unread 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := again(t, file, at.Add(-time.Hour), tt.rules)
			if got := count(r); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
				for _, c := range r.Calls {
					t.Logf("%+v", c)
				}
			}
			for _, c := range r.Calls {
				if strings.Contains(c.Args, "DE893") {
					t.Errorf("shows what is redacted: %+v", c)
				}
			}
		})
	}
	if r := again(t, file, at.Add(48*time.Hour), before); r.Judged+r.Erased+r.Unkept != 0 {
		t.Errorf("before the time that was asked for: %s", count(r))
	}
}

// The command itself, over the same store.
func TestReplayCommand(t *testing.T) {
	file, at := past(t)
	dir := t.TempDir()
	rules := filepath.Join(dir, "changed.yaml")
	text := strings.Replace(before, "<= 50", "<= 25", 1) + "models: {main: {provider: openai, model: small, base_url: \"http://127.0.0.1:1\", api_key: \"${NOT_SET_ANYWHERE}\"}}\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	since := fmt.Sprintf("%.0fh", time.Since(at).Hours()+2)
	var stdout, stderr bytes.Buffer
	do := func(args ...string) int {
		stdout.Reset()
		stderr.Reset()
		return run(t.Context(), append([]string{"policy", "replay", "--store", "sqlite:" + file, "--config", rules}, args...), &console{stdout: &stdout, stderr: &stderr}, &grammar{})
	}
	if code := do("--since", since); code != exitOK || !strings.Contains(stdout.String(), "10 calls since") || !strings.Contains(stdout.String(), "2  would ask where nobody was asked") ||
		!strings.Contains(stdout.String(), "8  unchanged") || !strings.Contains(stdout.String(), "3  more erased: not judged") || strings.Count(stdout.String(), "refund") != 2 || !strings.Contains(stderr.String(), "NOT_SET_ANYWHERE") {
		t.Errorf("%d\n%s%s", code, stdout.String(), stderr.String())
	}
	if code := do("--since", since, "--all", "--limit", "3"); code != exitOK || !strings.Contains(stdout.String(), "and 7 more") {
		t.Errorf("%d\n%s%s", code, stdout.String(), stderr.String())
	}
	var result replay.Result
	if code := do("--since", since, "--json"); code != exitOK || json.Unmarshal(stdout.Bytes(), &result) != nil || result.Sums[replay.AskedMore] != 2 || len(result.Calls) != 2 || stderr.Len() > 0 {
		t.Errorf("%d\n%s%s", code, stdout.String(), stderr.String())
	}
	if code := do("--since", "1m"); code != exitOK || !strings.Contains(stdout.String(), "0 calls since") {
		t.Errorf("%d\n%s%s", code, stdout.String(), stderr.String())
	}
	for _, since := range []string{"soon", "-1d", "xd", "-5h", "1e9d"} {
		if code := do("--since=" + since); code != exitUsage {
			t.Errorf("%s: %d, %s", since, code, stderr.String())
		}
	}
	if code := run(t.Context(), []string{"policy", "replay", "--store", "sqlite:" + filepath.Join(dir, "none.db"), "--config", rules}, &console{stdout: &stdout, stderr: &stderr}, &grammar{}); code == exitOK {
		t.Errorf("a store that is not there: %s", stdout.String())
	}
}
