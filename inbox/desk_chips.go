package inbox

import (
	"net/url"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// chip narrows a list, or takes that back when it is on.
type chip struct {
	Name  string
	To    string // an address
	On    bool
	Count string // how many there are; "" where that is not known
	Tally string // which number of the counts it shows, so that it can be kept true
}

// plurals are the kinds as people say them of several.
var plurals = map[holdshort.Kind]string{holdshort.Approval: "Approvals", holdshort.Clarification: "Questions", holdshort.Disambiguation: "Choices", holdshort.Confirmation: "Confirmations",
	holdshort.Escalation: "Escalations", holdshort.Takeover: "Takeovers", holdshort.Proxy: "Proxies", holdshort.ErrorRecovery: "Repairs", holdshort.Reconcile: "Unknown outcome"}

// kindOrder is how the kinds stand side by side.
var kindOrder = []holdshort.Kind{holdshort.Approval, holdshort.Clarification, holdshort.Disambiguation, holdshort.Confirmation, holdshort.Escalation, holdshort.ErrorRecovery, holdshort.Takeover,
	holdshort.Proxy, holdshort.Reconcile}

// chipsOf are the ways to narrow a view. Those that would show nothing are left out, unless they are on.
func chipsOf(w view, counts *engine.Counts) []chip {
	if counts == nil {
		counts = &engine.Counts{}
	}
	if w.Name == "decided" {
		return w.outcomeChips()
	}
	all := view{Name: w.Name, Q: w.Q, Sort: w.Sort}
	chips := []chip{{Name: "All", To: all.address(), On: !w.filteredBesidesWords()}}
	numbers := w.Name == "inbox" && w.Q == ""
	if numbers {
		chips[0].Count, chips[0].Tally = count(counts.All), "all"
	}
	add := func(name, text string, c engine.Count, on bool, change func(*view)) {
		if c.N == 0 && !c.More && !on {
			return
		}
		to := w
		to.Cursor = ""
		change(&to)
		one := chip{Name: text, To: to.address(), On: on}
		if numbers {
			one.Count, one.Tally = count(c), name
		}
		chips = append(chips, one)
	}
	if w.Name != "unknown" {
		for _, kind := range kindOrder {
			on := w.Kind == kind
			add("kinds."+string(kind), plurals[kind], counts.ByKind[kind], on, func(to *view) { to.Kind = either(on, kind) })
		}
	}
	for _, p := range []struct {
		priority holdshort.Priority
		text     string
	}{{holdshort.PriorityCritical, "Critical"}, {holdshort.PriorityHigh, "High"}} {
		on := w.Priority == p.priority
		add("priorities."+string(p.priority), p.text, counts.ByPriority[p.priority], on, func(to *view) { to.Priority = either(on, p.priority) })
	}
	on := w.Due == "soon"
	add("soon", "Due soon", counts.Soon, on, func(to *view) { to.Due = either(on, "soon") })
	return chips
}

// outcomeChips narrow what was decided.
func (w view) outcomeChips() []chip {
	chips := []chip{{Name: "All", To: view{Name: w.Name, Q: w.Q}.address(), On: w.Outcome == "" && w.By == ""}}
	if w.Q == "" {
		me := w
		me.By, me.Cursor = either(w.By == "me", "me"), ""
		chips = append(chips, chip{Name: "By me", To: me.address(), On: w.By == "me"})
	}
	for _, o := range outcomes {
		to := w
		to.Outcome, to.Cursor = either(w.Outcome == o, o), ""
		chips = append(chips, chip{Name: strings.ToUpper(o[:1]) + o[1:], To: to.address(), On: w.Outcome == o})
	}
	return chips
}

var outcomes = []string{string(holdshort.Approved), string(holdshort.Rejected), string(holdshort.Edited), string(holdshort.Answered), string(holdshort.Selected), string(holdshort.RequestExpired),
	string(holdshort.RequestCanceled)}

func either[T ~string](on bool, value T) T {
	if on {
		return ""
	}
	return value
}

func (w view) filteredBesidesWords() bool {
	w.Q = ""
	return w.filtered()
}

// address is where a view is.
func (w view) address() string { return "/" + w.Query() }

// Sorts are the orders that a list can have, with the address of each.
func (d deskView) Sorts() []chip {
	if d.View.Name == "decided" {
		return nil
	}
	var out []chip
	for _, s := range []struct{ name, text string }{{"", "Urgent first"}, {"newest", "Newest first"}, {"due", "Due first"}} {
		out = append(out, chip{Name: s.text, To: s.name, On: d.View.Sort == s.name})
	}
	return out
}

// Kept are the fields of the view that a search keeps.
func (d deskView) Kept() url.Values {
	q := d.View.values()
	q.Del("q")
	q.Del("sort")
	return q
}

// Oldest reports whether the age of the oldest is worth saying: it is about everything that waits.
func (d deskView) Oldest() bool {
	return d.Counts != nil && !d.Counts.Oldest.IsZero() && d.View.Name == "inbox" && !d.View.filtered()
}

// OldestAge is how long the oldest has waited.
func (d deskView) OldestAge() string { return span(d.Counts.At.Sub(d.Counts.Oldest)) }

// Savable reports whether the view is one that somebody could want to keep under a name.
func (d deskView) Savable() bool { return d.View.filtered() || d.View.Sort != "" }
