package repair

import (
	"encoding/json"
	"strings"
)

const shownChange = 200 // characters of a value that somebody agrees to

// Confirm is the question that shows what a model proposes before it counts: one line for each field, and whether to go on.
func Confirm(changes []Change, language string) string {
	c := in(language)
	lines := []string{c.say(sayChanges)}
	for _, one := range changes {
		lines = append(lines, shorten(one.Field, shownField)+": "+c.shown(one.Before)+" → "+c.shown(one.After))
	}
	return strings.Join(append(lines, c.say(saySure)), "\n")
}

func (c *catalogueTexts) shown(raw json.RawMessage) string {
	if len(raw) == 0 {
		return c.say(sayNothing)
	}
	if text := shorten(plainText(raw), shownChange); text != "" {
		return text
	}
	return string(raw)
}
