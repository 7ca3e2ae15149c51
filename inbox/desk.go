package inbox

import (
	"net/http"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (in *Inbox) deskRoutes() {
	in.show("/{$}", policy.View, (*visit).serveDesk)
	in.show("/requests/{id}", policy.View, (*visit).serveRequest)
	in.show("/help", policy.View, (*visit).serveHelp)
	in.act("/requests/batch", policy.Decide, (*visit).serveBatch)
}

// deskView is the page on which people decide: a list, and one of it in full.
type deskView struct {
	View    view
	Heading string
	Counts  *engine.Counts
	Chips   []chip
	List    listView
	Card    any    // of the request that is open, nil if none is
	Open    string // its id
	Refused *refused
	Decides bool // whoever looks may decide something
	Batch   *batchView
}

// Query is the view as it stands in an address, without the question mark.
func (d deskView) Query() string { return d.View.values().Encode() }

// inView and deskCounts are for the frame around the page.
func (d deskView) inView() string             { return d.View.Name }
func (d deskView) deskCounts() *engine.Counts { return d.Counts }

var headings = map[string]string{"inbox": "Waiting for a person", "mine": "Assigned to me", "unknown": "Unknown outcome", "decided": "Decided"}

var titles = map[string]string{"inbox": "Inbox", "mine": "Mine", "unknown": "Unknown outcome", "decided": "Decided"}

// desk makes the list side of the page.
func (v *visit) desk(w view) (d deskView, err error) {
	d = deskView{View: w, Heading: headings[w.Name], Decides: v.who.Allows(policy.Decide)}
	if counts, err := v.engine.DeskCounts(v.ctx, v.tenant(), v.actor()); err == nil { // a list without numbers is still a list
		d.Counts = &counts
	}
	if d.List, err = v.list(w); err != nil {
		return d, err
	}
	if w.Name == "inbox" || !d.List.Empty() || w.filtered() { // of nothing there is nothing to narrow
		d.Chips = chipsOf(w, d.Counts)
	}
	return d, nil
}

// serveDesk shows a list: as a page, or as the part of it that a script asks for.
func (v *visit) serveDesk() error {
	query := v.r.URL.Query()
	w := viewOf(query)
	switch query.Get("part") {
	case "rows":
		list, err := v.list(w)
		if err != nil {
			return err
		}
		return v.part(http.StatusOK, "desk_rows", list)
	case "row":
		return v.serveRows(w, query["id"], query["new"])
	}
	d, err := v.desk(w)
	if err != nil {
		return err
	}
	if v.partial() {
		return v.part(http.StatusOK, "desk_list", d)
	}
	return v.page(http.StatusOK, "desk", titles[w.Name], d)
}

// serveRequest shows the list with one request open. It need not be in the list: a link from elsewhere shows it all the same.
func (v *visit) serveRequest() error {
	d, err := v.desk(viewOf(v.r.URL.Query()))
	if err != nil {
		return err
	}
	d.Open = v.r.PathValue("id")
	status, title := http.StatusOK, "Request"
	card, err := v.card(holdshort.RequestID(d.Open), draft{})
	switch holdshort.CodeOf(err) {
	case "":
		d.Card, title = card, clipped(spelled(card.Question), 60)
	case holdshort.NotFound, holdshort.Forbidden: // nothing of it is shown, but the list is
		p := refusalOf(err)
		d.Refused, d.Open, status, title = &p, "", p.Status, p.Title
	default:
		return err
	}
	return v.page(status, "desk", title, d)
}

// clipped is the beginning of a text, for where there is little room.
func clipped(text string, most int) string {
	letters := []rune(text)
	if len(letters) <= most {
		return text
	}
	return string(letters[:most-1]) + "…"
}
