package repair

import (
	"errors"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

const (
	shownValue = 60 // characters of a value in a message
	shownField = 64
)

// Message is what to ask the person about a call that failed with f, one line each: what they had asked for, the field and its value, up to Shown values that it
// may have, or what the other side said where there is no list of them, and the question.
func Message(f tool.Fault, asked, language string) string {
	c := in(language)
	field := shorten(f.Field, shownField)
	var lines []string
	if asked = shorten(asked, MaxLine); asked != "" {
		lines = append(lines, c.say(sayAsked, "{asked}", asked))
	}
	value, err := canonical(f.Value)
	text := shorten(plainText(value), shownValue)
	switch {
	case field == "":
		lines = append(lines, c.say(sayBroken))
	case err != nil || text == "" || text == "null":
		lines = append(lines, c.say(sayMissing, "{field}", field))
	default:
		lines = append(lines, c.say(sayRefused, "{field}", field, "{value}", text))
	}
	if values := shown(f); values != "" {
		lines = append(lines, c.say(sayValues, "{values}", values))
	} else if said := shorten(f.Message, MaxLine); said != "" {
		lines = append(lines, c.say(sayOther, "{message}", said))
	}
	if field == "" {
		lines = append(lines, c.say(sayWhich))
	} else {
		lines = append(lines, c.say(sayWhat, "{field}", field))
	}
	return strings.Join(lines, "\n")
}

// shown lists the first values, in the order in which a position counts.
func shown(f tool.Fault) string {
	var values []string
	for _, raw := range f.Allowed {
		if v, ok := valueOf(raw); ok {
			if len(values) == Shown {
				return strings.Join(values, ", ") + ", …"
			}
			values = append(values, shorten(v.text, shownValue))
		}
	}
	return strings.Join(values, ", ")
}

// Again is what to ask after a reply that gave no patch: why, in the person's language, or a model's question, and the message. Pass the original message every
// time, so that prefixes never pile up. After Canceled there is nothing to ask: it is the farewell alone.
func Again(err error, message, language string) string {
	reason, why := ReasonOf(err), ""
	var e *holdshort.Error
	if errors.As(err, &e) {
		why = strings.ReplaceAll(in(language).again[reason], "{field}", shorten(e.Field, shownField))
		var asked question
		if errors.As(err, &asked) {
			why = asked.text
		}
	}
	switch {
	case reason == Canceled:
		return why
	case why == "" || message == "":
		return why + message
	}
	return why + "\n\n" + message
}
