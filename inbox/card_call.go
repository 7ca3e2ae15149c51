package inbox

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
)

// callView is one call that waits, with every argument.
type callView struct {
	Index        int
	Number       int
	CallID, Tool string
	Args         []argNode
	Whole        bool // the arguments are no object: one value without a name
	Badges       []badge
	Needs        bool   // it needs a decision
	Choice       string // what whoever looks chose for it, of several
	Each         bool   // it is decided on its own
	MayEdit      bool
	MayRespond   bool
	Editing      bool
	Editable     string // which fields may change, in words
	Decided      string // what was decided about it
	Edited       string // by whom its arguments were changed
	Irreversible bool
}

type badge struct{ Text, Tone string }

// callsOf are the calls of a request as somebody gets to see them.
func (v *visit) callsOf(s sight, d draft) (out []callView) {
	req := s.Request
	each := s.mayDecide && needed(req) > 1 && allows(req, holdshort.Approve)
	for i, a := range req.Actions {
		c := callView{Index: i, Number: i + 1, CallID: a.CallID, Tool: a.Tool, Needs: a.NeedsApproval, Irreversible: a.Reversible == "no", Badges: badgesOf(a, len(req.Actions) > 1 && req.Status == holdshort.RequestOpen),
			Each: each && a.NeedsApproval, Choice: d.form.Get("call." + strconv.Itoa(i)), MayRespond: allows(req, holdshort.Respond)}
		c.Args, c.Whole = argsOf(a, s, i)
		if fate := s.decided(a.CallID); fate != nil {
			c.decided(*fate, s)
		}
		if s.mayDecide && a.NeedsApproval && allows(req, holdshort.Edit) && len(a.Editable) > 0 {
			v.editable(&c, a, s, d)
		}
		out = append(out, c)
	}
	return out
}

func argsOf(a holdshort.Action, s sight, i int) (rows []argNode, whole bool) {
	id := "arg-" + strconv.Itoa(i)
	rows = nodesOf(a.Args, s.withheld(a), id)
	whole = len(rows) == 1 && rows[0].Name == ""
	if fate := s.decided(a.CallID); fate != nil && fate.Action == holdshort.Edit && !whole {
		rows = changedRows(rows, nodesOf(fate.Args, s.withheld(a), id+"-new"))
	}
	return rows, whole
}

func (c *callView) decided(fate holdshort.CallDecision, s sight) {
	c.Decided = past[fate.Action]
	if fate.Action == holdshort.Edit {
		c.Edited = nameOf(s.Decision.Actor)
	}
}

func allows(req holdshort.Request, verb holdshort.Verb) bool {
	return slices.Contains(req.Allowed, verb)
}

// needed counts the calls that need a decision.
func needed(req holdshort.Request) (n int) {
	for _, a := range req.Actions {
		if a.NeedsApproval {
			n++
		}
	}
	return n
}

// badgesOf says in a few words what a call does to the world; of several that wait, also which need a decision.
func badgesOf(a holdshort.Action, waits bool) (out []badge) {
	add := func(text, tone string) { out = append(out, badge{text, tone}) }
	switch {
	case a.Effect == "read":
		add("reads only", "")
	case a.Reversible == "no":
		add("cannot be undone", "no")
	case a.Reversible == "yes":
		add("can be undone", "")
	case a.Reversible == "external":
		add("undone by others only", "hold")
	case a.Effect == "" && a.Reversible == "":
		add("not known whether it can be undone", "hold")
	}
	switch {
	case a.Refused:
		add("does not run", "no")
	case !a.NeedsApproval:
		add("runs with the others", "")
	case waits:
		add("needs a decision", "")
	}
	return out
}

const mostFields = 300

// editable gives the arguments that may change their fields.
func (v *visit) editable(c *callView, a holdshort.Action, s sight, d draft) {
	properties, required := propertiesOf(v.engine.ToolSchema(a.Tool))
	names := a.Editable
	if slices.Contains(names, "*") {
		names = append(membersOf(a.Args), slices.DeleteFunc(properties.names(), func(name string) bool { return hasMember(a.Args, name) })...)
	}
	if c.Whole || len(names) > mostFields { // what is no object has no fields; and nobody fills in thousands
		return
	}
	var was map[string]json.RawMessage
	if json.Unmarshal(a.Args, &was) != nil {
		return
	}
	form := d.form
	if !form.Has("editing") {
		form = nil
	}
	room := outermost()
	for _, name := range names {
		if hidesAt(s.withheld(a), name) { // who does not see it does not write it anew
			continue
		}
		f := fieldFor(properties.of(name, was[name]), properties.root, was[name], form, argField(c.Index, name), name, slices.Contains(required, name), room)
		f.mark(d.wrong, d.refused)
		i := slices.IndexFunc(c.Args, func(n argNode) bool { return n.Name == name })
		if i < 0 {
			c.Args = append(c.Args, argNode{Name: name, ID: "arg-" + strconv.Itoa(c.Index) + "-" + name, Kind: "nothing"})
			i = len(c.Args) - 1
		}
		c.Args[i].Edit, c.MayEdit = &f, true
	}
	c.Editing = c.MayEdit && (d.edit || form != nil)
	c.Editable = strings.Join(names, ", ")
}

func argField(call int, name string) string {
	return "a." + strconv.Itoa(call) + "." + escapedName(name)
}

func hasMember(object json.RawMessage, name string) bool {
	return slices.Contains(membersOf(object), name)
}
