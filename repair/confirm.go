package repair

import "strings"

// Confirm is the question that shows what a model proposes before it counts.
func Confirm(changes []Change, language string) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.Field + ": " + string(c.Before) + " → " + string(c.After) + "\n")
	}
	return b.String()
}
