package main

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
)

// canvas draws on a terminal that scrolls: lines that are done go up and belong to the terminal, the last few are drawn anew each time.
type canvas struct {
	w    io.Writer
	size func() (width, height int)
	up   []int  // how wide the drawn lines are that stand above the cursor; its own, up to it, is the last
	last string // what was drawn
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
	if up := c.rows(); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
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
	c.up = c.up[:0]
	for _, line := range living[:row] {
		c.up = append(c.up, lipgloss.Width(line))
	}
	c.up = append(c.up, column)
	_, err := io.WriteString(c.w, b.String())
	return err
}

// rows is how many rows of the terminal stand above the cursor: one that became narrower has broken the lines.
func (c *canvas) rows() int {
	width, _ := c.size()
	rows := 0
	for i, wide := range c.up {
		if last := i == len(c.up)-1; last {
			rows += wide / max(width, 1)
		} else {
			rows += max((wide+width-1)/max(width, 1), 1)
		}
	}
	return rows
}
