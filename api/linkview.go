package api

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// linkDraft is what a person has done on the page so far.
type linkDraft struct {
	form     url.Values // what they wrote, to be written again when it did not fit
	refused  Problem    // why it did not
	said     string     // what was recorded
	revealed bool
}

// linkPage is what the page shows.
type linkPage struct {
	look
	ID, Code, Kind, Question string
	Token, Fingerprint       string
	Asked                    string // by whom, for whom
	Age                      string
	Why                      string
	Priority                 string
	Due                      *dueTime
	Actions                  []pageAction
	Context                  string
	Audience                 string
	Votes                    []pageVote
	Needed, Given            int
	Withheld                 bool // something is, and can be shown
	Standing                 string
	Tone                     string // of the standing: ok, no or ""
	Said, Detail, Hint       string
	Open, MayDecide          bool
	Form                     pageForm
	Inbox                    bool
}

type dueTime struct {
	Left, Exact, Stamp string
	Soon               bool
}

type pageAction struct {
	Index         int
	CallID, Tool  string
	Args          []pageArg
	Whole         string // of arguments that are no object
	NeedsApproval bool
	Refused       bool
	Editable      string // which fields
	Edit          string // the arguments as JSON, to be changed; "": they may not be
	Choice        string
}

type pageArg struct {
	Name, Value string
	Withheld    bool
}

type pageVote struct{ Who, What, At string }

// drawLink shows a request as it stands to somebody who may see it.
func (c *call) drawLink(status int, v visit, seen engine.RequestView, draft linkDraft) error {
	if !draft.revealed {
		seen.Request = c.request(seen).Request
	}
	req, now := seen.Request, time.Now()
	p := linkPage{ID: string(req.ID), Code: req.Code, Kind: strings.ReplaceAll(string(req.Kind), "_", " "), Question: req.Question, Token: v.token, Fingerprint: req.Fingerprint,
		Asked: askedBy(req), Age: ago(now.Sub(req.CreatedAt)), Why: why(req), Context: contextOf(req), Audience: audienceOf(req.Audience), Needed: req.Audience.Needed(),
		Said: draft.said, Detail: draft.refused.Detail, Hint: draft.refused.Hint, Open: req.Status == holdshort.RequestOpen, Inbox: v.token == ""}
	if req.Priority == holdshort.PriorityHigh || req.Priority == holdshort.PriorityCritical {
		p.Priority = string(req.Priority)
	}
	if due := req.Due(); p.Open && !due.IsZero() {
		left := due.Sub(now)
		p.Due = &dueTime{Left: remaining(left), Exact: due.UTC().Format("2006-01-02 15:04:05 UTC"), Stamp: due.UTC().Format(time.RFC3339), Soon: left < 5*time.Minute}
	}
	p.MayDecide = p.Open && c.asks(v, seen)
	for _, vote := range seen.Votes {
		p.Votes = append(p.Votes, pageVote{Who: nameOf(vote.Actor), What: past[vote.Action], At: ago(now.Sub(vote.At)) + " ago"})
	}
	p.Given = len(p.Votes)
	p.Standing, p.Tone = standingOf(seen, now)
	for i, a := range req.Actions {
		p.Actions = append(p.Actions, pageActionOf(i, a, req, draft))
		p.Withheld = p.Withheld || p.MayDecide && !draft.revealed && len(a.Redacted) > 0
	}
	p.Form = pageFormOf(req, draft.form)
	policyOfReferrer := "no-referrer"
	if v.token == "" { // nothing in the address is secret, and without it browsers do not say which page a form was sent from
		policyOfReferrer = "same-origin"
	}
	return c.draw(status, "link.html", policyOfReferrer, &p)
}

// asks reports whether the page may offer to decide. Whether that is so is found out when it is decided.
func (c *call) asks(v visit, seen engine.RequestView) bool {
	owner := seen.Request.Requester.User
	if seen.Request.RunID != "" {
		if run, err := c.engine.RunByID(c.ctx, v.who.Tenant, seen.Request.RunID); err == nil {
			owner = run.User
		}
	}
	voted := slices.ContainsFunc(seen.Votes, func(d holdshort.Vote) bool { return d.Actor.Same(v.who.Actor) })
	ok, _ := policy.Can(policy.Decide, v.who.Actor, policy.Resource{Audience: seen.Request.Audience, Owner: owner, Requester: seen.Request.Requester})
	return ok && !voted && v.who.Allows(policy.Decide)
}

func pageActionOf(i int, a holdshort.Action, req holdshort.Request, draft linkDraft) pageAction {
	out := pageAction{Index: i, CallID: a.CallID, Tool: a.Tool, NeedsApproval: a.NeedsApproval, Refused: a.Refused, Editable: strings.Join(a.Editable, ", "), Choice: draft.form.Get("call." + strconv.Itoa(i))}
	var object map[string]json.RawMessage
	if json.Unmarshal(a.Args, &object) == nil && object != nil {
		for _, name := range members(a.Args) {
			hidden := !draft.revealed && slices.Contains(a.Redacted, name)
			value := pretty(object[name])
			if hidden {
				value = ""
			}
			out.Args = append(out.Args, pageArg{Name: name, Value: value, Withheld: hidden})
		}
	} else {
		out.Whole = pretty(a.Args)
	}
	whole := draft.revealed || len(a.Redacted) == 0
	if slices.Contains(req.Allowed, holdshort.Edit) && a.NeedsApproval && whole { // who cannot see all of it cannot write it anew
		if out.Edit = draft.form.Get("args." + strconv.Itoa(i)); out.Edit == "" {
			out.Edit = spelled(pretty(a.Args))
		}
	}
	return out
}

var past = map[holdshort.Verb]string{holdshort.Approve: "approved", holdshort.Reject: "rejected", holdshort.Edit: "changed and approved", holdshort.Answer: "answered",
	holdshort.Select: "chose", holdshort.Respond: "answered", holdshort.Cancel: "canceled"}

// standingOf says how a request that is no longer open ended.
func standingOf(seen engine.RequestView, now time.Time) (text, tone string) {
	req := seen.Request
	switch req.Status {
	case holdshort.RequestExpired:
		return "This expired. Nobody decided it in time, and nothing of it runs.", "no"
	case holdshort.RequestCanceled:
		return "This was canceled. There is nothing left to decide.", "no"
	case holdshort.RequestResolved:
		if d := seen.Decision; d != nil {
			tone = "ok"
			if d.Action == holdshort.Reject {
				tone = "no"
			}
			text = nameOf(d.Actor) + " " + past[d.Action] + " this " + ago(now.Sub(d.At)) + " ago."
			if d.Message != "" {
				text += " “" + d.Message + "”"
			}
			return text, tone
		}
		return "This is decided: " + string(req.Outcome) + ".", ""
	}
	return "", ""
}

func nameOf(a holdshort.Actor) string {
	if a.Name != "" && a.Name != a.ID {
		return a.Name + " (" + a.ID + ")"
	}
	return a.ID
}

func askedBy(req holdshort.Request) string {
	switch r := req.Requester; {
	case r.RaisedBy != "" && r.User != "" && r.RaisedBy != r.User:
		return "asked by " + r.RaisedBy + " for " + r.User
	case r.RaisedBy != "":
		return "asked by " + r.RaisedBy
	case r.User != "":
		return "asked for " + r.User
	}
	return "asked"
}

func why(req holdshort.Request) string {
	switch {
	case req.Rule != "":
		return "Stopped by the rule “" + req.Rule + "”."
	case req.Reason != "":
		return "Stopped: " + strings.ReplaceAll(req.Reason, "_", " ") + "."
	}
	return ""
}

func audienceOf(a holdshort.Audience) string {
	var who []string
	if len(a.Roles) > 0 {
		who = append(who, "whoever is "+strings.Join(a.Roles, " or "))
	}
	who = append(who, a.Users...)
	if a.Owner {
		who = append(who, "the user of the session")
	}
	if len(who) == 0 {
		return "nobody"
	}
	return strings.Join(who, ", ")
}

func contextOf(req holdshort.Request) string {
	if raw := string(req.Context); raw == "" || raw == "null" || raw == "{}" {
		return ""
	}
	return pretty(req.Context)
}

// pretty indents JSON without changing anything else of it.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// members are the names of an object's members in their order.
func members(object json.RawMessage) (names []string) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return names
		}
		if !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	return names
}
