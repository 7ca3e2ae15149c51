package config

import (
	"fmt"
	"strings"
)

// expand replaces ${NAME} and ${NAME:-default} by the environment; $${ is a plain ${. It says whether it replaced anything.
func expand(text string, env func(string) (string, bool)) (string, bool, error) {
	if !strings.Contains(text, "${") {
		return text, false, nil
	}
	var b strings.Builder
	replaced := false
	for rest := text; ; {
		i := strings.Index(rest, "${")
		if i < 0 {
			b.WriteString(rest)
			return b.String(), replaced, nil
		}
		if i > 0 && rest[i-1] == '$' {
			b.WriteString(rest[:i-1] + "${")
			rest = rest[i+2:]
			continue
		}
		b.WriteString(rest[:i])
		inner, after, closed := strings.Cut(rest[i+2:], "}")
		if !closed {
			return "", false, fmt.Errorf("${ is not closed")
		}
		name, fallback, hasFallback := strings.Cut(inner, ":-")
		if !isName(name) {
			return "", false, fmt.Errorf("%q is no name of an environment variable", name)
		}
		value, set := env(name)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !set:
			return "", false, fmt.Errorf("the environment variable %s is not set", name)
		}
		b.WriteString(value)
		replaced, rest = true, after
	}
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
