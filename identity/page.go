package identity

import (
	"embed"
	"html/template"
	"net/http"
)

//go:embed page.html
var pageFile embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFile, "page.html"))

// page is what somebody sees who comes to log in.
type page struct {
	Title  string
	Text   string
	Token  string // of a one-time link: there is a button that redeems it
	Next   string
	Again  bool // there is a link that begins once more
	Status int
}

func (p page) show(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin") // the address has a token
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	w.WriteHeader(p.Status)
	pageTemplate.Execute(w, p) // whoever does not listen any more cannot be told
}
