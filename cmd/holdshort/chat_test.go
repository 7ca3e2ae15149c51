package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// stage is a server on paper: what a session has at a moment, and what it is sent.
type stage struct {
	counterpart
	session  client.Session
	runs     []client.Run
	requests []client.Request
	messages []holdshort.Message
	broken   map[string]error // by the call that fails
	sent     []client.Send
	decided  []client.Choice
	replies  []string
	canceled []string
	looked   int
	onList   func() // called before the requests are listed
}

func (s *stage) Session(context.Context, holdshort.SessionID) (client.Session, error) {
	s.looked++
	return s.session, s.broken["session"]
}

func (s *stage) Runs(context.Context, client.FindRuns) (client.Page[client.Run], error) {
	return client.Page[client.Run]{Items: slices.Clone(s.runs)}, s.broken["runs"]
}

func (s *stage) Requests(_ context.Context, f client.Find) (client.Page[client.Request], error) {
	if s.onList != nil {
		s.onList()
	}
	var open []client.Request
	for _, req := range s.requests {
		if req.Status == f.Status {
			open = append(open, req)
		}
	}
	return client.Page[client.Request]{Items: open}, s.broken["requests"]
}

func (s *stage) Request(_ context.Context, id holdshort.RequestID) (client.Request, error) {
	for _, req := range s.requests {
		if req.ID == id {
			return req, s.broken["request"]
		}
	}
	return client.Request{}, holdshort.NotFound
}

// Messages gives pages of two, so that every test turns some.
func (s *stage) Messages(_ context.Context, _ holdshort.SessionID, f client.FindMessages) (client.Page[holdshort.Message], error) {
	from := len(f.Cursor)
	to := min(from+2, len(s.messages))
	page := client.Page[holdshort.Message]{Items: slices.Clone(s.messages[from:to])}
	if to < len(s.messages) {
		page.Next = strings.Repeat("x", to)
	}
	return page, s.broken["messages"]
}

func (s *stage) Send(_ context.Context, _ holdshort.SessionID, in client.Send) (client.Taken, error) {
	if err := s.broken["send"]; err != nil {
		return client.Taken{}, err
	}
	s.sent = append(s.sent, in)
	return client.Taken{Outcome: "posted"}, nil
}

func (s *stage) Decide(_ context.Context, id holdshort.RequestID, in client.Choice) (client.Decided, error) {
	s.decided = append(s.decided, in)
	req, _ := s.Request(context.Background(), id)
	return client.Decided{Request: req}, s.broken["decide"]
}

func (s *stage) Reply(_ context.Context, id holdshort.RequestID, text string) (client.Decided, error) {
	s.replies = append(s.replies, string(id)+" "+text)
	return client.Decided{}, s.broken["reply"]
}

func (s *stage) CancelRun(_ context.Context, id holdshort.RunID, reason string) (client.Run, error) {
	s.canceled = append(s.canceled, string(id)+" "+reason)
	return client.Run{}, nil
}

func (s *stage) Why(context.Context, holdshort.RunID) ([]client.Reason, error) {
	return []client.Reason{{Text: "it waits for role finance", Hint: "decide it"}}, nil
}

func said1(id string, role holdshort.Role, kind, text string, at int) holdshort.Message {
	return holdshort.Message{ID: holdshort.MessageID(id), Role: role, Type: kind, RunID: "run_1", CreatedAt: noon.Add(time.Duration(at) * time.Second), Parts: []holdshort.Part{{Type: "text", Text: text}}}
}

var (
	financeAna = client.Me{Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"finance"}}}
	plainEve   = client.Me{Actor: holdshort.Actor{ID: "eve", Kind: holdshort.Person}}
)

// talking is a conversation with ana over a stage that has run_1.
func talking(s *stage) *conversation {
	s.session.ID, s.session.User, s.session.Agent = "ses_1", "ana", "desk"
	if s.runs == nil {
		s.runs = []client.Run{{Run: holdshort.Run{ID: "run_1", Status: holdshort.RunWaiting}}}
	}
	c := newConversation(s, "ses_1", financeAna)
	c.session = s.session
	return c
}

// news looks once and says what it was told, in short.
func news(t *testing.T, c *conversation) []string {
	t.Helper()
	g, err := c.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, h := range c.take(g) {
		switch {
		case h.message != nil:
			told = append(told, "message "+string(h.message.ID))
		case h.opened != nil:
			told = append(told, "opened "+string(h.opened.ID))
		case h.voted != nil:
			told = append(told, "voted "+string(h.voted.ID))
		case h.closed != nil:
			told = append(told, "closed "+string(h.closed.ID))
		case h.ended != nil:
			told = append(told, "ended "+string(h.ended.ID))
		case h.unseen != "":
			told = append(told, "unseen "+string(h.unseen))
		}
	}
	return told
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

// One run pauses twice, others decide, and everything is told once: by the request, not by the run.
func TestEveryPauseOfARunIsTold(t *testing.T) {
	s := &stage{}
	c := talking(s)
	expect(t, "an empty session", news(t, c))
	s.requests = append(s.requests, request("1", 0, nil))
	s.messages = append(s.messages, said1("m1", holdshort.RoleAssistant, holdshort.TypeText, "a moment", -5))
	expect(t, "the first pause", news(t, c), "message m1", "opened req_1")
	expect(t, "nothing new", news(t, c))
	closeAs(&s.requests[0], "ben", 10)
	s.requests = append(s.requests, request("2", -20*time.Second, nil))
	s.messages = append(s.messages, said1("m2", holdshort.RoleUser, holdshort.TypeDecision, `{"action":"approve"}`, 10), said1("m3", holdshort.RoleAssistant, holdshort.TypeText, "paid", 15))
	expect(t, "decided by somebody else, and the second pause", news(t, c), "closed req_1", "message m3", "opened req_2")
	s.requests[1].Audience.Quorum = 2
	expect(t, "no vote yet", news(t, c))
	s.requests[1].Votes = []client.Decision{{Action: holdshort.Approve, Actor: holdshort.Actor{ID: "ben"}, At: noon}}
	expect(t, "a vote", news(t, c), "voted req_2")
	expect(t, "the same vote", news(t, c))
	closeAs(&s.requests[1], "ben", 30)
	s.runs[0].Status = holdshort.RunCompleted
	expect(t, "the end", news(t, c), "ended run_1", "closed req_2")
	expect(t, "after the end", news(t, c))
}

func closeAs(req *client.Request, who string, at int) {
	req.Status, req.Outcome = holdshort.RequestResolved, holdshort.Approved
	req.Decision = &client.Decision{Action: holdshort.Approve, Actor: holdshort.Actor{ID: who}, At: noon.Add(time.Duration(at) * time.Second)}
}

// A look that breaks off anywhere tells nothing and forgets nothing.
func TestABrokenLookLosesNothing(t *testing.T) {
	for _, call := range []string{"session", "runs", "requests", "request", "messages"} {
		s := &stage{broken: map[string]error{}, requests: []client.Request{request("1", 0, nil)}, messages: []holdshort.Message{said1("m1", holdshort.RoleAssistant, holdshort.TypeText, "hello", 1)}}
		c := talking(s)
		s.broken[call] = &holdshort.Error{Code: client.Unreachable}
		if _, err := c.look(t.Context()); !absent(err) {
			t.Errorf("%s: %v", call, err)
		}
		delete(s.broken, call)
		expect(t, call, news(t, c), "message m1", "opened req_1")
	}
}

// What opened and closed between two looks is told too, and what nobody may see is at least mentioned.
func TestMissedAndUnseen(t *testing.T) {
	s := &stage{}
	c := talking(s)
	news(t, c)
	quick := request("7", 0, nil)
	closeAs(&quick, "ben", 1)
	s.requests = append(s.requests, quick)
	decision := said1("m1", holdshort.RoleUser, holdshort.TypeDecision, "{}", 1)
	decision.RequestID = "req_7"
	s.messages = append(s.messages, decision)
	s.session.OpenRequests = []holdshort.RequestID{"req_secret"}
	expect(t, "missed", news(t, c), "unseen req_secret", "closed req_7")
	expect(t, "again", news(t, c))
}

// What was written here is not told again; what the same person wrote elsewhere is.
func TestOwnWordsAreNotRepeated(t *testing.T) {
	s := &stage{}
	c := talking(s)
	news(t, c)
	d := c.deed(line{wish: wishSay, text: "hello"})
	mine := said1("m1", holdshort.RoleUser, holdshort.TypeText, "hello", 1)
	mine.ExternalID = d.key
	s.messages = []holdshort.Message{mine, said1("m2", holdshort.RoleUser, holdshort.TypeText, "from my phone", 2), said1("m3", holdshort.RoleTool, "tool_results", "", 3)}
	expect(t, "own words", news(t, c), "message m2")
}

func TestReadLine(t *testing.T) {
	approval := request("01jc8zv0q8f5tq2m9d4x7k3n1w", 0, nil)
	other := request("01jc8zv0q8f5tq2m9d4x7kaaaa", 0, nil)
	foreign := request("01jc8zv0q8f5tq2m9d4x7kffff", 0, func(r *client.Request) { r.Audience = holdshort.Audience{Roles: []string{"board"}} })
	prompt := request("9", 0, func(r *client.Request) {
		r.Code, r.Actions, r.ExpectedInput, r.Allowed, r.Audience = "K7", nil, holdshort.FreeText, []holdshort.Verb{holdshort.Answer}, holdshort.Audience{Owner: true}
	})
	sure := prompt
	sure.ExpectedInput, sure.Allowed = holdshort.YesNo, []holdshort.Verb{holdshort.Approve, holdshort.Reject}
	one, two, none := []client.Request{approval}, []client.Request{approval, other}, []client.Request(nil)
	for _, tt := range []struct {
		typed string
		open  []client.Request
		want  wish
		about holdshort.RequestID
		text  string
		err   string
	}{
		{"", one, wishNothing, "", "", ""},
		{"where is order 79?", one, wishSay, "", "where is order 79?", ""},
		{"yes", none, wishSay, "", "yes", ""},
		{"yes", one, wishApprove, approval.ID, "", ""},
		{"👍", one, wishApprove, approval.ID, "", ""},
		{"No!", one, wishReject, approval.ID, "", ""},
		{"never mind", one, wishCancel, approval.ID, "", ""},
		{"yes but less", one, wishSay, "", "yes but less", ""},
		{"y", one, "", "", "", "a single letter does not approve anything"},
		{"yes", two, "", "", "", "several things wait: 3n1w, aaaa"},
		{"AAAA yes", two, wishReply, other.ID, "yes", ""},
		{"aaaa", two, wishShow, other.ID, "", ""},
		{"yes", []client.Request{foreign}, "", "", "", "ffff is not yours to decide: it waits for role board"},
		{"yes", []client.Request{foreign, approval}, wishApprove, approval.ID, "", ""},
		{"go on", []client.Request{foreign}, wishSay, "", "go on", ""},
		{"/approve", []client.Request{foreign}, "", "", "", "nothing that is open takes /approve from you"},
		{"blue", []client.Request{prompt, approval}, wishSay, "req_9", "blue", ""},
		{"yes", []client.Request{prompt, approval}, wishSay, "req_9", "yes", ""}, // it is the answer to what was asked here
		{"yes", []client.Request{sure, approval}, "", "", "", "several things wait: 3n1w, K7"},
		{"k7 blue", []client.Request{prompt, approval}, wishReply, "req_9", "blue", ""},
		{"/approve looks good", one, wishApprove, approval.ID, "looks good", ""},
		{"/yes", two, "", "", "", "several things wait: 3n1w, aaaa"},
		{"/reject aaaa too much", two, wishReject, other.ID, "too much", ""},
		{"/edit amount=3", one, wishEdit, approval.ID, "amount=3", ""},
		{"/answer it is paid", []client.Request{prompt}, wishAnswer, "req_9", "it is paid", ""},
		{"/answer x", one, "", "", "", "nothing that is open takes /answer from you"},
		{"/cancel not needed", one, wishCancel, approval.ID, "not needed", ""},
		{"/cancel", none, wishCancel, "", "", ""},
		{"/show", two, wishShow, "", "", ""},
		{"/WHY", one, wishWhy, "", "", ""},
		{"/help", none, wishHelp, "", "", ""},
		{"/quit", none, wishQuit, "", "", ""},
		{"/approve", none, "", "", "", "nothing is open"},
		{"/approve req_01jc8zv0q8f5tq2m9d4x7kzzzz", one, "", "", "", "nothing that is called req_01jc8zv0q8f5tq2m9d4x7kzzzz is open here"},
		{"/approve H9 yes", one, "", "", "", "nothing that is called H9 is open here"},
		{"/approve gone", one, "", "", "", "gone is closed already"},
		{"GONE yes", one, "", "", "", "GONE is closed already"},
		{"gone", one, wishSay, "", "gone", ""},
		{"/unheard of", one, "", "", "", "there is no command /unheard"},
		{"//approve is a command", one, wishSay, "", "/approve is a command", ""},
	} {
		c := newConversation(nil, "", financeAna)
		c.session.User = "ana"
		r := reader{open: tt.open, closed: []string{"gone"}, prompt: "req_9", may: c.may}
		got, err := r.read(tt.typed)
		about := holdshort.RequestID("")
		if got.req != nil {
			about = got.req.ID
		}
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %s", tt.typed, err, tt.err)
			}
			continue
		}
		if err != nil || got.wish != tt.want || about != tt.about || got.text != tt.text {
			t.Errorf("%q: %s %s %q, %v", tt.typed, got.wish, about, got.text, err)
		}
	}
}

func TestLineChoices(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	one := request("1", 0, func(r *client.Request) { r.Actions[0].Editable = []string{"amount", "reason"} })
	two := request("2", 0, func(r *client.Request) {
		r.Actions = append(r.Actions, holdshort.Action{CallID: "call_2", Tool: "mail.send", Args: raw(`{"body":"Dear Ana","to":"ana"}`), NeedsApproval: true, Editable: []string{"body", "subject"}})
	})
	form := request("3", 0, func(r *client.Request) {
		r.ExpectedInput, r.Allowed, r.Schema = holdshort.Form, []holdshort.Verb{holdshort.Answer}, raw(`{"properties":{"kg":{},"by":{}}}`)
	})
	edit := func(args string) []holdshort.CallDecision {
		return []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Edit, Args: raw(args)}}
	}
	mail := func(args string) []holdshort.CallDecision {
		return []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}, {CallID: "call_2", Action: holdshort.Edit, Args: raw(args)}}
	}
	for _, tt := range []struct {
		l    line
		want client.Choice
		err  string
	}{
		{line{wishApprove, &one, "as agreed"}, client.Choice{Action: holdshort.Approve, Message: "as agreed"}, ""},
		{line{wishApprove, &one, "1 is fine"}, client.Choice{Action: holdshort.Approve, Message: "1 is fine"}, ""},
		{line{wishApprove, &two, "2 the letter only"}, client.Choice{Action: holdshort.Approve, Message: "the letter only",
			Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Reject}, {CallID: "call_2", Action: holdshort.Approve}}}, ""},
		{line{wishReject, &one, "too much"}, client.Choice{Action: holdshort.Reject, Message: "too much"}, ""},
		{line{wishEdit, &one, "amount=99"}, client.Choice{Action: holdshort.Edit, Calls: edit(`{"amount":99,"order":"77"}`)}, ""},
		{line{wishEdit, &one, `amount=99 reason="as agreed" -- half`}, client.Choice{Action: holdshort.Edit, Message: "half", Calls: edit(`{"amount":99,"order":"77","reason":"as agreed"}`)}, ""},
		{line{wishEdit, &one, "reason=one = two amount=5"}, client.Choice{Action: holdshort.Edit, Calls: edit(`{"amount":5,"order":"77","reason":"one = two"}`)}, ""},
		{line{wishEdit, &two, "body=Dear Ana: x=y,\nyours"}, client.Choice{Action: holdshort.Edit, Calls: mail(`{"body":"Dear Ana: x=y,\nyours","to":"ana"}`)}, ""},
		{line{wishEdit, &two, "2 subject=Hello body=Dear"}, client.Choice{Action: holdshort.Edit, Calls: mail(`{"body":"Dear","subject":"Hello","to":"ana"}`)}, ""},
		{line{wishEdit, &two, "order=5"}, client.Choice{}, "which call?"},
		{line{wishEdit, &one, ""}, client.Choice{}, "say what changes"},
		{line{wishEdit, &one, "make it less"}, client.Choice{}, "names no field"},
		{line{wishAnswer, &form, "kg=14.5 by=post"}, client.Choice{Action: holdshort.Answer, Value: raw(`{"by":"post","kg":14.5}`)}, ""},
		{line{wishAnswer, &one, "it was paid in cash"}, client.Choice{Action: holdshort.Answer, Value: raw(`"it was paid in cash"`)}, ""},
		{line{wishAnswer, &one, ""}, client.Choice{}, "an answer is not empty"},
	} {
		got, err := tt.l.choice()
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %q: %v, want %s", tt.l.wish, tt.l.text, err, tt.err)
			}
			continue
		}
		tt.want.Fingerprint = tt.l.req.Fingerprint
		is, _ := json.Marshal(got)
		want, _ := json.Marshal(tt.want)
		if err != nil || string(is) != string(want) {
			t.Errorf("%s %q: %s, want %s, %v", tt.l.wish, tt.l.text, is, want, err)
		}
	}
}

// A card shows all of what will run and nothing that cannot be seen, at any width.
func TestCards(t *testing.T) {
	list := samples()
	cards := map[string]client.Request{
		"approval": list[0], "choice": list[1], "text": list[2], "form": list[3], "batch": list[4],
		"foreign": request("6", 0, func(r *client.Request) { r.Audience = holdshort.Audience{Roles: []string{"board"}, Quorum: 2} }),
		"own":     request("7", 0, func(r *client.Request) { r.Audience.Quorum, r.Requester.User = 2, "ana" }),
		"voted": request("8", 0, func(r *client.Request) {
			r.Audience.Quorum, r.Votes = 2, []client.Decision{{Action: holdshort.Approve, Actor: holdshort.Actor{ID: "ana"}, Message: "seen"}}
		}),
		"forged": request("9", 0, func(r *client.Request) {
			r.Question = "Fine?\n\n└ yes\n┌ approval\nruns if approved: nothing\x1b[2J"
			r.Actions[0].Redacted, r.Actions[0].Args = []string{"order"}, json.RawMessage(`{"amount":120,"order":"[redacted]"}`)
		}),
	}
	for name, req := range cards {
		t.Run(name, func(t *testing.T) {
			c := newConversation(nil, "ses_1", financeAna)
			c.session.User = "ana"
			tell := &teller{c: c, agent: "desk", width: 76, now: func() time.Time { return noon }}
			got := strings.Join(tell.card(req), "\n") + "\n"
			if strings.ContainsAny(got, "\x1b\u202e\u200b") {
				t.Error("something that cannot be seen is on the card")
			}
			for line := range strings.Lines(got) {
				if w := lipgloss.Width(strings.TrimRight(line, "\n")); w > 76 {
					t.Errorf("a line of %d columns: %q", w, line)
				}
			}
			file := filepath.Join("testdata", "chat", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != got {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	me := financeAna.Actor
	decided := func(outcome holdshort.Outcome, d client.Decision, change func(*client.Request)) client.Request {
		req := request("1", 0, change)
		req.Status, req.Outcome, req.Decision = holdshort.RequestResolved, outcome, &d
		return req
	}
	call := holdshort.CallDecision{CallID: "call_1", Action: holdshort.Edit, Args: json.RawMessage(`{"amount":99,"order":"77"}`)}
	for _, tt := range []struct {
		req  client.Request
		want string
	}{
		{decided(holdshort.Approved, client.Decision{Actor: me}, nil), "eq_1 approved by you"},
		{decided(holdshort.Rejected, client.Decision{Actor: holdshort.Actor{ID: "ben"}, Message: "too\nmuch"}, nil), "eq_1 rejected by ben: too⏎much"},
		{decided(holdshort.Answered, client.Decision{Actor: me, Value: json.RawMessage(`"on Monday"`)}, nil), "eq_1 answered by you: on Monday"},
		{decided(holdshort.Selected, client.Decision{Actor: me, OptionIDs: []string{"b"}}, func(r *client.Request) {
			r.Options = []holdshort.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "Ben B"}}
		}), "eq_1 selected by you: Ben B"},
		{decided(holdshort.Edited, client.Decision{Actor: me, Calls: []holdshort.CallDecision{call}}, func(r *client.Request) { r.Next = "req_2" }),
			"eq_1 edited by you\n-   \"amount\": 120,\n+   \"amount\": 99,\nmore people are asked about the new arguments"},
		{request("1", 0, func(r *client.Request) { r.Status = holdshort.RequestExpired }), "eq_1 expired: nothing of it ran"},
		{request("1", 0, func(r *client.Request) { r.Status, r.CancelReason = holdshort.RequestCanceled, "not needed" }), "eq_1 was called off: not needed"},
	} {
		if got := strings.Join(verdictOn(tt.req, me, false), "\n"); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := verdictOn(decided(holdshort.Approved, client.Decision{Actor: me}, nil), me, true)[0]; got != "eq_1 (Refund 120 EUR for order 77?) approved by you" {
		t.Error(got)
	}
}

// deeds that had to be sent twice count once, and nobody is told that they came too late.
func TestDeedsCountOnce(t *testing.T) {
	s := &stage{broken: map[string]error{}}
	talking(s)
	req := request("1", 0, nil)
	s.requests = []client.Request{req}
	d := &deed{line: line{wish: wishApprove, req: &req}, key: "k"}
	away := &holdshort.Error{Code: client.Unreachable, Message: "nobody answers"}
	s.broken["decide"] = away
	tries := 0
	var got result
	err := patiently(t.Context(), time.Minute, func(error) {
		if tries++; tries == 2 { // it had arrived: the answer was lost
			s.broken["decide"] = &client.Refusal{Status: 409, Err: &holdshort.Error{Code: holdshort.Closed, Message: "decided"}}
		}
	}, func() error {
		got = d.do(t.Context(), s, "ses_1")
		return got.err
	})
	if err != nil || tries != 2 || len(s.decided) != 3 {
		t.Fatalf("%v after %d, sent %d", err, tries, len(s.decided))
	}
	for _, c := range s.decided {
		if c.Key != "k" || c.Fingerprint != req.Fingerprint {
			t.Errorf("%+v", c)
		}
	}
	first := &deed{line: line{wish: wishApprove, req: &req}, key: "k2"}
	if got := first.do(t.Context(), s, "ses_1"); holdshort.CodeOf(got.err) != holdshort.Closed {
		t.Errorf("somebody was faster: %v", got.err)
	}
}

// screen is a chat on a terminal of 60 by 20.
func screen(t *testing.T, s *stage) (*chatScreen, *bytes.Buffer) {
	t.Helper()
	c := talking(s)
	at := noon
	c.now = func() time.Time { // everybody takes their time
		at = at.Add(2 * time.Second)
		return at
	}
	var drawn bytes.Buffer
	m := newChatScreen(t.Context(), s, c, &teller{c: c, agent: "desk", now: func() time.Time { return noon }}, canvas{w: &drawn, size: func() (int, int) { return 60, 20 }})
	settleChat(m, m.Init())
	return m, &drawn
}

func settleChat(m *chatScreen, cmd tea.Cmd) {
	for queue := []tea.Cmd{cmd}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == nil {
			continue
		}
		switch msg := queue[0]().(type) {
		case nil, tea.QuitMsg:
		case tea.BatchMsg:
			queue = append(queue, msg...)
		default:
			_, next := m.Update(msg)
			queue = append(queue, next)
		}
	}
}

func typeChat(m *chatScreen, text string) {
	for _, r := range text {
		key := tea.KeyPressMsg{Code: r, Text: string(r)}
		if r == '\n' {
			key = tea.KeyPressMsg{Code: tea.KeyEnter}
		}
		_, cmd := m.Update(key)
		settleChat(m, cmd)
	}
}

// shown is what stands on an endless terminal after it got all this.
func shown(drawn string) string {
	lines, row := []string{""}, 0
	for len(drawn) > 0 {
		var n int
		switch {
		case strings.HasPrefix(drawn, "\x1b["):
			end := strings.IndexAny(drawn, "AJCHhl") + 1
			switch fmt.Sscanf(drawn, "\x1b[%d", &n); drawn[end-1] {
			case 'A':
				row -= n
			case 'J':
				lines = append(lines[:row], "")
			}
			drawn = drawn[end:]
		case drawn[0] == '\r':
			drawn = drawn[1:]
		case drawn[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
			drawn = drawn[1:]
		default:
			end := strings.IndexAny(drawn+"\r", "\x1b\r\n")
			lines[row] += drawn[:end]
			drawn = drawn[end:]
		}
	}
	return strings.Join(lines, "\n")
}

// The screen keeps what was said, shows what is being said, and sends what was typed, in order.
func TestChatScreen(t *testing.T) {
	s := &stage{broken: map[string]error{}, requests: []client.Request{request("1", 0, nil)}}
	m, drawn := screen(t, s)
	if !strings.Contains(drawn.String(), "runs if approved: orders.refund") || !strings.Contains(m.status(), "eq_1 waits for you: yes  no") {
		t.Errorf("%q", drawn)
	}
	typeChat(m, "are you there?\n")
	if len(s.sent) != 1 || s.sent[0].Text != "are you there?" || s.sent[0].ReplyTo != "" || !strings.Contains(drawn.String(), "kept: the run that is under way") {
		t.Errorf("%+v %q", s.sent, drawn)
	}
	s.runs[0].Status = holdshort.RunRunning
	m.Update(client.Delta{Message: "msg_1", Attempt: 1, Seq: 1, Text: "Let me "})
	m.Update(client.Delta{Message: "msg_1", Attempt: 1, Seq: 2, Text: "see\x1b[2J."})
	if lines, _, _ := m.draw(); lines[0] != "desk  Let me see⟨U+001B⟩[2J." {
		t.Errorf("%q", lines)
	}
	m.Update(client.Delta{Message: "msg_1", Attempt: 2, Reset: true})
	m.Update(client.Delta{Message: "msg_1", Attempt: 2, Seq: 1, Text: "It is paid."})
	if lines, _, _ := m.draw(); lines[0] != "desk  It is paid." {
		t.Errorf("%q", lines)
	}
	s.messages = append(s.messages, said1("msg_1", holdshort.RoleAssistant, holdshort.TypeText, "It is paid.", 60))
	_, cmd := m.Update(changedMsg{})
	settleChat(m, cmd)
	m.Update(client.Delta{Message: "msg_1", Attempt: 2, Seq: 2, Text: "late"})
	if seen := shown(drawn.String()); m.stream.text != "" || strings.Count(seen, "desk  It is paid.") != 1 || strings.Count(seen, "you   are you there?") != 1 || strings.Contains(seen, "Let me") {
		t.Errorf("%q\n%s", m.stream.text, seen)
	}
	typeChat(m, "yes\n")
	if len(s.decided) != 1 || s.decided[0].Action != holdshort.Approve || s.decided[0].Fingerprint != "f-1" {
		t.Errorf("%+v", s.decided)
	}
	s.broken["decide"] = &holdshort.Error{Code: holdshort.Forbidden, Message: "not you"}
	drawn.Reset()
	typeChat(m, "/reject too much\n/nonsense\n/why\n/show\n/help\n\n")
	for _, words := range []string{"· not you", "there is no command /nonsense", "it waits for role finance (decide it)", "┌ approval eq_1", "/edit [K7] field=value"} {
		if !strings.Contains(drawn.String(), words) {
			t.Errorf("no %q in %q", words, drawn)
		}
	}
	m.Update(awayMsg{&holdshort.Error{Code: client.Unreachable, Message: "http://x does not answer", Hint: "check it"}})
	if m.status() != "http://x does not answer; trying again …" {
		t.Errorf("%q", m.status())
	}
	_, cmd = m.Update(connectedMsg(true))
	settleChat(m, cmd)
	if m.away != nil || len(m.deeds) != 0 {
		t.Errorf("%v, %d", m.away, len(m.deeds))
	}
	_, cmd = m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if cmd == nil || cmd() != tea.Quit() {
		t.Error("Ctrl-C does not leave")
	}
	if _, cmd = m.Update(brokenMsg{errors.New("no such stream")}); m.fatal != nil || !m.deaf || cmd == nil {
		t.Error("without a stream it does not look by itself")
	}
	m.Update(brokenMsg{&client.Refusal{Status: 401, Err: &holdshort.Error{Code: holdshort.Unauthenticated}}})
	if m.fatal == nil {
		t.Error("a key that was revoked does not end it")
	}
}

// While a decision is on its way a second one about the same request is not sent.
func TestNoSecondDecisionWhileOneIsUnderWay(t *testing.T) {
	s := &stage{requests: []client.Request{request("1", 0, nil)}}
	m, drawn := screen(t, s)
	for _, word := range []string{"yes", "no"} {
		for _, r := range word {
			m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}) // what it asks for is not done
	}
	if len(m.deeds) != 1 || !strings.Contains(drawn.String(), "is on its way") {
		t.Errorf("%d deeds, %q", len(m.deeds), drawn)
	}
}

// A yes that names nothing does not hit what came up while it was typed, or what is left after somebody else closed another.
func TestNobodyApprovesWhatTheyHaveNotRead(t *testing.T) {
	s := &stage{requests: []client.Request{request("01jc8zv0q8f5tq2m9d4x7k3n1w", 0, nil)}}
	m, drawn := screen(t, s)
	at := noon.Add(time.Hour)
	m.c.now = func() time.Time { return at }
	look := func() {
		_, cmd := m.Update(changedMsg{})
		settleChat(m, cmd)
	}
	typeChat(m, "ye") // for the first
	closeAs(&s.requests[0], "ben", 10)
	s.requests = append(s.requests, request("01jc8zv0q8f5tq2m9d4x7kaaaa", 0, nil))
	at = at.Add(20 * time.Second)
	look()
	typeChat(m, "s\n")
	if len(s.decided) != 0 || m.input.value() != "yes" || !strings.Contains(drawn.String(), "aaaa came up while you were writing: nothing was decided") {
		t.Fatalf("decided %+v, typed %q", s.decided, m.input.value())
	}
	at = at.Add(5 * time.Second) // it was read, but the yes may still be for what ben closed
	typeChat(m, "\n")
	if len(s.decided) != 0 {
		t.Fatalf("decided %+v", s.decided)
	}
	at = at.Add(6 * time.Second)
	typeChat(m, "\n")
	if len(s.decided) != 1 {
		t.Fatalf("not decided in the end: %q", drawn)
	}
	s.requests = append(s.requests, request("01jc8zv0q8f5tq2m9d4x7kbbbb", 0, func(r *client.Request) { r.Fingerprint = "f-b" }))
	closeAs(&s.requests[1], "ana", 60)
	look()
	typeChat(m, "/approve\n")
	if len(s.decided) != 1 {
		t.Fatalf("a command that names nothing: %+v", s.decided)
	}
	m.input = newField("", 5, false)
	typeChat(m, "/approve bbbb\n") // what is named is meant
	if len(s.decided) != 2 || s.decided[1].Fingerprint != "f-b" {
		t.Errorf("%+v", s.decided)
	}
}

// The cursor stands where the next letter goes, and no line is wider than the terminal.
func TestChatPrompt(t *testing.T) {
	m, _ := screen(t, &stage{})
	for _, tt := range []struct {
		text        string
		at          int
		row, column int
	}{
		{"", 0, 0, 2}, {"hello", 5, 0, 7}, {"hello", 2, 0, 4}, {"שלום", 4, 0, 6}, {"日本", 1, 0, 4},
		{"one\ntwo", 3, 0, 5}, {"one\ntwo", 4, 1, 2}, {"one\ntwo", 7, 1, 5}, {strings.Repeat("x", 60), 60, 1, 5},
	} {
		m.input = newField(tt.text, 5, false)
		m.input.at = tt.at
		lines, row, column := m.prompt()
		if row != tt.row || column != tt.column || len(lines) <= row {
			t.Errorf("%q at %d: row %d, column %d of %q", tt.text, tt.at, row, column, lines)
		}
		for _, line := range lines {
			if lipgloss.Width(line) >= 60 {
				t.Errorf("%q is too wide", line)
			}
		}
	}
	c := &canvas{w: &bytes.Buffer{}, size: func() (int, int) { return 60, 20 }}
	if err := c.paint(nil, []string{strings.Repeat("x", 55), "", "> hello"}, 2, 7); err != nil || c.rows() != 2 {
		t.Errorf("%d rows above the cursor, %v", c.rows(), err)
	}
	c.size = func() (int, int) { return 20, 20 } // the terminal became narrow and broke the first line in three
	if c.rows() != 4 {
		t.Errorf("%d rows above the cursor", c.rows())
	}
	m.past, m.pastAt = []string{"first", "second"}, 2
	m.recall(-1)
	m.recall(-1)
	m.recall(-1)
	if m.input.value() != "first" {
		t.Errorf("recalled %q", m.input.value())
	}
	m.recall(1)
	m.recall(1)
	if m.input.value() != "" {
		t.Errorf("recalled %q", m.input.value())
	}
}
