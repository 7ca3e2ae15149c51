package setup_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/config"
)

// keysOf lists the keys of a JSON object.
func keysOf(t *testing.T, raw []byte) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Where a paused run stands can be read by the names that others gave it, is the same after the restart that a resume may need, and survives
// being written and read.
func TestExecutionState(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	session := h.session("refunds")
	h.says(session, "hello")
	taken := h.says(session, "look up order 9")
	raw, err := h.as("ben").ExecutionState(t.Context(), taken.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"task_id", "context_id", "query", "reasoning_state", "pending_tool_call", "history", "current_turn", "iteration", "total_tokens", "assistant_response"} {
		if !slices.Contains(keysOf(t, raw), want) {
			t.Errorf("there is no %s in %s", want, raw)
		}
	}
	var state agent.State
	if err := json.Unmarshal(raw, &state); err != nil {
		t.Fatal(err)
	}
	reasoning, err := json.Marshal(state.Reasoning)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"iteration", "total_tokens", "history", "current_turn", "assistant_response", "first_iteration_tool_calls", "final_response_added", "query", "agent_name", "sub_agents", "show_thinking"} {
		if !slices.Contains(keysOf(t, reasoning), want) {
			t.Errorf("there is no reasoning_state.%s in %s", want, raw)
		}
	}
	if state.TaskID != taken.Run.ID || state.ContextID != session || state.Query != "look up order 9" || state.Iteration != 2 || state.Reasoning.AgentName != "refunds" || state.TotalTokens == 0 ||
		len(state.History) == 0 || state.PendingToolCall == nil || state.PendingToolCall.Tool != "orders.refund" || state.PendingToolCall.RequestID != taken.Request.ID || string(state.PendingToolCall.Args) != `{"amount":1,"order":"a1"}` ||
		len(state.Reasoning.FirstIterationToolCalls) != 1 || state.Reasoning.FirstIterationToolCalls[0].Tool != "orders.lookup" || state.Reasoning.FinalResponseAdded {
		t.Errorf("%s", raw)
	}
	again, err := json.Marshal(state)
	if err != nil || !jsonEqual(t, raw, again) {
		t.Errorf("written and read it is another: %v\n%s\n%s", err, raw, again)
	}
	if status, _, body := h.call("ben", "GET", "/v1/runs/"+string(taken.Run.ID)+"?view=all", ""); status != 400 {
		t.Errorf("%d %s", status, body)
	}
	h.as("eve")
	if status, _, _ := h.call("eve", "GET", "/v1/runs/"+string(taken.Run.ID)+"?view=execution_state", ""); status != 404 {
		t.Errorf("a stranger reads it: %d", status)
	}
	for range 3 {
		h.approve(taken.Run.ID)
		if _, err := h.as("ben").AwaitRun(t.Context(), taken.Run.ID); err != nil {
			t.Fatal(err)
		}
	}
	raw, err = h.as("ben").ExecutionState(t.Context(), taken.Run.ID)
	if json.Unmarshal(raw, &state); err != nil || !state.Reasoning.FinalResponseAdded || state.PendingToolCall != nil || state.AssistantResponse != "Done: paid back a3" {
		t.Errorf("%s, %v", raw, err)
	}
}

func jsonEqual(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, err := holdshort.Canonical(a)
	y, err2 := holdshort.Canonical(b)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return string(x) == string(y)
}

// A session shows the runs that wait in it side by side; what is decided is gone, and the key with the last of them.
func TestPendingExecutions(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	session := h.session("refunds")
	first := h.says(session, "refund order 1 for 10")
	second, err := h.as("ben").Start(t.Context(), client.Start{Agent: "refunds", SessionID: session, Input: json.RawMessage(`"refund order 2 for 20"`), Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	read := func(who string) client.Session {
		t.Helper()
		s, err := h.as(who).Session(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	got := read("ben").Pending
	if len(got) != 2 || got[first.Run.ID] == nil || got[second.ID] == nil {
		t.Fatalf("%+v", got)
	}
	for run, args := range map[holdshort.RunID]string{first.Run.ID: `{"amount":10,"order":"1"}`, second.ID: `{"amount":20,"order":"2"}`} {
		x := got[run]
		if len(x.Requests) != 1 || x.PendingToolCall == nil || string(x.PendingToolCall.Args) != args || x.Since.IsZero() || x.ExpiresAt.IsZero() || x.Agent != "refunds" {
			t.Errorf("%+v", x)
		}
	}
	h.approve(first.Run.ID)
	h.end(first.Run.ID)
	if left := read("ben").Pending; len(left) != 1 || left[second.ID] == nil {
		t.Errorf("%+v", left)
	}
	if _, err := h.as("admin").CancelRun(t.Context(), second.ID, "no longer"); err != nil {
		t.Fatal(err)
	}
	if status, _, body := h.call("ben", "GET", "/v1/sessions/"+string(session), ""); status != 200 || strings.Contains(body, "pending_executions") {
		t.Errorf("%d %s", status, body)
	}
	h.as("eve")
	if status, _, _ := h.call("eve", "GET", "/v1/sessions/"+string(session), ""); status != 404 {
		t.Errorf("a stranger reads it: %d", status)
	}
}

// What a rule withholds is withheld everywhere that a pause is shown.
func TestRedactedEverywhere(t *testing.T) {
	text := strings.Replace(async(desk), "ask: {roles: [reviewer], editable: [amount]}", "ask: {roles: [reviewer], redacted: [order]}", 1)
	h := newHouse(t, houseOptions{text: text})
	session := h.session("refunds")
	taken := h.says(session, "refund order SECRET for 10")
	h.as("admin")
	for _, path := range []string{"/v1/runs/" + string(taken.Run.ID), "/v1/sessions/" + string(session), "/v1/runs/" + string(taken.Run.ID) + "?view=execution_state"} {
		status, _, body := h.call("admin", "GET", path, "")
		rest := strings.ReplaceAll(body, "refund order SECRET for 10", "") // what the user said is not the call
		if status != 200 || strings.Contains(rest, "SECRET") || !strings.Contains(rest, "redacted") {
			t.Errorf("%s: %d %s", path, status, rest)
		}
	}
	h.as("olga", "operator")
	status, _, body := h.call("olga", "GET", "/v1/runs/"+string(taken.Run.ID)+"?view=execution_state", "")
	if status != 200 || strings.Contains(strings.ReplaceAll(body, "refund order SECRET for 10", ""), "SECRET") {
		t.Errorf("%d %s", status, body)
	}
}

// The history has one item for each approval and rejection: of the user's role, with what was done to which request.
func TestAuditItems(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	h.as("ana", reviewer...)
	for action, outcome := range map[string]string{"approve": "Completed", "reject": "Canceled"} {
		session := h.session("refunds")
		taken := h.says(session, "refund order 1 for 10")
		status, _, body := h.call("ana", "POST", "/v1/resume/"+string(taken.Request.ID), `{"action":"`+action+`"}`, "Idempotency-Key", "once-"+action)
		got := into[struct {
			Status string
			TaskID holdshort.RunID `json:"task_id"`
			Run    *client.Run
		}](t, body)
		if status != 200 || got.Status != outcome || got.TaskID != taken.Run.ID {
			t.Errorf("%s: %d %s", action, status, body)
		}
		if status, header, body := h.call("ana", "POST", "/v1/resume/"+string(taken.Request.ID), `{"action":"`+action+`"}`, "Idempotency-Key", "once-"+action); status != 200 || header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s again: %d %s", action, status, body)
		}
		messages, err := h.as("ben").Messages(t.Context(), session, client.FindMessages{Window: "all"})
		if err != nil {
			t.Fatal(err)
		}
		want := `{"action":"` + action + `","request_id":"` + string(taken.Request.ID) + `"}`
		found := 0
		for _, m := range messages.Items {
			if len(m.Parts) > 0 && m.Parts[0].Text == want {
				if found++; m.Role != holdshort.RoleUser || m.RunID != taken.Run.ID || m.RequestID != taken.Request.ID || m.Author != "ana" {
					t.Errorf("%+v", m)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d items in %+v", action, found, messages.Items)
		}
	}
	if told := h.shop.told(); len(told) != 1 {
		t.Errorf("%q", told)
	}
}

// frame is one server-sent event.
type frame struct{ id, event, data string }

// frames reads a stream until fn says that it is enough, or it ends.
func (h *house) frames(ctx context.Context, who, method, path, body string, fn func(frame) bool) (int, []frame) {
	h.t.Helper()
	h.as(who)
	r, err := http.NewRequestWithContext(ctx, method, h.http.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.keys[who])
	r.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	var all []frame
	var f frame
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		case "":
			if f.event == "" {
				f = frame{} // a keep-alive
				continue
			}
			all = append(all, f)
			if fn != nil && fn(f) {
				return answer.StatusCode, all
			}
			f = frame{}
		}
	}
	return answer.StatusCode, all
}

// What an agent says is heard while it says it, by those who may read the session and nobody else; a piece has no id and moves no position.
func TestDeltas(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	session := h.session("refunds")
	h.as("eve")
	if status, _ := h.frames(t.Context(), "eve", "GET", "/v1/sessions/"+string(session)+"/events", "", nil); status != 404 {
		t.Errorf("a stranger listens: %d", status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	up := make(chan struct{})
	heard := make(chan []frame, 1)
	go func() {
		_, all := h.frames(ctx, "ben", "GET", "/v1/sessions/"+string(session)+"/events", "", func(f frame) bool {
			if f.event == "connected" {
				close(up)
			}
			return f.event == "run.completed"
		})
		heard <- all
	}()
	<-up
	taken := h.says(session, "hello")
	if len(taken.Replies) != 1 {
		t.Fatalf("%+v", taken)
	}
	text, seq := "", 0
	for _, f := range <-heard {
		if f.event != "message.delta" {
			continue
		}
		var d client.Delta
		if err := json.Unmarshal([]byte(f.data), &d); err != nil {
			t.Fatal(err)
		}
		if seq++; f.id != "" || d.Seq != seq || d.Attempt != 1 || d.Run != taken.Run.ID || d.Session != session || d.Message != taken.Replies[0].ID {
			t.Errorf("%+v %+v; the message is %s", f, d, taken.Replies[0].ID)
		}
		text += d.Text
	}
	if text != "I can look up, refund and cancel orders." {
		t.Errorf("%q was heard", text)
	}
	// A filter for other events hears none.
	sel, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	up = make(chan struct{})
	go func() {
		_, all := h.frames(sel, "ben", "GET", "/v1/events?session="+string(session)+"&type=run.*", "", func(f frame) bool {
			if f.event == "connected" {
				close(up)
			}
			return f.event == "run.completed"
		})
		heard <- all
	}()
	<-up
	h.says(session, "hello again")
	for _, f := range <-heard {
		if strings.HasPrefix(f.event, "message.") {
			t.Errorf("%+v", f)
		}
	}
}

// A resumption can be streamed: what was decided, what the run says, what it came to. What goes wrong before is a status, after it an event.
func TestStreamedResume(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	h.as("ana", reviewer...)
	taken := h.says(h.session("refunds"), "refund order 1 for 10")
	path := "/v1/resume/" + string(taken.Request.ID)
	if status, frames := h.frames(t.Context(), "ana", "POST", path, `{"action":"perhaps"}`, nil); status != 400 || len(frames) != 0 {
		t.Errorf("%d %v", status, frames)
	}
	status, frames := h.frames(t.Context(), "ana", "POST", path, `{"action":"approve"}`, nil)
	if status != 200 || len(frames) < 2 || frames[0].event != "decided" || frames[len(frames)-1].event != "result" {
		t.Fatalf("%d %v", status, frames)
	}
	last := into[struct{ Status string }](t, frames[len(frames)-1].data)
	if last.Status != "Completed" {
		t.Errorf("%+v", frames)
	}
	if status, frames := h.frames(t.Context(), "ana", "POST", path, `{"action":"approve"}`, nil); status != 409 || len(frames) != 0 {
		t.Errorf("again: %d %v", status, frames)
	}
	// The owner of a session who may approve hears the run speak.
	owned := newHouse(t, houseOptions{text: strings.Replace(async(desk), "ask: {roles: [reviewer], editable: [amount]}", "ask: {owner: true}", 1)})
	own := owned.says(owned.session("refunds"), "refund order 1 for 10")
	_, frames = owned.frames(t.Context(), "ben", "POST", "/v1/resume/"+string(own.Request.ID), `{"action":"approve"}`, nil)
	said := ""
	for _, f := range frames {
		if f.event == "message.delta" {
			said += into[client.Delta](t, f.data).Text
		}
	}
	if said != "Done: paid back 1" {
		t.Errorf("%q in %v", said, frames)
	}
}

// An agent that this server does not have is named as such, before anything is made.
func TestUnknownAgent(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	for path, body := range map[string]string{"/v1/sessions": `{"agent":"ghost"}`, "/v1/runs": `{"agent":"ghost"}`} {
		if status, _, got := h.call("ben", "POST", path, body); status != 400 || !strings.Contains(got, "agent_unknown") {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
	if _, err := (config.Config{}).ModeOf("ghost"); err == nil {
		t.Error("there is no such agent")
	}
}

// Deleting a session takes what waits in it along: nothing of it can be resumed.
func TestDeletedSession(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	session := h.session("refunds")
	taken := h.says(session, "refund order 1 for 10")
	if err := h.as("admin").DeleteSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	h.as("ana", reviewer...)
	if status, _, body := h.call("ana", "POST", "/v1/resume/"+string(taken.Request.ID), `{"action":"approve"}`); status != 404 && status != 409 && status != 403 {
		t.Errorf("%d %s", status, body)
	}
	if run, err := h.as("admin").Run(t.Context(), taken.Run.ID); err == nil && run.Status != holdshort.RunCanceled {
		t.Errorf("%+v", run.Run)
	}
	if status, _, _ := h.call("ben", "GET", "/v1/sessions/"+string(session), ""); status != 404 {
		t.Errorf("it is still there: %d", status)
	}
	if told := h.shop.told(); len(told) != 0 {
		t.Errorf("%q", told)
	}
}
