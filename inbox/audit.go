package inbox

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (in *Inbox) auditRoutes() {
	in.show("/audit", policy.ViewAudit, (*visit).serveAudit)
	in.show("/audit/chain", policy.ViewAudit, (*visit).serveChain)
	in.show("/audit/export", policy.ViewAudit, (*visit).exportAudit)
}

// auditSearch is what somebody looks for, as it stands in the address.
type auditSearch struct {
	Type, Actor, Request, Run, Session string
	Last                               string // a span back from now; else Since and Until
	Since, Until                       string
	Before                             int64
	Wrong                              string // what could not be read
}

// spans are how far back a search can look without naming times.
var auditSpans = []struct {
	Word, Name string
	length     time.Duration
}{{"1h", "last hour", time.Hour}, {"24h", "last day", 24 * time.Hour}, {"7d", "last 7 days", 7 * 24 * time.Hour}, {"30d", "last 30 days", 30 * 24 * time.Hour}}

func auditSearchOf(q url.Values) auditSearch {
	get := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	s := auditSearch{Type: get("type"), Actor: get("actor"), Request: get("request"), Run: get("run"), Session: get("session"), Last: get("last"), Since: get("since"), Until: get("until")}
	s.Before, _ = strconv.ParseInt(q.Get("before"), 10, 64) // what is no number is the beginning
	s.Before = max(s.Before, 0)
	return s
}

// values is the address of the search, without its place in the list.
func (s auditSearch) values() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"type": s.Type, "actor": s.Actor, "request": s.Request, "run": s.Run, "session": s.Session, "last": s.Last, "since": s.Since, "until": s.Until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// query asks the engine for the search. What cannot be read is named.
func (s auditSearch) query(now time.Time) (q engine.AuditQuery, err error) {
	wrong := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Field: field, Message: message, Hint: hint}
	}
	q = engine.AuditQuery{Before: s.Before, Actor: s.Actor, Request: s.Request, Run: s.Run, Session: s.Session, Limit: rowsShown, Types: namesIn(strings.ReplaceAll(s.Type, " ", ","))}
	if len(q.Types) > 20 {
		return q, wrong("type", "more than 20 patterns", "use fewer, or none for everything")
	}
	for _, glob := range q.Types {
		if len(glob) > 100 || strings.ContainsFunc(glob, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:*", r))
		}) {
			return q, wrong("type", "that is not the name of an event or a pattern of names", "write it like hitl.request.* or run.completed")
		}
	}
	for field, text := range map[string]string{"actor": s.Actor, "request": s.Request, "run": s.Run, "session": s.Session} {
		if err := plainField(field, text); err != nil {
			return q, err
		}
	}
	for _, span := range auditSpans {
		if s.Last == span.Word {
			q.Since = now.Add(-span.length)
			return q, nil
		}
	}
	if q.Since, err = timeIn(s.Since); err != nil {
		return q, wrong("since", "that is no time", "write it like 2026-03-01T14:30, in UTC")
	}
	if q.Until, err = timeIn(s.Until); err != nil {
		return q, wrong("until", "that is no time", "write it like 2026-03-01T14:30, in UTC")
	}
	return q, nil
}

// timeIn reads a time as browsers send it, in UTC unless it says otherwise.
func timeIn(text string) (t time.Time, err error) {
	if text == "" {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02", time.RFC3339} {
		if t, err = time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return t, err
}

// auditPage is a piece of the log.
type auditPage struct {
	Search   auditSearch
	Refused  *refused
	Spans    []auditSpan
	Rows     []auditRow
	Older    string // addresses
	Newest   string
	All      string // without any filter
	CSV      string
	NDJSON   string
	Filtered bool
	PrunedTo string
	Names    []string
	Seal     sealView
	Check    string // address of the check, for pages without scripts
	Chain    *chainView
}

type auditSpan struct {
	Name, Href string
	Here       bool
}

func (v *visit) serveAudit() error {
	if err := v.must(policy.ViewAudit); err != nil {
		return err
	}
	s := auditSearchOf(v.r.URL.Query())
	p := auditPage{Search: s, Filtered: len(s.values()) > 0, Names: holdshort.EventNames, All: "/audit"}
	address := func(path string, change func(url.Values)) string {
		q := s.values()
		change(q)
		if text := q.Encode(); text != "" {
			return path + "?" + text
		}
		return path
	}
	for _, span := range auditSpans {
		p.Spans = append(p.Spans, auditSpan{span.Name, address("/audit", func(q url.Values) { q.Set("last", span.Word); q.Del("since"); q.Del("until") }), s.Last == span.Word})
	}
	p.CSV = address("/audit/export", func(q url.Values) { q.Set("format", "csv") })
	p.NDJSON = address("/audit/export", func(q url.Values) { q.Set("format", "ndjson") })
	p.Check = address("/audit", func(q url.Values) { q.Set("check", "1") })
	status := http.StatusOK
	q, err := s.query(v.now)
	if err != nil {
		why := refusalOf(err)
		why.Detail, why.Hint = capitalized(why.Detail), capitalized(why.Hint)
		p.Refused, p.Search.Wrong, status = &why, fieldOf(err), why.Status
	} else if err := v.findEvents(&p, q, address); err != nil {
		return err
	}
	seal, err := v.engine.SealStatus(v.ctx, v.tenant())
	if err != nil {
		return err
	}
	p.Seal = sealViewOf(seal)
	if v.r.URL.Query().Get("check") == "1" {
		if p.Chain, err = v.chain(); err != nil {
			return err
		}
	}
	return v.page(status, "audit", "Audit", p)
}

func (v *visit) findEvents(p *auditPage, q engine.AuditQuery, address func(string, func(url.Values)) string) error {
	found, err := v.engine.AuditLog(v.ctx, v.tenant(), q, v.actor())
	if err != nil {
		return err
	}
	for _, e := range found.Items {
		p.Rows = append(p.Rows, auditRowOf(e, v.tenant()))
	}
	if found.Next > 0 {
		p.Older = address("/audit", func(q url.Values) { q.Set("before", strconv.FormatInt(found.Next, 10)) })
	}
	if p.Search.Before > 0 {
		p.Newest = address("/audit", func(url.Values) {})
	}
	if found.PrunedTo > 0 {
		p.PrunedTo = number(int(found.PrunedTo))
	}
	return nil
}
