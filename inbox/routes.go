package inbox

import (
	"net/http"

	"github.com/holdshort/holdshort/policy"
)

// routes is the whole table of pages: what is shown, and what a form does. Each area adds its own rows.
func (in *Inbox) routes() {
	in.mux.HandleFunc("GET /assets/{build}/{name}", in.looks.serveAsset)
	in.deskRoutes()
	in.cardRoutes()
	in.liveRoutes()
	in.runRoutes()
	in.chatRoutes()
	in.ruleRoutes()
	in.auditRoutes()
	in.settingsRoutes()
	in.linkRoutes()
	in.mux.HandleFunc("/", in.nothing)
}

// show adds a page or a part of one: it changes nothing. Whoever is there must be allowed to do the action in general; whether they may see
// the very thing is asked where it is read.
func (in *Inbox) show(path string, action policy.Action, fn func(*visit) error) {
	in.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { in.serve(w, r, action, fn) })
}

// act adds what a form does. Another site cannot send it with somebody's cookie.
func (in *Inbox) act(path string, action policy.Action, fn func(*visit) error) {
	in.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { in.serve(w, r, action, fn) })
}
