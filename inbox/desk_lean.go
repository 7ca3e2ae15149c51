package inbox

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

var styleComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// asideComment is one behind code. It has no quotes in it: within a text, the quote that ends it would follow.
var asideComment = regexp.MustCompile("\\s+// [^\"'`]*$")

// lean leaves out of a script or a style what only its authors read: comments and indentation. Nothing else is touched, so that an error in a
// browser still names a line that looks like ours.
func lean(name string, raw []byte) []byte {
	if strings.Contains(name, ".min.") {
		return raw
	}
	switch path.Ext(name) {
	case ".css":
		return bytes.TrimSpace(styleComment.ReplaceAll(raw, nil))
	case ".js":
	default:
		return raw
	}
	var out bytes.Buffer
	within := false // a text in backquotes may go over several lines, and is left as it is
	for line := range bytes.Lines(raw) {
		text := bytes.TrimSpace(line)
		switch {
		case within:
			out.Write(line)
		case len(text) == 0 || bytes.HasPrefix(text, []byte("//")):
			continue
		default:
			out.Write(asideComment.ReplaceAll(text, nil))
			out.WriteByte('\n')
		}
		if bytes.Count(line, []byte("`"))%2 == 1 {
			within = !within
		}
	}
	return out.Bytes()
}
