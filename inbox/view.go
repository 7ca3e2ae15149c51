package inbox

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// view is which requests a list shows, as it stands in the address of the page.
type view struct {
	Name     string // inbox, mine, unknown or decided
	Kind     holdshort.Kind
	Priority holdshort.Priority
	Due      string // "soon"
	Outcome  string // of decided ones: an outcome, expired or canceled
	By       string // of decided ones: "me"
	Q        string // words to look for
	Sort     string // urgency, newest or due
	Cursor   string
}

// soon is how long before its end a request is urgent.
const soon = 15 * time.Minute

var views = []string{"inbox", "mine", "unknown", "decided"}

// viewOf reads a view. What it does not know it leaves out: an old bookmark still shows a list.
func viewOf(q url.Values) view {
	w := view{Name: q.Get("view"), Kind: holdshort.Kind(q.Get("kind")), Priority: holdshort.Priority(q.Get("priority")), Q: strings.TrimSpace(q.Get("q")), Sort: q.Get("sort"), Cursor: q.Get("cursor"),
		Outcome: q.Get("outcome"), By: q.Get("by")}
	if !slices.Contains(views, w.Name) {
		w.Name = "inbox"
	}
	if q.Get("due") == "soon" {
		w.Due = "soon"
	}
	if w.Sort != "newest" && w.Sort != "due" {
		w.Sort = ""
	}
	return w
}

// values is the address of the view, without its place in the list.
func (w view) values() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	if w.Name != "inbox" {
		set("view", w.Name)
	}
	set("kind", string(w.Kind))
	set("priority", string(w.Priority))
	set("due", w.Due)
	set("outcome", w.Outcome)
	set("by", w.By)
	set("q", w.Q)
	set("sort", w.Sort)
	return q
}

// Query is the view as it stands behind a question mark, "" for the plain inbox.
func (w view) Query() string {
	if text := w.values().Encode(); text != "" {
		return "?" + text
	}
	return ""
}

// query asks the engine for the view.
func (w view) query(actor holdshort.Actor, now time.Time) (q engine.DeskQuery, err error) {
	q = engine.DeskQuery{Priority: w.Priority, Cursor: w.Cursor, Limit: rowsShown}
	switch {
	case w.Name == "unknown":
		q.Kinds = []holdshort.Kind{holdshort.Reconcile}
	case w.Kind != "":
		q.Kinds = []holdshort.Kind{w.Kind}
	}
	if w.Name == "mine" {
		q.Assignee = actor.Who()
	}
	if w.Due == "soon" {
		q.DueBefore = now.Add(soon)
	}
	q.Order, err = engine.ParseOrder(w.Sort)
	return q, err
}

// holds reports whether a request belongs into the view, for lists that follow what happens. Words are looked for by the engine alone.
func (w view) holds(req *holdshort.Request, actor holdshort.Actor, now time.Time) bool {
	open := req.StatusAt(now) == holdshort.RequestOpen
	switch w.Name {
	case "decided":
		return !open
	case "mine":
		if req.Assignee != actor.Who() {
			return false
		}
	case "unknown":
		if req.Kind != holdshort.Reconcile {
			return false
		}
	}
	due := req.Due()
	return open && (w.Kind == "" || w.Name == "unknown" || req.Kind == w.Kind) && (w.Priority == "" || req.Priority == w.Priority) &&
		(w.Due == "" || !due.IsZero() && due.Before(now.Add(soon)))
}

// rowsShown is how many rows a list has before more are asked for.
const rowsShown = 50
