package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// teller makes lines of what happens in a conversation.
type teller struct {
	c      *conversation
	agent  string // who answers
	colour bool
	width  int // 0: lines are as long as they are
	now    func() time.Time
}

func newTeller(c *conversation, session client.Session, colour bool) *teller {
	return &teller{c: c, agent: oneLine(cmp.Or(session.Agent, session.Flow, "agent")), colour: colour, now: time.Now}
}

func (t *teller) paint(s lipgloss.Style, text string) string {
	if !t.colour || text == "" {
		return text
	}
	return s.Render(text)
}

var (
	cyan   = lipgloss.NewStyle().Foreground(lipgloss.Color("6")).Bold(true)
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
)

// tell gives the lines of one happening; none if nothing is to be said.
func (t *teller) tell(h happening) []string {
	switch {
	case h.message != nil:
		return t.message(*h.message)
	case h.opened != nil:
		return t.card(*h.opened)
	case h.voted != nil:
		v := h.voted.Votes[len(h.voted.Votes)-1]
		return t.note(green, fmt.Sprintf("%s %s by %s%s: %d of %d", handle(*h.voted), v.Action, t.name(v.Actor), said(v.Message), len(h.voted.Votes), h.voted.Audience.Needed()))
	case h.closed != nil:
		return t.verdict(*h.closed, h.missed)
	case h.unseen != "":
		return t.note(yellow, "somebody else is asked something that you may not see: "+string(h.unseen))
	case h.ended != nil:
		return t.end(*h.ended)
	}
	return nil
}

// name of somebody, as whoever reads it would say it.
func (t *teller) name(a holdshort.Actor) string {
	if a.Same(t.c.me.Actor) {
		return "you"
	}
	return oneLine(a.Who())
}

func (t *teller) message(m holdshort.Message) []string {
	text := visible(written(m))
	switch {
	case m.Role == holdshort.RoleUser && (m.Author == "" && t.c.session.User == t.c.me.Actor.Who() || m.Author == t.c.me.Actor.ID):
		return t.speak(bold, "you", text)
	case m.Role == holdshort.RoleUser:
		return t.speak(bold, oneLine(cmp.Or(m.Author, t.c.session.User)), text)
	case m.Type == noteOfResults:
		return t.used(m)
	case m.Author != "":
		return t.speak(cyan, oneLine(m.Author), text) // a person who took over
	case m.Type == holdshort.TypeNotice:
		return t.note(yellow, text)
	}
	return t.speak(cyan, t.agent, text)
}

// used tells which tools an agent used, and what became of it.
func (t *teller) used(m holdshort.Message) []string {
	var notes []struct {
		Tool    string `json:"tool"`
		Outcome string `json:"outcome"`
	}
	if len(m.Parts) == 0 || json.Unmarshal(m.Parts[0].Data, &notes) != nil {
		return nil
	}
	words := make([]string, len(notes))
	for i, n := range notes {
		words[i] = oneLine(n.Tool) + ": " + oneLine(strings.ReplaceAll(n.Outcome, "_", " "))
	}
	return t.note(faint, strings.Join(words, ", "))
}

// speak is a text behind the name of who says it, lines under lines.
func (t *teller) speak(style lipgloss.Style, name, text string) []string {
	column := max(lipgloss.Width(t.agent), 3) + 2
	gap := strings.Repeat(" ", max(column-lipgloss.Width(name), 1))
	lines := t.fold(visible(text), column)
	for i := range lines {
		if i == 0 {
			lines[i] = t.paint(style, name) + gap + lines[i]
		} else if lines[i] != "" {
			lines[i] = strings.Repeat(" ", column) + lines[i]
		}
	}
	return lines
}

// note is a line about the conversation rather than of it.
func (t *teller) note(style lipgloss.Style, text string) []string {
	lines := t.fold(visible(text), 2)
	for i := range lines {
		lines[i] = t.paint(style, or(lines[i], "· ")+lines[i])
		if i > 0 {
			lines[i] = strings.Replace(lines[i], "· ", "  ", 1)
		}
	}
	return lines
}

func (t *teller) card(req client.Request) []string {
	var lines []string
	for _, line := range card(req, t.c.whyNot(req), t.now()) {
		edge, rest := line[:len("│")], line[len("│"):]
		parts := t.parts(rest, 5)
		if edge == "└" {
			parts = t.fold(rest, 5)
		}
		for i, part := range parts {
			switch {
			case i > 0 && edge == "└":
				part = t.paint(yellow, "  "+part)
			case i > 0:
				part = t.paint(yellow, "│") + "   " + part
			case edge == "└" || edge == "┌":
				part = t.paint(yellow, edge+part)
			default:
				part = t.paint(yellow, edge) + part
			}
			lines = append(lines, part)
		}
	}
	return lines
}

func (t *teller) verdict(req client.Request, missed bool) []string {
	style := green
	if req.Outcome == holdshort.Rejected || req.Status != holdshort.RequestResolved {
		style = red
	}
	var lines []string
	for i, line := range verdictOn(req, t.c.me.Actor, missed) {
		if i == 0 {
			lines = append(lines, t.note(style, line)...)
			continue
		}
		kind := faint
		switch {
		case strings.HasPrefix(line, "- "):
			kind = red
		case strings.HasPrefix(line, "+ "):
			kind = green
		}
		for _, part := range t.parts(line, 5) {
			lines = append(lines, "    "+t.paint(kind, part))
		}
	}
	return lines
}

// parts breaks a line at the end of the screen and loses nothing of it.
func (t *teller) parts(line string, margin int) []string {
	if t.width <= 0 {
		return []string{line}
	}
	return wrap(line, max(t.width-margin, 10))
}

// end tells of a run that is over only what its answer did not.
func (t *teller) end(run client.Run) []string {
	switch {
	case run.Held != nil:
		return t.note(red, fmt.Sprintf("the run is held: %s. /why says more", run.Held.Code))
	case run.Status == holdshort.RunFailed && run.Error != nil:
		return t.note(red, "the run failed: "+oneLine(run.Error.Message))
	case run.Status != holdshort.RunCompleted:
		return t.note(red, "the run is "+string(run.Status))
	case !t.c.spoke[run.ID] && len(run.Result) > 0 && string(run.Result) != "null":
		return t.speak(cyan, t.agent, visible(plainText(run.Result)))
	case !t.c.spoke[run.ID]:
		return t.note(faint, "done")
	}
	return nil
}

// fold breaks text into lines that fit behind so many columns, between words where it can.
func (t *teller) fold(text string, column int) []string {
	lines := strings.Split(text, "\n")
	if t.width <= 0 {
		return lines
	}
	room := max(t.width-column-1, 10)
	var out []string
	for _, line := range lines {
		for lipgloss.Width(line) > room {
			part := wrap(line, room)[0]
			if at := strings.LastIndexByte(part, ' '); at > len(part)/3 && len(part) < len(line) && line[len(part)] != ' ' {
				part = part[:at+1]
			}
			out = append(out, strings.TrimRight(part, " "))
			line = strings.TrimLeft(line[len(part):], " ")
		}
		out = append(out, line)
	}
	return out
}
