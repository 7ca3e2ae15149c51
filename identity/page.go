package identity

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var (
	pageTemplate = template.Must(template.New("page").Parse(pageText))
	pageGuard    = "default-src 'none'; style-src 'sha256-" + digest(pageStyle) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// page is what somebody sees who comes to log in.
type page struct {
	Title  string
	Text   string
	Token  string // of a one-time link: there is a button that redeems it
	Next   string
	Again  bool // there is a link that begins once more
	Status int
	Style  template.CSS
}

func (p page) show(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin") // the address has a token
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Security-Policy", pageGuard)
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	w.WriteHeader(p.Status)
	p.Style = template.CSS(pageStyle)
	pageTemplate.Execute(w, p) // whoever does not listen any more cannot be told
}
