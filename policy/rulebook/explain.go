package rulebook

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	noOverload = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '([^']*)'`)
	wantedType = regexp.MustCompile(`^expected type '([^']*)' but found '([^']*)'`)
	unexpected = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*)' expecting `)
	unreadable = regexp.MustCompile(`^token recognition error at: '(.*)'`)
	badValue   = regexp.MustCompile(`^invalid (\w+) (argument|literal)`)
	operator   = strings.NewReplacer("_", "", "@", "", "[]", "[…]", "?:", "? :")
)

// explain says in plain words what CEL found.
func explain(message string) (plain, hint string) {
	message = strings.TrimPrefix(message, "Syntax error: ")
	if m := undeclared.FindStringSubmatch(message); m != nil {
		return unknownName(m[1])
	}
	if m := noOverload.FindStringSubmatch(message); m != nil {
		hint = "compare texts with texts and numbers with numbers"
		if strings.Contains(m[2], "double") && strings.Contains(m[2], "int") {
			hint = "write 2.0 beside a fraction, or double(…) around a whole number"
		}
		return fmt.Sprintf("%s cannot be used with %s", operator.Replace(m[1]), m[2]), hint
	}
	if m := wantedType.FindStringSubmatch(message); m != nil {
		if m[1] == "bool" && m[2] == "string" {
			hint = `write out both sides: tool == "a" || tool == "b", or tool in ["a", "b"]`
		}
		return fmt.Sprintf("want %s, found %s", m[1], m[2]), hint
	}
	if m := badValue.FindStringSubmatch(message); m != nil {
		return badArgument(m[1])
	}
	switch {
	case strings.HasPrefix(message, "expression recursion limit"), strings.Contains(message, "nesting depth"):
		return "it is nested too deeply", "write it as several rules"
	case strings.HasPrefix(message, "expression code point size"):
		return "it is too long", "write it as several rules"
	case strings.HasPrefix(message, "comprehension exceeds nesting limit"):
		return "loops within loops within loops: it would cost too much", "write fewer of all, exists, map and filter within one another"
	}
	return brokenText(message)
}

func unknownName(name string) (plain, hint string) {
	plain = fmt.Sprintf("%q is not known", name)
	known := make([]string, 0, len(Variables))
	for _, v := range Variables {
		known = append(known, v.Name)
	}
	switch near := nearest(name, known); {
	case strings.HasPrefix(name, "hints"):
		return plain, "write hints.read_only, hints.destructive or hints.trusted"
	case near != "":
		return plain, fmt.Sprintf("did you mean %s?", near)
	}
	return plain, fmt.Sprintf("an argument is written args.%s, a text in quotes; known: %s", name, strings.Join(known, ", "))
}

func badArgument(what string) (plain, hint string) {
	switch what {
	case "matches":
		return "the pattern cannot be read", "write an RE2 regular expression; a backslash in quotes is written twice"
	case "duration":
		return "the duration cannot be read", `write duration("90m") or duration("36h")`
	case "timestamp":
		return "the time cannot be read", `write timestamp("2026-01-31T09:00:00Z")`
	}
	return fmt.Sprintf("this is no %s", what), "write a smaller number"
}

// brokenText is for what cannot be read at all.
func brokenText(message string) (plain, hint string) {
	text := ""
	if m := unexpected.FindStringSubmatch(message); m != nil {
		text = m[1]
	} else if m := unreadable.FindStringSubmatch(message); m != nil {
		text = m[1]
	} else {
		return message, ""
	}
	switch word := strings.TrimSpace(text); {
	case word == "<EOF>":
		return "it ends too early", "something is missing after the last word"
	case word == "and", word == "or":
		return fmt.Sprintf("%q cannot stand here", word), "write && for and, || for or"
	case strings.HasPrefix(word, "="):
		return `"=" cannot stand here`, "compare with =="
	case strings.HasPrefix(word, `"`), strings.HasPrefix(word, "'"):
		return fmt.Sprintf("%s cannot stand here", word), "check the quotes"
	default:
		return fmt.Sprintf("%q cannot stand here", word), "write && for and, || for or, ! for not"
	}
}

// nearest finds the known word that name was probably meant to be: one letter off, or two letters swapped.
func nearest(name string, known []string) string {
	for _, k := range known {
		if len(name) > 2 && closeTo(name, k) {
			return k
		}
	}
	return ""
}

func closeTo(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i == len(a) || a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
