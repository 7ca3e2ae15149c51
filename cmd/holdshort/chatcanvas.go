package main

import (
	"fmt"
	"io"
	"strings"
)

// canvas draws on a terminal that scrolls: lines that are done go up and belong to the terminal, the last few are drawn anew each time.
type canvas struct {
	w    io.Writer
	size func() (width, height int)
	up   int    // how many drawn lines stand above the one with the cursor
	last string // what was drawn below them
}

const (
	holdDrawing = "\x1b[?2026h" // terminals that know it show what follows at once
	showDrawing = "\x1b[?2026l"
	eraseBelow  = "\x1b[J"
	pasteMarks  = "\x1b[?2004h"
	pasteBare   = "\x1b[?2004l"
)

// paint prints lines for good and draws the living ones below, with the cursor in one of them. No line may be wider than the terminal.
func (c *canvas) paint(done, living []string, row, column int) error {
	now := fmt.Sprint(row, column, "\n", strings.Join(living, "\n"))
	if len(done) == 0 && now == c.last {
		return nil
	}
	c.last = now
	var b strings.Builder
	b.WriteString(holdDrawing + "\r")
	if c.up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", c.up)
	}
	b.WriteString(eraseBelow)
	for _, line := range done {
		b.WriteString(line + "\r\n")
	}
	b.WriteString(strings.Join(living, "\r\n"))
	if up := len(living) - 1 - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", column)
	}
	b.WriteString(showDrawing)
	c.up = row
	_, err := io.WriteString(c.w, b.String())
	return err
}
