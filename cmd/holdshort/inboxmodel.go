package main

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// desk is the server as the inbox needs it.
type desk interface {
	lister
	Decide(ctx context.Context, req holdshort.RequestID, in client.Choice) (client.Decided, error)
	Reveal(ctx context.Context, req holdshort.RequestID) (client.Request, error)
	CancelRequest(ctx context.Context, req holdshort.RequestID, reason string) (client.Decided, error)
}

// What arrives from outside.
type (
	loadedMsg struct {
		items []client.Request
		err   error
	}
	decidedMsg struct {
		decided client.Decided
		err     error
	}
	revealedMsg struct {
		req client.Request
		err error
	}
	changedMsg   struct{}
	connectedMsg bool
	brokenMsg    struct{ err error }
	minuteMsg    time.Time
)

// mode is what the keyboard does.
type mode int

const (
	browsing  mode = iota
	sure           // y sends what is pending
	writing        // the text field has the keys
	choosing       // the options have the keys
	explained      // the help is shown
)

// inboxScreen is the model of the terminal's inbox: state and what keys make of it. It never acts on anything but what it shows: a decision carries
// the fingerprint of the request that was on the screen.
type inboxScreen struct {
	ctx    context.Context
	desk   desk
	find   client.Find
	most   int
	now    func() time.Time
	colour bool

	width, height int
	items         []client.Request
	at            int
	scroll        int
	call          int // which call e edits
	mode          mode
	pending       *pending
	input         textField
	chosen        []bool
	chooseAt      int
	note          string
	bad           bool
	loading       bool
	again         bool // something changed while the list was loading
	live          bool
}

// pending is what is about to be sent, once the person says so.
type pending struct {
	req    client.Request
	choice client.Choice
	prompt string
	lines  []string // shown instead of the request: a diff
	parse  func(text string) error
	cancel bool
}

func newInbox(ctx context.Context, d desk, f client.Find, most int) *inboxScreen {
	return &inboxScreen{ctx: ctx, desk: d, find: f, most: most, now: time.Now, width: 80, height: 24}
}

// Init implements tea.Model.
func (m *inboxScreen) Init() tea.Cmd { return tea.Batch(m.load(), m.minute()) }

func (m *inboxScreen) minute() tea.Cmd {
	return tea.Every(time.Minute, func(t time.Time) tea.Msg { return minuteMsg(t) })
}

func (m *inboxScreen) load() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading = true
	return func() tea.Msg {
		items, err := gather(m.ctx, m.desk, m.find, m.most)
		return loadedMsg{items, err}
	}
}

// Update implements tea.Model.
func (m *inboxScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 8)
	case loadedMsg:
		return m, m.loaded(msg)
	case changedMsg:
		return m, m.load()
	case connectedMsg:
		m.live = bool(msg)
		return m, m.load() // what happened while nobody listened
	case brokenMsg:
		m.live = false
		m.say(true, "no live updates: %s", heard(msg.err))
	case decidedMsg:
		m.decided(msg)
		return m, m.load()
	case revealedMsg:
		m.revealed(msg)
	case minuteMsg:
		return m, tea.Batch(m.minute(), m.load())
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		if m.mode == writing {
			m.input.insert(msg.Content)
		}
	}
	return m, nil
}

// loaded puts a new list in place without moving what the person looks at.
func (m *inboxScreen) loaded(msg loadedMsg) tea.Cmd {
	m.loading = false
	if m.again {
		m.again = false
		defer func() { m.loading = true }()
		return func() tea.Msg {
			items, err := gather(m.ctx, m.desk, m.find, m.most)
			return loadedMsg{items, err}
		}
	}
	if msg.err != nil {
		m.say(true, "%s", heard(msg.err))
		return nil
	}
	before := m.selected()
	m.items = msg.items
	if before == nil {
		m.at = 0
		return nil
	}
	if i := slices.IndexFunc(m.items, func(r client.Request) bool { return r.ID == before.ID }); i >= 0 {
		m.at = i
		return nil
	}
	m.at = max(min(m.at, len(m.items)-1), 0)
	m.scroll, m.call = 0, 0
	if m.mode != browsing && m.mode != explained { // it was closed under the person's hands
		m.leave()
		m.say(true, "%s was closed by somebody else", before.ID)
	}
	return nil
}

func (m *inboxScreen) selected() *client.Request {
	if m.at < 0 || m.at >= len(m.items) {
		return nil
	}
	return &m.items[m.at]
}

// leave goes back to the list.
func (m *inboxScreen) leave() { m.mode, m.pending, m.chosen = browsing, nil, nil }

func (m *inboxScreen) decided(msg decidedMsg) {
	if msg.err != nil {
		m.say(true, "%s", heard(msg.err))
		return
	}
	req := msg.decided.Request
	switch {
	case req.Status == holdshort.RequestOpen:
		m.say(false, "your vote counts: %d of %d approvals", len(req.Votes), req.Audience.Needed())
	case msg.decided.Next != nil:
		m.say(false, "edited; %s asks more people", msg.decided.Next.ID)
	case req.Status == holdshort.RequestCanceled:
		m.say(false, "%s is canceled", req.ID)
	default:
		m.say(false, "%s is %s", req.ID, req.Outcome)
	}
}

func (m *inboxScreen) revealed(msg revealedMsg) {
	if msg.err != nil {
		m.say(true, "%s", heard(msg.err))
		return
	}
	for i := range m.items {
		if m.items[i].ID == msg.req.ID {
			m.items[i] = msg.req
		}
	}
	m.say(false, "all arguments are shown; that you looked is noted")
}
