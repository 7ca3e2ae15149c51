package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// What arrives at the screen from outside, besides what the inbox has.
type (
	glancedMsg struct {
		g   glance
		err error
	}
	doneMsg struct {
		d   *deed
		got result
	}
	awayMsg struct{ err error }
)

// chatScreen is a conversation on a terminal. What was said goes up into the terminal's own memory and stays; below it live the answer that is
// being made, one line about how things stand, and the line that is being typed.
type chatScreen struct {
	ctx    context.Context
	server counterpart
	c      *conversation
	t      *teller
	canvas canvas

	width, height int
	input         textField
	past          []string // lines that were typed
	pastAt        int
	wroteAt       time.Time // when the line was begun
	stream        answer
	queue         []string // lines that wait to be printed
	deeds         []*deed  // the first is under way
	looking       bool
	again         bool // something changed while somebody looked
	away          error
	deaf          bool  // there is no stream of events: it looks now and then
	fatal         error // why the conversation cannot go on
}

// answer is a text in the making.
type answer struct {
	message holdshort.MessageID
	attempt int
	text    string
}

func newChatScreen(ctx context.Context, server counterpart, c *conversation, t *teller, draw canvas) *chatScreen {
	m := &chatScreen{ctx: ctx, server: server, c: c, t: t, canvas: draw, input: newField("", 5, false)}
	m.measure()
	return m
}

// measure asks how large the terminal is now.
func (m *chatScreen) measure() {
	width, height := m.canvas.size()
	m.width, m.height = max(width, 20), max(height, 6)
	m.t.width = m.width
}

// Init implements tea.Model.
func (m *chatScreen) Init() tea.Cmd { return m.look() }

// View implements tea.Model. The canvas draws.
func (m *chatScreen) View() tea.View { return tea.View{} }

// look begins to look at the server, unless somebody does already.
func (m *chatScreen) look() tea.Cmd {
	if m.looking {
		m.again = true
		return nil
	}
	m.looking, m.again = true, false
	return func() tea.Msg {
		g, err := m.c.look(m.ctx)
		return glancedMsg{g, err}
	}
}

// Update implements tea.Model.
func (m *chatScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.measure()
	cmd := m.update(msg)
	done := m.queue
	m.queue = nil
	living, row, column := m.draw()
	if m.canvas.paint(done, living, row, column) != nil { // nobody sees it any more
		return m, tea.Quit
	}
	return m, cmd
}

func (m *chatScreen) update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case glancedMsg:
		cmd = m.glanced(msg)
	case changedMsg:
		cmd = m.look()
	case connectedMsg:
		m.away, m.stream = nil, answer{} // what was heard of an answer before it broke off is not all of it
		cmd = m.look()
	case awayMsg:
		m.away = msg.err
	case brokenMsg:
		if mayNot(msg.err) {
			m.fatal = msg.err
			return tea.Quit
		}
		m.deaf = true // it can still be looked at now and then
		return m.later()
	case client.Delta:
		m.delta(msg)
	case doneMsg:
		cmd = m.done(msg)
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.PasteMsg:
		m.write(func() { m.input.insert(msg.Content) })
	}
	return cmd
}

func (m *chatScreen) say(lines ...string) { m.queue = append(m.queue, lines...) }

func (m *chatScreen) glanced(msg glancedMsg) tea.Cmd {
	m.looking = false
	switch {
	case m.ctx.Err() != nil:
		return nil
	case absent(msg.err):
		m.away = msg.err
		return m.later()
	case msg.err != nil:
		m.fatal = msg.err
		return tea.Quit
	}
	m.away = nil
	first := !m.c.begun
	news := m.c.take(msg.g)
	shown := lastOf(news, first)
	if n := len(news) - len(shown); n > 0 {
		m.say(m.t.note(faint, fmt.Sprintf("%s before this", plural(int64(n), "message")))...)
	}
	for _, h := range shown {
		if h.message != nil && h.message.ID == m.stream.message {
			m.stream = answer{}
		}
		lines := m.t.tell(h)
		if len(lines) > 0 && (h.message == nil || h.message.Type != noteOfResults) {
			lines = append(lines, "")
		}
		m.say(lines...)
	}
	if !m.c.busy() {
		m.stream = answer{}
	}
	switch {
	case m.again:
		return m.look()
	case m.deaf:
		return m.later()
	}
	return nil
}

// later looks again in a while.
func (m *chatScreen) later() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return changedMsg{} })
}

// mayNot reports whether the server says that this is not for us, or not any more.
func mayNot(err error) bool {
	refused, ok := errors.AsType[*client.Refusal](err)
	return ok && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden || refused.Status == http.StatusNotFound)
}

// delta takes a piece of an answer. One that was told whole already is over.
func (m *chatScreen) delta(d client.Delta) {
	switch {
	case m.c.said[d.Message]:
	case d.Reset:
		m.stream = answer{message: d.Message, attempt: d.Attempt}
	case d.Message != m.stream.message || d.Attempt != m.stream.attempt:
		m.stream = answer{d.Message, d.Attempt, d.Text}
		if d.Seq > 1 { // its beginning was missed: the whole comes later
			m.stream.text = "… " + d.Text
		}
	default:
		m.stream.text += d.Text
	}
}

// begin sends the first of the deeds that wait. They go one after the other: what was typed first counts first.
func (m *chatScreen) begin(d *deed) tea.Cmd {
	return func() tea.Msg {
		var got result
		patiently(m.ctx, 0, func(error) {}, func() error { // the status line says that the server is away
			got = d.do(m.ctx, m.server, m.c.id)
			return got.err
		})
		return doneMsg{d, got}
	}
}

func (m *chatScreen) done(msg doneMsg) tea.Cmd {
	m.deeds = m.deeds[1:]
	if msg.got.err != nil && m.ctx.Err() == nil {
		m.say(append(m.t.note(red, sayError(msg.got.err)), "")...)
	}
	if msg.got.shown != nil {
		m.say(append(m.t.card(*msg.got.shown), "")...)
	}
	for _, note := range msg.got.notes {
		m.say(append(m.t.note(faint, oneLine(note)), "")...)
	}
	next := m.look()
	if len(m.deeds) > 0 {
		return tea.Batch(next, m.begin(m.deeds[0]))
	}
	return next
}

// submit does what the typed line says.
func (m *chatScreen) submit() tea.Cmd {
	typed := strings.TrimSpace(m.input.value())
	m.input = newField("", 5, false)
	if typed == "" {
		return nil
	}
	m.past = append(m.past, typed)
	m.pastAt = len(m.past)
	m.say(append(m.t.speak(bold, "you", visible(typed)), "")...)
	by := m.c.reader()
	by.hasty = func(req client.Request) bool { return m.c.hasty(req, m.wroteAt) }
	l, err := by.read(typed)
	if _, hasty := errors.AsType[*hastyError](err); hasty {
		m.input, m.wroteAt = newField(typed, 5, false), m.c.now()
	}
	switch {
	case err != nil:
		m.say(append(m.t.note(red, sayError(err)), "")...)
		return nil
	case l.wish == wishQuit:
		return tea.Quit
	case l.wish == wishHelp:
		m.say(append(strings.Split(chatHelp, "\n"), "")...)
		return nil
	case l.wish == wishShow && (l.req == nil || !m.c.reveals(*l.req)):
		m.show(l.req)
		return nil
	case l.req != nil && m.underWay(*l.req):
		m.say(append(m.t.note(yellow, "what you decided about "+handle(*l.req)+" is on its way"), "")...)
		return nil
	}
	d := m.c.deed(l)
	m.deeds = append(m.deeds, d)
	if len(m.deeds) > 1 {
		return nil
	}
	return m.begin(d)
}

// underWay reports whether a decision about a request has been sent and not been answered: a second one would only be refused.
func (m *chatScreen) underWay(req client.Request) bool {
	for _, d := range m.deeds {
		if d.req != nil && d.req.ID == req.ID && d.wish != wishShow {
			return true
		}
	}
	return false
}

func (m *chatScreen) show(req *client.Request) {
	list := m.c.waiting()
	if req != nil {
		list = []client.Request{*req}
	}
	for _, r := range list {
		m.say(append(m.t.card(r), "")...)
	}
	if len(list) == 0 {
		m.say(append(m.t.note(faint, "nothing is open"), "")...)
	}
}

// live talks on the terminal until the person leaves.
func (c *chatCommand) live(ctx context.Context, out *console, server *client.Client, talk *conversation, tell *teller) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newChatScreen(ctx, server, talk, tell, canvas{w: out, size: terminalSize})
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	fmt.Fprint(out, pasteMarks)
	m.say(m.t.note(faint, fmt.Sprintf("Talking to %s as %s. /help lists the commands, Ctrl-C leaves.", tell.agent, oneLine(talk.me.Actor.Who())))...)
	m.say("")
	defer func() {
		fmt.Fprint(out, pasteBare)
		term.Restore(int(os.Stdin.Fd()), before)
		m.farewell(out)
	}()
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(os.Stdin), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithoutSignalHandler())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		err := server.Watch(ctx, client.Watching{Session: talk.id, Connected: func() { p.Send(connectedMsg(true)) }, Lost: func(err error) { p.Send(awayMsg{err}) },
			Delta: func(d client.Delta) { p.Send(d) }}, func(holdshort.Event) error {
			p.Send(changedMsg{})
			return nil
		})
		if ctx.Err() == nil {
			p.Send(brokenMsg{err})
		}
	}()
	_, err = p.Run()
	cancel()
	<-watched
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, tea.ErrProgramKilled) {
		err = nil
	}
	if err == nil {
		err = m.fatal
	}
	return err
}

func terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 80, 24
	}
	return width, height
}

// farewell takes the living lines away and says what stays.
func (m *chatScreen) farewell(out *console) {
	m.canvas.paint(m.queue, []string{""}, 0, 0)
	for _, d := range m.deeds {
		if d.wish == wishSay {
			out.printf("not sent: %s\n", d.text)
		}
	}
	for _, req := range m.c.waiting() {
		out.printf("still open: %s, %s, for %s\n", handle(req), clip(firstLine(req.Question), 60), audience(req))
	}
	out.printf("Go on with: %s chat --session %s\n", calledAs(), string(m.c.id))
}
