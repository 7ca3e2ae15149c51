package inbox

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

func (in *Inbox) settingsRoutes() {
	in.show("/settings", policy.View, (*visit).serveSettings)
	in.act("/settings/look", policy.View, (*visit).setLook)
	in.show("/settings/people", policy.View, (*visit).servePeople)
	in.keyRoutes()
	in.webhookRoutes()
}

// tab is one of the pages under settings.
type tab struct {
	Name, Path string
	Here       bool
}

// tabs are the pages under settings that somebody may open.
func (v *visit) tabs() []tab {
	all := []tab{{Name: "You", Path: "/settings"}}
	if v.may(policy.ManageKeys) {
		all = append(all, tab{Name: "Keys", Path: "/settings/keys"})
	}
	if v.mayPeople() {
		all = append(all, tab{Name: "People and roles", Path: "/settings/people"})
	}
	if v.may(policy.ManageWebhooks) {
		all = append(all, tab{Name: "Webhooks", Path: "/settings/webhooks"})
	}
	for i := range all {
		all[i].Here = v.r.URL.Path == all[i].Path || i > 0 && strings.HasPrefix(v.r.URL.Path, all[i].Path+"/")
	}
	return all
}

// must refuses somebody who may not do something in general, and leaves a note of it.
func (v *visit) must(a policy.Action) error {
	if v.may(a) {
		return nil
	}
	return v.denied(a)
}

func (v *visit) denied(a policy.Action) error {
	v.engine.Denied(v.ctx, v.tenant(), v.actor(), string(a))
	return &holdshort.Error{Code: holdshort.Forbidden, Op: string(a), Message: "you may not see or change this", Hint: "ask an administrator; the settings show what you may"}
}

// settingsPage is the look of the pages and who somebody is here.
type settingsPage struct {
	Tabs             []tab
	Said             string
	Theme, Dir, Undo string // as they are set: "" is what the browser or the server says
	UndoSeconds      int
	Name, ID, Tenant string
	Roles, Scopes    []string
	May              []string // everywhere
	Theirs           []string // with what is theirs or where they are asked
	Method           string
	CanLogOut        bool
	Version          string
}

// knownBy say how somebody is known.
var knownBy = map[string]string{"key": "an API key", "jwt": "a token of your provider", "login": "a login in this browser", "open": "this machine: the server asks nobody who they are"}

// rights are the actions in the words of the pages.
var rights = map[policy.Action]string{policy.View: "look at requests, runs and sessions", policy.Decide: "decide", policy.Assign: "assign", policy.Comment: "comment",
	policy.CancelRequest: "cancel requests", policy.CancelRun: "cancel runs", policy.RetryRun: "retry runs", policy.Post: "write into sessions", policy.Start: "start runs",
	policy.Raise: "raise requests", policy.Claim: "claim what was approved", policy.Redeliver: "send again", policy.Reconcile: "settle unknown outcomes", policy.TakeOver: "take a session over",
	policy.Say: "speak to users", policy.Pin: "pin messages", policy.ManageKeys: "manage keys", policy.ManageWebhooks: "manage webhooks", policy.ViewAudit: "read the audit log"}

func (v *visit) serveSettings() error {
	p := settingsPage{Tabs: v.tabs(), Said: saidOf(v.r.URL.Query().Get("said")), Theme: v.prefs.Theme, Dir: v.prefs.Set, UndoSeconds: max(int(v.options.Undo.Seconds()), 0), Name: nameOf(v.actor()), ID: v.actor().ID,
		Tenant: string(v.tenant()), Roles: v.actor().Roles, Scopes: v.who.Scopes, Method: knownBy[v.who.Method], CanLogOut: v.who.CSRF, Version: v.options.Version}
	if v.prefs.Calm {
		p.Undo = "no"
	}
	for _, a := range policy.Actions {
		if !v.who.Allows(a) {
			continue
		}
		own, _ := policy.Can(a, v.actor(), policy.Resource{Owner: v.actor().Who(), Requester: holdshort.Requester{RaisedBy: v.actor().ID}})
		asked, _ := policy.Can(a, v.actor(), policy.Resource{Audience: holdshort.Audience{Users: []string{v.actor().ID}}})
		switch {
		case v.may(a):
			p.May = append(p.May, rights[a])
		case own || asked:
			p.Theirs = append(p.Theirs, rights[a])
		}
	}
	return v.page(http.StatusOK, "settings", "Settings", p)
}

// setLook keeps how somebody likes the pages, in their own browser. Words that are none of ours set nothing.
func (v *visit) setLook() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	set := url.Values{}
	for name, words := range map[string][]string{"theme": {"light", "dark"}, "dir": {"ltr", "rtl"}, "undo": {"no"}} {
		for _, word := range words {
			if form.Get(name) == word {
				set.Set(name, word)
			}
		}
	}
	c := &http.Cookie{Name: prefsCookie, Value: set.Encode(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.secure(), MaxAge: int(365 * 24 * time.Hour / time.Second)}
	if len(set) == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
	return v.redirect("/settings?said=look")
}

// secure reports whether people reach the server over https.
func (v *visit) secure() bool {
	return v.r.TLS != nil || strings.HasPrefix(v.options.PublicURL, "https://")
}

// saidOf is what a page says after a form was taken. The address names it; what it does not know says nothing.
func saidOf(word string) string {
	return map[string]string{"look": "Saved for this browser.", "revoked": "The key is revoked. Whoever uses it is refused from now on.", "enabled": "The webhook is on. It gets what happens from now on.",
		"disabled": "The webhook is off. Nothing more is sent there.", "deleted": "The webhook is deleted.", "tested": "A test is on its way. Its row below says what came of it.",
		"redelivered": "It is sent once more, under the same id."}[word]
}
