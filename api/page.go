package api

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

//go:embed templates
var pageFiles embed.FS

var (
	pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{"visible": visible, "add": func(a, b int) int { return a + b }}).ParseFS(pageFiles, "templates/*.html"))
	pageStyle     = mustRead("templates/page.css")
	liveScript    = mustRead("templates/live.js")
)

func mustRead(name string) []byte {
	raw, err := pageFiles.ReadFile(name)
	if err != nil { // it is part of the binary
		panic(err)
	}
	return raw
}

// look is what every page has: its style, and the nonce without which a browser does not take it.
type look struct {
	Nonce string
	Style template.CSS
}

func (l *look) dress(nonce string) { l.Nonce, l.Style = nonce, template.CSS(pageStyle) }

// draw answers with a page that nobody keeps, nobody frames and nothing else is loaded into.
func (c *call) draw(status int, name, referrer string, page interface{ dress(string) }) error {
	return draw(c.w, status, name, referrer, "", page)
}

func draw(w http.ResponseWriter, status int, name, referrer, also string, page interface{ dress(string) }) error {
	n := nonce()
	page.dress(n)
	var b bytes.Buffer
	if err := pageTemplates.ExecuteTemplate(&b, name, page); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+n+"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"+also)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("X-Frame-Options", "DENY")
	if referrer != "" {
		h.Set("Referrer-Policy", referrer)
	}
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	w.Write(b.Bytes()) // whoever does not listen any more cannot be told
	return nil
}

// Pages serves a plain live list of the open requests at "/", for people who are logged in.
func (s *Server) Pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serveList)
	mux.HandleFunc("GET /live.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Write(liveScript)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, &holdshort.Error{Code: holdshort.NotFound, Message: "there is nothing at this path", Hint: "/openapi.json lists what there is"})
	})
	return mux
}

type listPage struct {
	look
	Who, Tenant string
	Rows        []listRow
	More        bool
}

type listRow struct {
	ID, Question, Kind, About, Age, Tone string
	Due                                  *dueTime
}

const mostListed = 100

func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), s.options.Timeout)
	defer cancel()
	err := s.list(ctx, w, r)
	if err == nil {
		return
	}
	p := s.problem(err)
	page := refusedPage{Title: http.StatusText(p.Status), Detail: p.Detail, Hint: p.Hint}
	if p.Status == http.StatusUnauthorized {
		page.Title, page.Detail, page.Hint, page.Login = "Holdshort", "Log in to see what waits for you.", "", "/login"
	} else if p.Status >= http.StatusInternalServerError {
		s.log.Error("the list could not be shown", "code", holdshort.CodeOf(err), "error", err)
	}
	if err := draw(w, p.Status, "refused.html", "same-origin", "", &page); err != nil {
		s.refuse(w, r, err)
	}
}

func (s *Server) list(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	who, err := s.people.ResolveActor(r)
	if err == nil {
		err = who.Check(policy.View)
	}
	if err != nil {
		return err
	}
	if wait := s.rates.Take(string(who.Tenant) + "\x00" + who.Actor.ID); wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return &holdshort.Error{Code: holdshort.RateLimited, Message: "too many calls", Hint: "wait a moment"}
	}
	found, err := s.engine.SearchRequests(ctx, who.Tenant, engine.RequestQuery{Status: holdshort.RequestOpen, Limit: mostListed}, "", who.Actor)
	if err != nil {
		return err
	}
	now := time.Now()
	page := listPage{Who: nameOf(who.Actor), Tenant: string(who.Tenant), More: found.Next != ""}
	for _, req := range found.Items {
		page.Rows = append(page.Rows, listRowOf(req, now))
	}
	return draw(w, http.StatusOK, "list.html", "same-origin", "; script-src 'self'; connect-src 'self'", &page)
}

func listRowOf(req holdshort.Request, now time.Time) listRow {
	row := listRow{ID: string(req.ID), Question: req.Question, Kind: string(req.Kind), About: askedBy(req), Age: ago(now.Sub(req.CreatedAt))}
	if n := len(req.Actions); n == 1 {
		row.About = req.Actions[0].Tool + " · " + row.About
	} else if n > 1 {
		row.About = strconv.Itoa(n) + " calls · " + row.About
	}
	if req.Rule != "" {
		row.About += " · rule “" + req.Rule + "”"
	}
	switch req.Priority {
	case holdshort.PriorityHigh:
		row.Tone = "high"
	case holdshort.PriorityCritical:
		row.Tone = "critical"
	}
	if due := req.Due(); !due.IsZero() {
		left := due.Sub(now)
		row.Due = &dueTime{Left: remaining(left), Exact: due.UTC().Format("2006-01-02 15:04:05 UTC"), Stamp: due.UTC().Format(time.RFC3339), Soon: left < 5*time.Minute}
	}
	return row
}

// ago is a span as people say it.
func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "a moment"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " days"
}

// remaining is how long is left, to the second where that counts.
func remaining(d time.Duration) string {
	if d <= 0 {
		return "time is up"
	}
	if d < 10*time.Minute {
		return fmt.Sprintf("%d:%02d left", int(d/time.Minute), int(d/time.Second)%60)
	}
	return ago(d) + " left"
}
