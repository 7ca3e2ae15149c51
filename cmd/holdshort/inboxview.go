package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdshort/holdshort"
)

// View implements tea.Model.
func (m *inboxScreen) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen, v.WindowTitle = true, "holdshort inbox"
	return v
}

func (m *inboxScreen) paint(s lipgloss.Style, text string) string {
	if !m.colour {
		return text
	}
	return s.Render(text)
}

var (
	bold     = lipgloss.NewStyle().Bold(true)
	faint    = lipgloss.NewStyle().Faint(true)
	reversed = lipgloss.NewStyle().Reverse(true)
	red      = lipgloss.NewStyle().Foreground(lipgloss.Color("9"))
	green    = lipgloss.NewStyle().Foreground(lipgloss.Color("10"))
)

// listHeight is a third of the screen, or less if there is less to show.
func (m *inboxScreen) listHeight() int { return max(min(len(m.items), m.height/3), 1) }

// detailHeight is what is left between the list and the last lines.
func (m *inboxScreen) detailHeight() int {
	return max(m.height-m.listHeight()-4-len(m.bottom()), 1)
}

// draw is the whole screen as lines.
func (m *inboxScreen) draw() string {
	lines := []string{m.head()}
	lines = append(lines, m.rows()...)
	lines = append(lines, m.paint(faint, strings.Repeat("─", m.width)))
	lines = append(lines, m.detail()...)
	lines = append(lines, m.paint(faint, strings.Repeat("─", m.width)))
	lines = append(lines, m.bottom()...)
	lines = append(lines, m.footer())
	return strings.Join(lines, "\n")
}

func (m *inboxScreen) head() string {
	state := "live"
	if !m.live {
		state = "not live"
	}
	return m.paint(bold, cut(fmt.Sprintf("holdshort inbox: %s open, %s", plural(int64(len(m.items)), "request"), state), m.width))
}

// rows are the part of the list around the selected request.
func (m *inboxScreen) rows() []string {
	n := m.listHeight()
	if len(m.items) == 0 {
		return []string{cut("  nothing waits for you", m.width)}
	}
	from := max(min(m.at-n/2, len(m.items)-n), 0)
	var lines []string
	for i := from; i < from+n && i < len(m.items); i++ {
		req, mark := m.items[i], "  "
		if i == m.at {
			mark = "> "
		}
		urgent := " "
		if req.Priority == holdshort.PriorityHigh || req.Priority == holdshort.PriorityCritical {
			urgent = "!"
		}
		line := cut(fmt.Sprintf("%s%s %-14s %6s  %s", mark, urgent, req.Kind, age(m.now().Sub(req.CreatedAt)), firstLine(req.Question)), m.width)
		if i == m.at {
			line = m.paint(reversed, pad(line, m.width))
		}
		lines = append(lines, line)
	}
	return lines
}

// detail is the part of the request, or of what is about to be sent, that fits.
func (m *inboxScreen) detail() []string {
	height := m.detailHeight()
	var all []string
	for _, line := range m.text() {
		all = append(all, wrap(line, m.width)...)
	}
	m.scroll = max(min(m.scroll, len(all)-height), 0)
	out := make([]string, 0, height)
	for i := m.scroll; i < len(all) && len(out) < height; i++ {
		out = append(out, m.tint(all[i]))
	}
	for len(out) < height {
		out = append(out, "")
	}
	if more := len(all) - m.scroll - height; more > 0 { // nobody approves what they have not seen without knowing it
		out[height-1] = m.paint(bold, cut(fmt.Sprintf("… %d more lines: Space", more+1), m.width))
	}
	return out
}

func (m *inboxScreen) tint(line string) string {
	switch {
	case m.pending == nil || m.mode != sure:
		return line
	case strings.HasPrefix(line, "- "):
		return m.paint(red, line)
	case strings.HasPrefix(line, "+ "):
		return m.paint(green, line)
	}
	return line
}

func (m *inboxScreen) text() []string {
	if m.mode == explained {
		return strings.Split(inboxHelp, "\n")
	}
	if m.pending != nil && m.pending.lines != nil && m.mode == sure {
		return m.pending.lines
	}
	if req := m.selected(); req != nil {
		return describe(*req, m.now())
	}
	return nil
}

const inboxHelp = `up/down, k/j     move through the list
Space, b         read on, read back
a                approve what is shown
r                reject, with a reason
e                edit the arguments, then approve; Tab chooses the call
Enter            answer: write, choose, or fill in
v                show redacted arguments; that you looked is noted
x                call the request off
Ctrl-R           load again
q, Esc           leave

Nothing is sent before you press y. A decision is bound to what was on the
screen: if the request changed meanwhile, it is refused.`

// bottom is the text field, the options, or nothing.
func (m *inboxScreen) bottom() []string {
	switch m.mode {
	case writing:
		return append([]string{m.paint(bold, cut(m.pending.prompt, m.width))}, m.input.lines(m.width)...)
	case choosing:
		lines := []string{m.paint(bold, cut("choose", m.width))}
		for i, o := range m.pending.req.Options {
			at, box := "  ", "[ ]"
			if i == m.chooseAt {
				at = "> "
			}
			if m.chosen[i] {
				box = "[x]"
			}
			lines = append(lines, cut(fmt.Sprintf("%s%s %d. %s", at, box, i+1, oneLine(o.Label)), m.width))
		}
		return lines
	}
	return nil
}

func (m *inboxScreen) footer() string {
	switch m.mode {
	case sure:
		return m.paint(bold, cut(m.pending.prompt+"  y: yes  n: no", m.width))
	case writing:
		done := "Enter: done  Esc: leave"
		if m.input.many {
			done = "Ctrl-S: done  Esc: leave"
		}
		return m.withNote(done)
	case choosing:
		return m.withNote("Space: mark  Enter: done  Esc: leave")
	}
	return m.withNote("a approve  r reject  e edit  Enter answer  ? keys  q leave")
}

func (m *inboxScreen) withNote(keys string) string {
	if m.note == "" {
		return m.paint(faint, cut(keys, m.width))
	}
	if m.bad {
		return m.paint(red, cut(m.note, m.width))
	}
	return cut(m.note, m.width)
}

// cut keeps a line to the screen's width.
func cut(line string, width int) string {
	if lipgloss.Width(line) <= width {
		return line
	}
	parts := wrap(line, width-1)
	return parts[0] + "…"
}

func pad(line string, width int) string {
	return line + strings.Repeat(" ", max(width-lipgloss.Width(line), 0))
}

// wrap breaks a line where the screen ends; nothing of it is lost.
func wrap(line string, width int) []string {
	if lipgloss.Width(line) <= width {
		return []string{line}
	}
	var lines []string
	var b strings.Builder
	used := 0
	for _, r := range line {
		w := lipgloss.Width(string(r))
		if used+w > width && used > 0 {
			lines = append(lines, b.String())
			b.Reset()
			used = 0
		}
		b.WriteRune(r)
		used += w
	}
	return append(lines, b.String())
}
