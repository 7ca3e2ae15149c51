package inbox

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// sessionRow is a session in a list.
type sessionRow struct {
	ID, User, Agent, Channel, Language string
	Mode, Tone                         string
	By                                 string // who has taken it over
	Asked                              bool   // its user is asked something
	Busy                               bool   // a run is at work in it
	Updated                            time.Time
	Over                               bool
}

func rowOfSession(s holdshort.Session) sessionRow {
	r := sessionRow{ID: string(s.ID), User: s.User, Agent: cmp.Or(s.Agent, s.Flow), Channel: s.Channel, Language: s.Language, Asked: s.Prompt != "", Busy: s.ActiveRun != "", Updated: s.UpdatedAt,
		Over: !s.EndedAt.IsZero()}
	r.Mode, r.Tone, r.By = modeOf(s)
	return r
}

// modeOf says who answers the user.
func modeOf(s holdshort.Session) (words, tone, by string) {
	switch s.Mode {
	case holdshort.ModeTakeover:
		return "a person answers", "hold", s.TakenBy
	case holdshort.ModeProxy:
		return "a bridge answers", "hold", ""
	}
	return "the agent answers", "", ""
}

type sessionsView struct {
	Rows    []sessionRow
	Mode    string
	User    string
	Agent   string
	Channel string
	Chips   []chipLink
	Next    string
	Any     bool
}

var sessionModes = []struct{ mode, words string }{{"", "All"}, {"takeover", "taken over"}, {"proxy", "bridged"}, {"ai", "agent answers"}}

// serveSessions lists conversations, those where something happened last first.
func (v *visit) serveSessions() error {
	q := v.r.URL.Query()
	out := sessionsView{Mode: q.Get("mode"), User: q.Get("user"), Agent: q.Get("agent"), Channel: q.Get("channel")}
	if !slices.ContainsFunc(sessionModes, func(m struct{ mode, words string }) bool { return m.mode == out.Mode }) {
		out.Mode = ""
	}
	found, err := v.engine.SessionsFor(v.ctx, v.tenant(), engine.SessionQuery{User: out.User, Channel: out.Channel, Mode: out.Mode, Agent: out.Agent, Cursor: q.Get("cursor"), Limit: rowsShown}, v.actor())
	if err != nil {
		return err
	}
	for _, s := range found.Items {
		out.Rows = append(out.Rows, rowOfSession(s))
	}
	address := func(mode, cursor string) string {
		values := url.Values{}
		for name, value := range map[string]string{"mode": mode, "user": out.User, "agent": out.Agent, "channel": out.Channel, "cursor": cursor} {
			if value != "" {
				values.Set(name, value)
			}
		}
		if text := values.Encode(); text != "" {
			return "/sessions?" + text
		}
		return "/sessions"
	}
	for _, m := range sessionModes {
		out.Chips = append(out.Chips, chipLink{m.words, address(m.mode, ""), m.mode == out.Mode})
	}
	if found.Next != "" {
		out.Next = address(out.Mode, found.Next)
	}
	out.Any = out.Mode+out.User+out.Agent+out.Channel != ""
	return v.page(200, "sessions", "Sessions", out)
}

// sessionView is the page of a session.
type sessionView struct {
	sessionRow
	Created    time.Time
	TakenAt    time.Time
	State      engine.HitlState
	Log        chatLog
	Pinned     []bubble
	Runs       []runRow
	MoreRuns   bool
	Requests   []runRequest
	Deliveries []sessionDelivery
}

// sessionDelivery is something that has not reached the user.
type sessionDelivery struct {
	ID, Status, Channel, Error string
	Parked                     bool
	Attempt                    int
	Due, Created               time.Time
}

// serveSession shows a conversation as its user sees it, with what hangs on it beside it.
func (v *visit) serveSession() error {
	id := holdshort.SessionID(v.r.PathValue("id"))
	s, err := v.engine.SessionFor(v.ctx, v.tenant(), id, v.actor())
	if err != nil {
		return err
	}
	out := sessionView{sessionRow: rowOfSession(s.Session), Created: s.CreatedAt, TakenAt: s.TakenAt, State: s.HitlState}
	if out.Log, err = v.chatLog(s, true); err != nil {
		return err
	}
	pinned, err := v.engine.History(v.ctx, v.tenant(), engine.HistoryQuery{Session: id, Pinned: true, Limit: 50})
	if err != nil {
		return err
	}
	for _, m := range pinned.Items {
		out.Pinned = append(out.Pinned, bubbleOf(m, s.User))
	}
	runs, err := v.engine.RunsFor(v.ctx, v.tenant(), engine.RunQuery{Session: id, Limit: 20}, v.actor())
	if err != nil {
		return err
	}
	out.Runs, out.MoreRuns = v.rowsOfRuns(runs.Items), runs.Next != ""
	if out.Requests, err = v.requestsIn(id); err != nil {
		return err
	}
	pending, err := v.engine.OutboxOf(v.ctx, v.tenant(), id)
	if err != nil {
		return err
	}
	for _, d := range pending {
		out.Deliveries = append(out.Deliveries, sessionDelivery{ID: string(d.ID), Status: string(d.Status), Channel: d.Channel, Error: d.LastError, Parked: d.Status == holdshort.DeliveryParked, Attempt: d.Attempt,
			Due: d.DueAt, Created: d.CreatedAt})
	}
	if v.partial() {
		return v.part(200, "session_main", out)
	}
	return v.page(200, "session", "Session of "+s.User, out)
}

// mostRequests of a session are shown beside it: the newest.
const mostRequests = 20

func (v *visit) requestsIn(id holdshort.SessionID) ([]runRequest, error) {
	newest, err := engine.ParseOrder("newest")
	if err != nil {
		return nil, err
	}
	page, err := v.engine.RequestsFor(v.ctx, v.tenant(), engine.RequestQuery{Session: id, Order: newest, Limit: mostRequests}, v.actor())
	if err != nil {
		return nil, err
	}
	var out []runRequest
	for _, req := range page.Items {
		view := engine.RequestView{Request: req}
		if req.Status == holdshort.RequestResolved {
			if d, err := v.engine.Decision(v.ctx, v.tenant(), req.ID); err == nil { // who decided is a detail of the list
				view.Decision = &d
			}
		}
		out = append(out, requestOfRun(view, v.now))
	}
	return out, nil
}
