package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdshort/holdshort"
)

// press is every key that is pressed.
func (m *chatScreen) press(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+d":
		if len(m.input.text) == 0 {
			return tea.Quit
		}
		m.input.press(key)
	case "esc":
		m.input = newField("", 5, false)
	case "enter", "ctrl+j": // what was typed before the terminal was ours comes with the other line end
		return m.submit()
	case "alt+enter", "shift+enter":
		m.input.insert("\n")
	case "up":
		m.write(func() { m.recall(-1) })
	case "down":
		m.write(func() { m.recall(1) })
	default:
		m.write(func() { m.input.press(key) })
	}
	return nil
}

// write changes the line, and notes when it was begun.
func (m *chatScreen) write(change func()) {
	if len(m.input.text) == 0 {
		m.wroteAt = m.c.now()
	}
	change()
}

// recall brings a line back that was typed before.
func (m *chatScreen) recall(by int) {
	to := m.pastAt + by
	if to < 0 || to > len(m.past) {
		return
	}
	m.pastAt = to
	text := ""
	if to < len(m.past) {
		text = m.past[to]
	}
	m.input = newField(text, 5, false)
}

// draw is the part of the screen that lives, and where the cursor stands in it.
func (m *chatScreen) draw() (lines []string, row, column int) {
	typed, at, column := m.prompt()
	if m.stream.text != "" {
		lines = append(m.t.speak(cyan, m.t.agent, visible(m.stream.text)), "")
		if room := max(m.height-len(typed)-3, 1); len(lines) > room { // the end is what is being read
			lines = lines[len(lines)-room:]
		}
	}
	if status := m.status(); status != "" {
		lines = append(lines, m.t.paint(faint, cut(status, m.width-1)))
	}
	return append(lines, typed...), len(lines) + at, column
}

// status says in one line how things stand.
func (m *chatScreen) status() string {
	waiting := m.c.waiting()
	switch {
	case m.away != nil:
		return oneLine(heardShort(m.away)) + "; trying again …"
	case len(m.deeds) > 0:
		return "sending …"
	case len(waiting) == 1 && m.c.may(waiting[0]):
		return fmt.Sprintf("%s waits for you: %s", handle(waiting[0]), whatToType(waiting[0], ""))
	case len(waiting) == 1:
		return fmt.Sprintf("%s waits for %s", handle(waiting[0]), oneLine(audience(waiting[0])))
	case len(waiting) > 1:
		names := make([]string, len(waiting))
		for i, req := range waiting {
			names[i] = handle(req)
		}
		return "several things wait: " + strings.Join(names, ", ")
	case m.c.busy() && m.stream.text == "":
		return m.t.agent + " is at work …"
	case m.c.session.Mode == holdshort.ModeTakeover:
		return "a person has taken this conversation over"
	}
	return ""
}

// heardShort is what is wrong, without advice.
func heardShort(err error) string {
	text, _, _ := strings.Cut(heard(err), " (")
	return text
}

// prompt is the line that is being typed, and where the cursor stands in it.
func (m *chatScreen) prompt() (lines []string, row, column int) {
	const edge = "> "
	room := max(m.width-len(edge)-1, 8)
	at := 0
	for part := range strings.SplitSeq(string(m.input.text), "\n") {
		for _, line := range wrap(part, room) {
			if n := len([]rune(line)); m.input.at >= at {
				before := []rune(line)[:min(m.input.at-at, n)]
				row, column = len(lines), len(edge)+lipgloss.Width(string(before))
				at += n
			}
			head := strings.Repeat(" ", len(edge))
			if len(lines) == 0 {
				head = edge
			}
			lines = append(lines, head+line)
		}
		at++ // the end of the line
	}
	from := max(min(row-m.input.height/2, len(lines)-m.input.height), 0)
	return lines[from:min(from+m.input.height, len(lines))], row - from, column
}
