package inbox

import "net/http"

// keyHelp is one key and what it does.
type keyHelp struct {
	Keys []string // what is pressed; several are pressed one after the other
	Or   []string // does the same
	Does string
}

type keyGroup struct {
	Name string
	Keys []keyHelp
}

// keyGroups are all keys of the pages. Pages print the same keys on their buttons.
var keyGroups = []keyGroup{
	{"Move", []keyHelp{
		{[]string{"j"}, []string{"↓"}, "next request, and open it"},
		{[]string{"k"}, []string{"↑"}, "previous request, and open it"},
		{[]string{"Enter"}, []string{"o"}, "go into the request that is marked"},
		{[]string{"Esc"}, nil, "back: out of a field, the card, the selection"},
		{[]string{"/"}, nil, "search"},
	}},
	{"Decide", []keyHelp{
		{[]string{"a"}, nil, "approve, or answer yes"},
		{[]string{"r"}, nil, "reject"},
		{[]string{"e"}, nil, "edit the arguments"},
		{[]string{"s"}, nil, "answer for the tool"},
		{[]string{"c"}, nil, "comment"},
		{[]string{"m"}, nil, "assign to me"},
		{[]string{"u"}, nil, "undo, while there is time"},
	}},
	{"Select several", []keyHelp{
		{[]string{"x"}, nil, "select, or not"},
		{[]string{"Shift", "x"}, nil, "select from the last one to this one"},
		{[]string{"*"}, nil, "select all that are shown"},
		{[]string{"a"}, []string{"r"}, "with a selection: a summary, then approve or reject all of it"},
	}},
	{"Go", []keyHelp{
		{[]string{"g", "i"}, nil, "inbox"},
		{[]string{"g", "m"}, nil, "mine"},
		{[]string{"g", "u"}, nil, "unknown outcome"},
		{[]string{"g", "d"}, nil, "decided"},
		{[]string{"g", "r"}, nil, "runs"},
		{[]string{"g", "p"}, nil, "playground"},
		{[]string{"?"}, nil, "these keys"},
	}},
}

// serveHelp lists the keys: as a page, or for the dialog that ? opens.
func (v *visit) serveHelp() error {
	if v.partial() {
		return v.part(http.StatusOK, "desk_keys", keyGroups)
	}
	return v.page(http.StatusOK, "help", "Keys", keyGroups)
}
