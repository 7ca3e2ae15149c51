package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// paper is a server on paper: it gives the requests that it has and writes down what it is sent.
type paper struct {
	items    []client.Request
	sent     []client.Choice
	canceled []string
	err      error
}

func (p *paper) Requests(context.Context, client.Find) (client.Page[client.Request], error) {
	return client.Page[client.Request]{Items: append([]client.Request{}, p.items...)}, p.err
}

func (p *paper) Decide(_ context.Context, id holdshort.RequestID, in client.Choice) (client.Decided, error) {
	if p.err != nil {
		return client.Decided{}, p.err
	}
	in.Key = ""
	p.sent = append(p.sent, in)
	return p.close(id, map[holdshort.Verb]holdshort.Outcome{holdshort.Approve: holdshort.Approved, holdshort.Reject: holdshort.Rejected, holdshort.Edit: holdshort.Edited,
		holdshort.Answer: holdshort.Answered, holdshort.Select: holdshort.Selected}[in.Action]), nil
}

func (p *paper) CancelRequest(_ context.Context, id holdshort.RequestID, reason string) (client.Decided, error) {
	p.canceled = append(p.canceled, string(id)+" "+reason)
	d := p.close(id, "")
	d.Request.Status = holdshort.RequestCanceled
	return d, nil
}

func (p *paper) close(id holdshort.RequestID, outcome holdshort.Outcome) client.Decided {
	var d client.Decided
	kept := p.items[:0:0]
	for _, req := range p.items {
		if req.ID == id {
			d.Request = req
			d.Request.Status, d.Request.Outcome = holdshort.RequestResolved, outcome
			continue
		}
		kept = append(kept, req)
	}
	p.items = kept
	return d
}

func (p *paper) Reveal(_ context.Context, id holdshort.RequestID) (client.Request, error) {
	for _, req := range p.items {
		if req.ID == id {
			req.Actions[0].Args = json.RawMessage(`{"amount":120,"iban":"DE00 1234"}`)
			return req, nil
		}
	}
	return client.Request{}, holdshort.NotFound
}

func request(id string, ago time.Duration, change func(*client.Request)) client.Request {
	req := client.Request{Request: holdshort.Request{ID: holdshort.RequestID("req_" + id), Kind: holdshort.Approval, Status: holdshort.RequestOpen, Priority: holdshort.PriorityNormal,
		Question: "Refund 120 EUR for order 77?", ExpectedInput: holdshort.YesNo, Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Edit},
		Audience: holdshort.Audience{Roles: []string{"finance"}}, Fingerprint: "f-" + id, CreatedAt: noon.Add(-ago), AskedAt: noon.Add(-ago), ExpiresAt: noon.Add(time.Hour),
		Actions: []holdshort.Action{{CallID: "call_1", Tool: "orders.refund", Args: json.RawMessage(`{"amount":120,"order":"77"}`), NeedsApproval: true, Editable: []string{"amount"}}}}}
	if change != nil {
		change(&req)
	}
	return req
}

func samples() []client.Request {
	return []client.Request{
		request("1", 3*time.Minute, nil),
		request("2", 26*time.Hour, func(r *client.Request) {
			r.Kind, r.Priority, r.Actions = holdshort.Disambiguation, holdshort.PriorityCritical, nil
			r.Question, r.ExpectedInput, r.Allowed = "Which Ben?", holdshort.SingleChoice, []holdshort.Verb{holdshort.Select}
			r.Options = []holdshort.Option{{ID: "a", Label: "Ben \u202eA"}, {ID: "b", Label: "Ben B"}}
		}),
		request("3", time.Hour, func(r *client.Request) {
			r.Kind, r.Actions, r.Question = holdshort.Clarification, nil, "Is the discount\nstill valid?"
			r.ExpectedInput, r.Allowed = holdshort.FreeText, []holdshort.Verb{holdshort.Answer}
		}),
		request("4", time.Hour, func(r *client.Request) {
			r.Kind, r.Actions, r.Question = holdshort.Clarification, nil, "How heavy?"
			r.ExpectedInput, r.Allowed, r.Schema = holdshort.Form, []holdshort.Verb{holdshort.Answer}, json.RawMessage(`{"type":"object","properties":{"kg":{"type":"number"}},"required":["kg"]}`)
		}),
		request("5", time.Hour, func(r *client.Request) {
			r.Question = "Send a letter?"
			r.Actions[0].Tool, r.Actions[0].Args = "mail.send", json.RawMessage(`{"body":"pay at \u200bexample.org/`+"\u202e"+`knab","to":"cora"}`)
			r.Actions = append(r.Actions, holdshort.Action{CallID: "call_2", Tool: "orders.cancel", Args: json.RawMessage(`{"order":"80"}`), NeedsApproval: true})
		}),
	}
}

// open makes an inbox over p and loads it.
func open(t *testing.T, p *paper) *inboxScreen {
	t.Helper()
	m := newInbox(t.Context(), p, client.Find{Status: holdshort.RequestOpen}, 200)
	m.now = func() time.Time { return noon }
	m.Update(tea.WindowSizeMsg{Width: 76, Height: 30})
	m.Update(connectedMsg(true))
	m.loading = false
	settle(m, m.load())
	return m
}

// settle runs what an update asks for, and what comes of it.
func settle(m *inboxScreen, cmd tea.Cmd) {
	for cmd != nil {
		msg := cmd()
		if _, quits := msg.(tea.QuitMsg); quits || msg == nil {
			return
		}
		_, cmd = m.Update(msg)
	}
}

// press types keys by name; a longer word that is no key's name is typed letter by letter.
func press(m *inboxScreen, keys ...string) {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
		"home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "left": tea.KeyLeft, "right": tea.KeyRight, "delete": tea.KeyDelete}
	for _, key := range keys {
		if code, ok := named[key]; ok {
			_, cmd := m.Update(tea.KeyPressMsg{Code: code})
			settle(m, cmd)
			continue
		}
		if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
			_, cmd := m.Update(tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl})
			settle(m, cmd)
			continue
		}
		for _, r := range key {
			_, cmd := m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			settle(m, cmd)
		}
	}
}

// What stands on the screen after some keys, as it was when somebody last looked at it and found it good.
func TestInboxViews(t *testing.T) {
	for name, keys := range map[string][]string{
		"list":     nil,
		"approve":  {"a"},
		"choice":   {"down", "enter", "down", " "},
		"chosen":   {"down", "enter", "2", "enter"},
		"text":     {"down", "down", "enter", "yes, until Sunday"},
		"form":     {"end", "up", "enter"},
		"hidden":   {"end"},
		"edit":     {"e"},
		"diff":     {"e", "up", "up", "end", "backspace", "backspace", "backspace", "backspace", "99,", "ctrl+s"},
		"not-json": {"e", "x", "ctrl+s"},
		"reason":   {"r", "ask for the parcel"},
		"help":     {"?"},
		"mistake":  {"down", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			m := open(t, &paper{items: samples()})
			press(m, keys...)
			got := m.draw() + "\n"
			for line := range strings.Lines(got) {
				if w := lipgloss.Width(strings.TrimRight(line, "\n")); w > 76 {
					t.Errorf("a line of %d columns: %q", w, line)
				}
			}
			if n := strings.Count(got, "\n"); n > 30 {
				t.Errorf("%d lines on a screen of 30", n)
			}
			if strings.ContainsAny(got, "\x1b\u202e\u200b") {
				t.Error("something that cannot be seen is on the screen")
			}
			file := filepath.Join("testdata", "inbox", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != got {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// What is sent is what was on the screen, and only after a yes.
func TestInboxDecides(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		name string
		keys []string
		want *client.Choice
		note string
	}{
		{"approve", []string{"a", "y"}, &client.Choice{Action: holdshort.Approve, Fingerprint: "f-1"}, "req_1 is approved"},
		{"no", []string{"a", "n"}, nil, "nothing was sent"},
		{"another key is no yes", []string{"a", "enter", "j", " "}, nil, ""},
		{"reject with a reason", []string{"r", "too much", "enter", "y"}, &client.Choice{Action: holdshort.Reject, Message: "too much", Fingerprint: "f-1"}, "req_1 is rejected"},
		{"reject without one", []string{"r", "enter", "y"}, &client.Choice{Action: holdshort.Reject, Fingerprint: "f-1"}, "req_1 is rejected"},
		{"leave the reason", []string{"r", "x", "esc", "y"}, nil, "nothing was sent"},
		{"choose", []string{"j", "enter", "2", "enter", "y"}, &client.Choice{Action: holdshort.Select, OptionIDs: []string{"b"}, Fingerprint: "f-2"}, "req_2 is selected"},
		{"choose where the mark stands", []string{"j", "enter", "enter", "y"}, &client.Choice{Action: holdshort.Select, OptionIDs: []string{"a"}, Fingerprint: "f-2"}, "req_2 is selected"},
		{"answer", []string{"j", "j", "enter", "until Sunday", "enter", "y"}, &client.Choice{Action: holdshort.Answer, Value: raw(`"until Sunday"`), Fingerprint: "f-3"}, "req_3 is answered"},
		{"an empty answer", []string{"j", "j", "enter", "enter"}, nil, "an answer is not empty"},
		{"fill in", []string{"G", "k", "enter", "ctrl+u", "ctrl+s"}, nil, "this is no JSON: check quotes and commas"},
		{"edit", []string{"e", "up", "up", "end", "backspace", "backspace", "backspace", "backspace", "99,", "ctrl+s", "y"},
			&client.Choice{Action: holdshort.Edit, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Edit, Args: raw("{\n  \"amount\": 99,\n  \"order\": \"77\"\n}")}}, Fingerprint: "f-1"}, "req_1 is edited"},
		{"edit the second of two", []string{"G", "tab", "e", "up", "end", "backspace", "backspace", `1"`, "ctrl+s", "y"},
			&client.Choice{Action: holdshort.Edit, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}, {CallID: "call_2", Action: holdshort.Edit, Args: raw("{\n  \"order\": \"81\"\n}")}}, Fingerprint: "f-5"}, "req_5 is edited"},
		{"approve what takes no approval", []string{"j", "a", "y"}, nil, `this request does not take "approve": it takes select`},
		{"yes or no is not written", []string{"enter"}, nil, "a approves, r rejects, e edits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &paper{items: samples()}
			m := open(t, p)
			press(m, tt.keys...)
			if tt.want == nil && len(p.sent) > 0 || tt.want != nil && len(p.sent) != 1 {
				t.Fatalf("sent %+v", p.sent)
			}
			if tt.want != nil {
				got, _ := json.Marshal(p.sent[0])
				want, _ := json.Marshal(*tt.want)
				if string(got) != string(want) {
					t.Errorf("sent %s, want %s", got, want)
				}
			}
			if tt.note != "" && m.note != tt.note {
				t.Errorf("said %q, want %q", m.note, tt.note)
			}
		})
	}
}

func TestInboxOtherKeys(t *testing.T) {
	p := &paper{items: samples()}
	m := open(t, p)
	press(m, "x", "not needed", "enter", "y")
	if len(p.canceled) != 1 || p.canceled[0] != "req_1 not needed" || len(m.items) != 4 {
		t.Errorf("%v, %d left", p.canceled, len(m.items))
	}
	press(m, "home", "end", "g", "G", "pgdown", "pgdown", "pgup", "b", "ctrl+r", "v")
	if !strings.Contains(m.draw(), "DE00 1234") || m.note != "all arguments are shown; that you looked is noted" {
		t.Errorf("%q\n%s", m.note, m.draw())
	}
	for _, key := range []string{"q", "esc"} {
		_, cmd := m.Update(map[string]tea.KeyPressMsg{"q": {Code: 'q', Text: "q"}, "esc": {Code: tea.KeyEscape}}[key])
		if cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%s does not leave", key)
		}
	}
}

// The list changes under the person's hands: what they look at stays, and what they were about to decide is not another request.
func TestInboxStaysWhereItIs(t *testing.T) {
	p := &paper{items: samples()}
	m := open(t, p)
	press(m, "down", "down")
	p.items = append([]client.Request{request("0", 0, nil)}, p.items...)
	_, cmd := m.Update(changedMsg{})
	settle(m, cmd)
	if m.selected().ID != "req_3" || m.at != 3 {
		t.Errorf("looks at %s", m.selected().ID)
	}
	press(m, "home", "down", "a") // about to approve req_1
	p.close("req_1", holdshort.Approved)
	_, cmd = m.Update(changedMsg{})
	settle(m, cmd)
	press(m, "y")
	if len(p.sent) > 0 || m.note != "req_1 was closed by somebody else" {
		t.Errorf("sent %+v, said %q", p.sent, m.note)
	}
}

func TestInboxHearsOfTrouble(t *testing.T) {
	p := &paper{items: samples()}
	m := open(t, p)
	p.err = &holdshort.Error{Code: holdshort.Closed, Message: "the request is already decided", Hint: "the standing decision is final"}
	press(m, "a", "y")
	if !m.bad || m.note != "the request is already decided (the standing decision is final)" {
		t.Errorf("%q", m.note)
	}
	m.Update(brokenMsg{errors.New("cut \x1b[2J off")})
	if m.live || strings.Contains(m.draw(), "\x1b") || !strings.Contains(m.draw(), "not live") {
		t.Error(m.draw())
	}
	m.items, m.note = nil, ""
	if !strings.Contains(m.draw(), "nothing waits for you") {
		t.Error(m.draw())
	}
	press(m, "a", "enter", "j", "y")
	for _, size := range []tea.WindowSizeMsg{{Width: 1, Height: 1}, {Width: 400, Height: 200}} {
		m.Update(size)
		m.items = samples()
		press(m, "e", "esc", "j")
		if m.draw() == "" {
			t.Error("an empty screen")
		}
	}
}

func TestTextField(t *testing.T) {
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{"!"}, "ab\ncd!"},
		{[]string{"left", "left", "X"}, "ab\nXcd"},
		{[]string{"up", "X"}, "abX\ncd"},
		{[]string{"up", "up", "down", "X"}, "ab\ncdX"},
		{[]string{"home", "X", "end", "Y"}, "ab\nXcdY"},
		{[]string{"home", "backspace"}, "abcd"},
		{[]string{"home", "delete"}, "ab\nd"},
		{[]string{"delete", "right"}, "ab\ncd"},
		{[]string{"home", "ctrl+k"}, "ab\n"},
		{[]string{"ctrl+u"}, "ab\n"},
		{[]string{"enter", "e"}, "ab\ncd\ne"},
	} {
		m := &inboxScreen{mode: writing, width: 40, pending: &pending{}, input: newField("ab\ncd", 10, true)}
		if press(m, tt.keys...); m.input.value() != tt.want {
			t.Errorf("%v: %q, want %q", tt.keys, m.input.value(), tt.want)
		}
	}
	f := newField("one\ntwo\nthree", 2, true)
	f.at = 4
	f.insert("a\u202e\tb\r\n")
	if f.value() != "one\na b\ntwo\nthree" || f.at != 8 {
		t.Errorf("%q at %d", f.value(), f.at)
	}
	if lines := f.lines(20); len(lines) != 2 || !strings.Contains(strings.Join(lines, ""), "█") {
		t.Errorf("%q", lines)
	}
	f.insert(strings.Repeat("x", maxWritten+10))
	if len(f.text) != maxWritten {
		t.Errorf("%d characters", len(f.text))
	}
}
