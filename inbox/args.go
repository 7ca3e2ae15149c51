package inbox

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
)

// argNode is one value of what will run, with all that is in it.
type argNode struct {
	Name  string
	ID    string    // of its place on the page
	Kind  string    // text, number, word, object, list, nothing or withheld
	Text  string    // of what is no object or list
	Lines []string  // of a text that is long: shown with numbers
	Items []argNode // of an object or list
	Was   *argNode  // what it was before somebody changed it
	New   bool      // there was none before
	Gone  bool      // there is none any more
	Edit  *field    // to change it
}

// Rows reports whether it has values of its own below it.
func (n argNode) Rows() bool { return len(n.Items) > 0 }

const (
	longLines = 40   // from here on a text has numbered lines
	longText  = 4000 // and from here on something to jump to
)

// nodesOf gives the values of an object, or the one value that it is. Names in withheld are not shown.
func nodesOf(raw json.RawMessage, withheld []string, id string) []argNode {
	shown := holdshort.Redact(raw, withheld)
	n := nodeOf("", "", shown, withheld, id)
	if n.Kind == "object" && len(n.Items) > 0 {
		return n.Items
	}
	return []argNode{n}
}

// nodeOf reads what was redacted already; withheld only says which of it stands for something else.
func nodeOf(name, path string, raw json.RawMessage, withheld []string, id string) argNode {
	return nodeAt(name, path, raw, withheld, id, 0)
}

// tooDeep is from where on values within values are shown as they are written. Arguments end far before; what tools answer need not.
const tooDeep = 40

func nodeAt(name, path string, raw json.RawMessage, withheld []string, id string, depth int) argNode {
	n := argNode{Name: name, ID: id}
	raw = bytes.TrimSpace(raw)
	if hidesAt(withheld, path) && string(raw) == `"[redacted]"` {
		n.Kind = "withheld"
		return n
	}
	switch {
	case len(raw) == 0:
		n.Kind = "nothing"
	case depth > tooDeep:
		n.Kind, n.Text = "text", string(raw)
	case raw[0] == '{':
		n.Kind = "object"
		var object map[string]json.RawMessage
		json.Unmarshal(raw, &object) // it was hashed as JSON
		for i, member := range membersOf(raw) {
			n.Items = append(n.Items, nodeAt(member, join(path, member), object[member], withheld, id+"-"+strconv.Itoa(i), depth+1))
		}
		n.Text = "{}"
	case raw[0] == '[':
		n.Kind = "list"
		var list []json.RawMessage
		json.Unmarshal(raw, &list)
		for i, item := range list {
			n.Items = append(n.Items, nodeAt(strconv.Itoa(i+1), join(path, strconv.Itoa(i)), item, withheld, id+"-"+strconv.Itoa(i), depth+1))
		}
		n.Text = "[]"
	case raw[0] == '"':
		n.Kind, n.Text = "text", leafText(raw)
		if strings.Count(n.Text, "\n") >= longLines {
			n.Lines = strings.Split(n.Text, "\n")
		}
	case raw[0] == 't' || raw[0] == 'f' || raw[0] == 'n':
		n.Kind, n.Text = "word", string(raw)
	default:
		n.Kind, n.Text = "number", string(raw)
	}
	return n
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// hidesAt reports whether something of the value at path is withheld: all of it, or a part of what turned out to be no object.
func hidesAt(withheld []string, path string) bool {
	return slices.ContainsFunc(withheld, func(name string) bool {
		return name == "*" || name == path || strings.HasPrefix(name, path+".") || path == ""
	})
}

// leafText is a value as people read it. A text that could be taken for something else is in quotes.
func leafText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return pretty(raw)
	}
	if text == "" || text != strings.TrimSpace(text) || text == "true" || text == "false" || text == "null" || text == "{}" || text == "[]" || json.Valid([]byte(text)) && looksLikeNumber(text) {
		return "“" + text + "”"
	}
	return text
}

// plainLeaf is a value without quotes, where there is nothing to confuse it with.
func plainLeaf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func looksLikeNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil && !strings.HasPrefix(text, `"`)
}

// pretty indents JSON without changing anything else of it.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// membersOf are the names of an object's members in their order.
func membersOf(object json.RawMessage) (names []string) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return names
		}
		if !seen[text] {
			seen[text], names = true, append(names, text)
		}
	}
	return names
}

// jump leads to a place in arguments that are long.
type jump struct{ Name, ID string }

// indexOf lists the arguments where one of them does not fit on a page.
func indexOf(calls []callView) (out []jump) {
	long := false
	for _, c := range calls {
		for _, n := range c.Args {
			long = long || n.long()
			name := n.Name
			if len(calls) > 1 {
				name = c.Tool + " · " + n.Name
			}
			out = append(out, jump{name, n.ID})
		}
	}
	if !long && len(out) <= 30 {
		return nil
	}
	return out[:min(len(out), 200)]
}

// without withholds every value that has one of the texts in it.
func (n argNode) without(texts []string) argNode {
	if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(n.Text, text) }) {
		return argNode{Name: n.Name, ID: n.ID, Kind: "withheld"}
	}
	n.Items = slices.Clone(n.Items)
	for i := range n.Items {
		n.Items[i] = n.Items[i].without(texts)
	}
	return n
}

// hides reports whether something of it is withheld.
func (n argNode) hides() bool {
	return n.Kind == "withheld" || slices.ContainsFunc(n.Items, argNode.hides)
}

func (n argNode) long() bool {
	return len(n.Lines) > 0 || len(n.Text) > longText || len(n.Items) > longLines || slices.ContainsFunc(n.Items, argNode.long)
}
