package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

func (m *inboxScreen) say(bad bool, format string, args ...any) {
	m.note, m.bad = oneLine(fmt.Sprintf(format, args...)), bad
}

// heard is what a person needs to know of an error.
func heard(err error) string {
	if e, ok := errors.AsType[*holdshort.Error](err); ok {
		text := e.Message
		if text == "" {
			text = string(e.Code)
		}
		if e.Hint != "" {
			text += " (" + e.Hint + ")"
		}
		return text
	}
	return err.Error()
}

// press is every key that is pressed.
func (m *inboxScreen) press(key tea.KeyPressMsg) tea.Cmd {
	if key.String() == "ctrl+c" {
		return tea.Quit
	}
	switch m.mode {
	case sure:
		return m.pressSure(key.String())
	case writing:
		return m.pressWriting(key)
	case choosing:
		return m.pressChoosing(key.String())
	case explained:
		m.mode = browsing
		return nil
	}
	return m.pressBrowsing(key.String())
}

func (m *inboxScreen) pressBrowsing(key string) tea.Cmd {
	switch key {
	case "q", "esc":
		return tea.Quit
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "home", "g":
		m.move(-len(m.items))
	case "end", "G":
		m.move(len(m.items))
	case "pgdown", "space", "ctrl+d":
		m.scroll += max(m.detailHeight()-1, 1)
	case "pgup", "b", "ctrl+u":
		m.scroll = max(m.scroll-max(m.detailHeight()-1, 1), 0)
	case "?":
		m.mode = explained
	case "ctrl+r", "f5":
		m.say(false, "")
		return m.load()
	default:
		if req := m.selected(); req != nil {
			return m.act(key, *req)
		}
	}
	return nil
}

func (m *inboxScreen) move(by int) {
	m.at = max(min(m.at+by, len(m.items)-1), 0)
	m.scroll, m.call = 0, 0
	m.say(false, "")
}

// act begins something with the request on the screen. Nothing is sent before the person says so.
func (m *inboxScreen) act(key string, req client.Request) tea.Cmd {
	switch key {
	case "a":
		m.begin(req, holdshort.Approve, "approve it exactly as shown?")
	case "r":
		if m.takes(req, holdshort.Reject) {
			m.compose(&pending{req: req, choice: client.Choice{Action: holdshort.Reject}}, "why not? (may stay empty)", "", 3, func(p *pending, text string) error {
				p.choice.Message, p.prompt = text, "reject it: nothing of it runs?"
				return nil
			})
		}
	case "x":
		m.compose(&pending{req: req, cancel: true}, "why is it not needed any more? (may stay empty)", "", 3, func(p *pending, text string) error {
			p.choice.Message, p.prompt = text, "call it off? A run that waits for it ends too"
			return nil
		})
	case "e":
		m.edit(req)
	case "enter":
		m.answer(req)
	case "v":
		return func() tea.Msg {
			shown, err := m.desk.Reveal(m.ctx, req.ID)
			return revealedMsg{shown, err}
		}
	case "tab":
		m.call = (m.call + 1) % max(len(req.Actions), 1)
		m.say(false, "e edits call %d", m.call+1)
	}
	return nil
}

func (m *inboxScreen) takes(req client.Request, verb holdshort.Verb) bool {
	if slices.Contains(req.Allowed, verb) {
		return true
	}
	m.say(true, "this request does not take %q: it takes %s", verb, verbs(req.Allowed))
	return false
}

func (m *inboxScreen) begin(req client.Request, verb holdshort.Verb, prompt string) {
	if m.takes(req, verb) {
		m.pending, m.mode = &pending{req: req, choice: client.Choice{Action: verb}, prompt: prompt}, sure
	}
}

// compose lets the person write; then makes a decision of it.
func (m *inboxScreen) compose(p *pending, prompt, text string, lines int, finish func(p *pending, text string) error) {
	p.prompt = prompt
	p.parse = func(text string) error { return finish(p, text) }
	m.input = newField(text, lines, lines > 5)
	m.pending, m.mode = p, writing
}

func (m *inboxScreen) edit(req client.Request) {
	if !m.takes(req, holdshort.Edit) {
		return
	}
	if m.call >= len(req.Actions) || !req.Actions[m.call].NeedsApproval {
		m.say(true, "call %d needs no decision: Tab chooses another", m.call+1)
		return
	}
	call := req.Actions[m.call]
	if withheld(call) { // what stays as it is must be sent as it is
		m.say(true, "some of its arguments are redacted: v shows them, then e edits")
		return
	}
	m.compose(&pending{req: req}, fmt.Sprintf("new arguments of %s", call.Tool), visibleJSON(call.Args), 10, func(p *pending, text string) error {
		if !json.Valid([]byte(text)) {
			return errors.New("this is no JSON: check quotes and commas")
		}
		p.choice = editChoice(req, m.call, json.RawMessage(text))
		p.lines = diff(call.Args, json.RawMessage(text))
		p.prompt = "approve it with these arguments?"
		return nil
	})
}

func (m *inboxScreen) answer(req client.Request) {
	switch req.ExpectedInput {
	case holdshort.SingleChoice, holdshort.MultiChoice:
		m.pending, m.mode = &pending{req: req, choice: client.Choice{Action: holdshort.Select}}, choosing
		m.chosen, m.chooseAt = make([]bool, len(req.Options)), 0
	case holdshort.YesNo:
		m.say(false, "a approves, r rejects, e edits")
	case holdshort.Form:
		m.compose(&pending{req: req}, "the form's fields as JSON", blank(req.Schema), 8, func(p *pending, text string) error {
			if !json.Valid([]byte(text)) {
				return errors.New("this is no JSON: check quotes and commas")
			}
			p.choice = client.Choice{Action: holdshort.Answer, Value: json.RawMessage(text)}
			p.prompt = "send this answer?"
			p.lines = strings.Split(visibleJSON(p.choice.Value), "\n")
			return nil
		})
	default:
		m.compose(&pending{req: req}, "your answer", "", 5, func(p *pending, written string) error {
			if strings.TrimSpace(written) == "" {
				return errors.New("an answer is not empty")
			}
			p.choice = client.Choice{Action: holdshort.Answer, Value: text(written)}
			p.prompt = "send this answer?"
			p.lines = strings.Split(visible(written), "\n")
			return nil
		})
	}
}

// blank is a form with its fields and nothing in them.
func blank(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Type    any               `json:"type"`
			Enum    []json.RawMessage `json:"enum"`
			Default json.RawMessage   `json:"default"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return "{}"
	}
	fields := map[string]json.RawMessage{}
	for name, p := range s.Properties {
		switch {
		case len(p.Default) > 0:
			fields[name] = p.Default
		case len(p.Enum) > 0:
			fields[name] = p.Enum[0]
		case p.Type == "string":
			fields[name] = json.RawMessage(`""`)
		case p.Type == "boolean":
			fields[name] = json.RawMessage("false")
		default:
			fields[name] = json.RawMessage("null")
		}
	}
	raw, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return "{}"
	}
	return string(raw)
}

func (m *inboxScreen) pressSure(key string) tea.Cmd {
	switch key {
	case "y", "Y":
		p := m.pending
		m.leave()
		m.say(false, "sending …")
		return m.send(p)
	case "n", "N", "esc", "q":
		m.leave()
		m.say(false, "nothing was sent")
	case "pgdown", "space":
		m.scroll += max(m.detailHeight()-1, 1)
	case "pgup", "b":
		m.scroll = max(m.scroll-max(m.detailHeight()-1, 1), 0)
	}
	return nil
}

// send decides what was on the screen, and only that.
func (m *inboxScreen) send(p *pending) tea.Cmd {
	p.choice.Fingerprint, p.choice.Key = p.req.Fingerprint, client.NewKey()
	return func() tea.Msg {
		if p.cancel {
			decided, err := m.desk.CancelRequest(m.ctx, p.req.ID, p.choice.Message)
			return decidedMsg{decided, err}
		}
		decided, err := m.desk.Decide(m.ctx, p.req.ID, p.choice)
		return decidedMsg{decided, err}
	}
}

func (m *inboxScreen) pressWriting(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "esc":
		m.leave()
		m.say(false, "nothing was sent")
		return nil
	case "ctrl+s":
		m.written()
		return nil
	case "enter":
		if !m.input.many {
			m.written()
			return nil
		}
	}
	m.input.press(key)
	return nil
}

func (m *inboxScreen) written() {
	if err := m.pending.parse(strings.TrimSpace(m.input.value())); err != nil {
		m.say(true, "%s", err.Error())
		return
	}
	m.say(false, "")
	m.scroll, m.mode = 0, sure
}

func (m *inboxScreen) pressChoosing(key string) tea.Cmd {
	options := m.pending.req.Options
	one := m.pending.req.ExpectedInput == holdshort.SingleChoice
	switch {
	case key == "esc" || key == "q":
		m.leave()
		m.say(false, "nothing was sent")
	case key == "up" || key == "k":
		m.chooseAt = max(m.chooseAt-1, 0)
	case key == "down" || key == "j":
		m.chooseAt = min(m.chooseAt+1, len(options)-1)
	case key == "space" || len(key) == 1 && key >= "1" && key <= "9" && int(key[0]-'1') < len(options):
		if key != "space" {
			m.chooseAt = int(key[0] - '1')
		}
		m.chosen[m.chooseAt] = !m.chosen[m.chooseAt]
		if one {
			for i := range m.chosen {
				m.chosen[i] = i == m.chooseAt
			}
		}
	case key == "enter":
		m.choose(options, one)
	}
	return nil
}

func (m *inboxScreen) choose(options []holdshort.Option, one bool) {
	if one && !slices.Contains(m.chosen, true) && len(options) > 0 {
		m.chosen[m.chooseAt] = true
	}
	var ids, labels []string
	for i, o := range options {
		if m.chosen[i] {
			ids, labels = append(ids, o.ID), append(labels, oneLine(o.Label))
		}
	}
	if len(ids) == 0 {
		m.say(true, "choose something first: Space marks it")
		return
	}
	m.pending.choice.OptionIDs = ids
	m.pending.prompt, m.pending.lines = "send this choice?", labels
	m.scroll, m.mode = 0, sure
}
