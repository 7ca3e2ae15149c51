package main

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// maxWritten of a text field, in characters.
const maxWritten = 64 << 10

// textField is text that is being written, in lines, with a cursor.
type textField struct {
	text   []rune
	at     int // the cursor stands before this character
	height int
	many   bool // Enter begins a new line; else it ends the text
}

func newField(text string, height int, many bool) textField {
	runes := []rune(text)
	return textField{text: runes, at: len(runes), height: height, many: many}
}

func (f *textField) value() string { return string(f.text) }

// insert puts text in at the cursor. What cannot be seen is left out: nobody writes it on purpose.
func (f *textField) insert(text string) {
	add := []rune(strings.Map(func(r rune) rune {
		if r == '\r' || r == '\t' {
			return ' '
		}
		if r != '\n' && hides(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n")))
	add = add[:min(len(add), max(maxWritten-len(f.text), 0))]
	f.text = slices.Insert(f.text, f.at, add...)
	f.at += len(add)
}

func (f *textField) remove(from, to int) {
	f.text = slices.Delete(f.text, from, to)
	f.at = from
}

// lineStart and lineEnd are the borders of the line that holds i.
func (f *textField) lineStart(i int) int {
	for i > 0 && f.text[i-1] != '\n' {
		i--
	}
	return i
}

func (f *textField) lineEnd(i int) int {
	for i < len(f.text) && f.text[i] != '\n' {
		i++
	}
	return i
}

// press takes a key.
func (f *textField) press(key tea.KeyPressMsg) {
	start, end := f.lineStart(f.at), f.lineEnd(f.at)
	switch key.String() {
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.text))
	case "home", "ctrl+a":
		f.at = start
	case "end", "ctrl+e":
		f.at = end
	case "up":
		if start > 0 {
			before := f.lineStart(start - 1)
			f.at = min(before+f.at-start, start-1)
		}
	case "down":
		if end < len(f.text) {
			f.at = min(end+1+f.at-start, f.lineEnd(end+1))
		}
	case "backspace", "ctrl+h":
		if f.at > 0 {
			f.remove(f.at-1, f.at)
		}
	case "delete", "ctrl+d":
		if f.at < len(f.text) {
			f.remove(f.at, f.at+1)
			return
		}
	case "ctrl+k":
		f.remove(f.at, end)
	case "ctrl+u":
		f.remove(start, f.at)
	case "enter":
		f.insert("\n")
	default:
		f.insert(key.Text)
	}
}

// lines are the part of the text around the cursor, which is shown as a block.
func (f *textField) lines(width int) []string {
	text := string(f.text[:f.at]) + "█" + string(f.text[f.at:])
	var all []string
	cursor := 0
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range wrap(line, max(width-2, 1)) {
			if strings.Contains(part, "█") {
				cursor = len(all)
			}
			all = append(all, "┃ "+part)
		}
	}
	from := max(min(cursor-f.height/2, len(all)-f.height), 0)
	return all[from:min(from+f.height, len(all))]
}
