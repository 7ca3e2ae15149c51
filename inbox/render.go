package inbox

import (
	"bytes"
	"fmt"
	"html/template"
	"strconv"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// frame is what every page has around its own content.
type frame struct {
	Title   string
	Prefs   prefs
	Build   string
	Page    string // its name: which styles and scripts it loads
	Who     string
	Tenant  string
	Audit   bool // sees all of the tenant
	Keys    bool // may manage keys
	Counts  *engine.Counts
	Path    string // where it is, for the navigation
	View    string // of a list of requests: which
	Main    any
	Version string
	Undo    int // seconds
	At      int64
	Me      string
}

// guard is the policy of every page: nothing is loaded from elsewhere, nothing runs that is not in a file of ours, nobody frames it.
const guard = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// page answers with a whole page.
func (v *visit) page(status int, name, title string, main any) error {
	f := frame{Title: title, Prefs: v.prefs, Build: v.looks.build, Page: name, Who: nameOf(v.who.Actor), Tenant: string(v.who.Tenant), Audit: v.mayAudit(), Keys: v.may(policy.ManageKeys),
		Path: v.r.URL.Path, Main: main, Version: v.options.Version, Undo: int(v.options.Undo.Seconds()), Me: v.who.Actor.Who(), At: v.at}
	if m, ok := main.(interface{ inView() string }); ok {
		f.View = m.inView()
	}
	if m, ok := main.(interface{ deskCounts() *engine.Counts }); ok {
		f.Counts = m.deskCounts()
	} else if v.who.Actor.ID != "" {
		if counts, err := v.engine.DeskCounts(v.ctx, v.who.Tenant, v.who.Actor); err == nil { // a page without numbers is still a page
			f.Counts = &counts
		}
	}
	return v.draw(status, v.looks.pages[name], "layout", f)
}

// positionHeader carries the position of the log up to which a part of a page is complete.
const positionHeader = "Holdshort-Position"

// part answers with a part of a page, for a script that puts it in its place.
func (v *visit) part(status int, name string, data any) error {
	v.w.Header().Set(positionHeader, strconv.FormatInt(v.at, 10))
	return v.draw(status, v.looks.parts, name, data)
}

// text draws a part without answering.
func (l *looks) text(name string, data any) (string, error) {
	var b bytes.Buffer
	err := l.parts.ExecuteTemplate(&b, name, data)
	return b.String(), err
}

func (v *visit) draw(status int, t *template.Template, name string, data any) error {
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", guard)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Vary", "HX-Request, Accept-Encoding")
	body := b.Bytes()
	if takesGzip(v.r) && len(body) > 1024 {
		h.Set("Content-Encoding", "gzip")
		body = compressed(body)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	v.w.Write(body) // whoever does not listen any more cannot be told
	return nil
}

// nameOf is what people call an actor.
func nameOf(a holdshort.Actor) string {
	if a.Name != "" {
		return a.Name
	}
	return a.ID
}
