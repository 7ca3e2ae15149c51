package inbox

import (
	"net/http"
	"net/url"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// cardRoutes are the card of a request and what its forms do.
func (in *Inbox) cardRoutes() {
	in.show("/requests/{id}/card", policy.View, (*visit).serveCard)
	in.act("/requests/{id}/decide", policy.Decide, (*visit).serveDecide)
	in.act("/requests/{id}/check", policy.Decide, (*visit).serveCheck)
	in.act("/requests/{id}/reveal", policy.Decide, (*visit).serveReveal)
	in.act("/requests/{id}/comment", policy.Comment, (*visit).serveComment)
	in.act("/requests/{id}/assign", policy.Assign, (*visit).serveAssign)
	in.act("/requests/{id}/cancel", policy.CancelRequest, (*visit).serveCancel)
}

// draft is what somebody has done on a card so far. The zero value is a card that was just opened.
type draft struct {
	form    url.Values // what they typed, to be shown again when it did not fit
	refused *refused   // why it was not taken
	wrong   string     // the field that is
	said    string     // what was recorded
	proof   string     // that they looked at what is withheld, and it was noted
	token   string     // of a personal link
	edit    bool       // the arguments are shown as fields
	lost    bool       // somebody else was faster: nothing of theirs was used
}

// cardView is a request on its card, to somebody who may see it.
type cardView struct {
	ID, Code, Kind, Tag, Question string
	Head, Rest                    string // the first line of the question, and what follows it
	Status                        string
	Revision                      int64
	Position                      int64 // of the log, read before the card; 0 if the page has no stream
	Fingerprint                   string
	Priority                      string // where it is more than normal
	Created, Due                  time.Time
	Left                          string
	Soon                          bool
	Asker                         string // by whom and for whom
	Assignee                      string
	Run, Session                  string // where they may look further
	SessionAbout                  string
	Similar                       similarView
	Why                           whyView
	Calls                         []callView
	Called                        []callView // what a question about a lost answer is about
	CalledBy                      string     // the request that approved it
	Index                         []jump     // into arguments that are long
	Withheld                      bool       // something is, and can be revealed
	Proof                         string
	Compare                       *compareView
	Talk                          talkView
	Timeline                      timelineView
	Who                           whoView
	Comments                      []commentView
	MayComment                    bool
	MayAssign, MayCancel          bool
	Context                       []argNode
	Repair                        *repairView
	Standing                      standingView
	Outcome                       outcomeView
	Bar                           barView
	Said, Detail, Hint            string
	Lost                          bool
	Token                         string // of a personal link; "": they are logged in
	Post, RevealPost              string // where the forms go
	Form                          string // id of the form
	Key                           string // of this drawing: whatever is sent twice counts once
	Me                            string
}

// Link reports whether somebody is here by a personal link: there is nothing else for them to see.
func (c cardView) Link() bool { return c.Token != "" }

// card draws a request for whoever visits.
func (v *visit) card(id holdshort.RequestID, d draft) (cardView, error) {
	seen, err := v.engine.RequestFor(v.ctx, v.tenant(), id, v.actor())
	if err != nil {
		return cardView{}, err
	}
	return v.cardOf(seen, d)
}

// cardOf draws a request that was read for whoever visits.
func (v *visit) cardOf(seen engine.RequestView, d draft) (cardView, error) {
	req := seen.Request
	sight := v.sightOf(seen, d)
	c := cardView{ID: string(req.ID), Code: req.Code, Kind: string(req.Kind), Tag: tags[req.Kind], Question: req.Question, Status: string(req.Status), Revision: req.Revision, Position: v.at, Fingerprint: req.Fingerprint,
		Created: req.CreatedAt, Asker: askerOf(req, sight.run), Assignee: req.Assignee, Token: d.token, Said: d.said, Lost: d.lost, Proof: sight.proof, Form: "decide-" + string(req.ID), Key: newKey(), Me: v.actor().Who()}
	c.Head, c.Rest = headline(req)
	if c.Tag == "" {
		c.Tag = string(req.Kind)
	}
	if req.Priority == holdshort.PriorityHigh || req.Priority == holdshort.PriorityCritical {
		c.Priority = string(req.Priority)
	}
	if d.refused != nil {
		c.Detail, c.Hint = d.refused.Detail, d.refused.Hint
	}
	c.Post, c.RevealPost = "/requests/"+c.ID+"/decide", "/requests/"+c.ID+"/reveal"
	if c.Link() {
		c.Post, c.RevealPost = "/r/"+c.ID, "/r/"+c.ID
	}
	if due := req.Due(); req.Status == holdshort.RequestOpen && !due.IsZero() {
		c.Due, c.Left, c.Soon = due, remaining(due.Sub(v.now)), due.Before(v.now.Add(soon))
	}
	v.around(&c, sight)
	c.Why = v.whyOf(req)
	c.Who = whoOf(seen, sight, v.actor())
	c.Standing = standingOf(seen, v.actor(), v.now)
	c.Calls = v.callsOf(sight, d)
	c.Index = indexOf(c.Calls)
	c.Withheld = sight.hides && sight.audience && (!c.Link() || req.Status == holdshort.RequestOpen) // a link dies with its request
	c.Context = contextOf(req)
	c.Repair = repairOf(req)
	c.Called, c.CalledBy = v.calledOf(sight, d)
	c.Bar = v.barOf(sight, d)
	c.Outcome = v.outcomeOf(sight)
	if err := v.history(&c, sight); err != nil {
		return c, err
	}
	return c, nil
}

// serveCard answers with the card alone.
func (v *visit) serveCard() error {
	q := v.r.URL.Query()
	c, err := v.card(v.requestID(), draft{edit: q.Has("edit"), proof: v.r.Header.Get(proofHeader)})
	if err != nil {
		return err
	}
	return v.showCard(http.StatusOK, c)
}

// requestID is the request that the address names.
func (v *visit) requestID() holdshort.RequestID { return holdshort.RequestID(v.r.PathValue("id")) }

// showCard answers with a card: alone to a script, else on a page of its own.
func (v *visit) showCard(status int, c cardView) error {
	if v.partial() {
		return v.part(status, "card", c)
	}
	return v.page(status, "card", c.Head, c)
}

// again shows the card as it stands now, with what somebody typed and why it was not taken.
func (v *visit) again(id holdshort.RequestID, d draft, err error) error {
	status := http.StatusOK
	if err != nil {
		p := refusalOf(err)
		if p.Status == http.StatusNotFound || p.Status == http.StatusUnauthorized {
			return err
		}
		if p.Status >= http.StatusInternalServerError {
			v.log.Error("a decision could not be taken", "request_id", id, "code", p.Code, "error", err)
		}
		status, d.refused, d.wrong = p.Status, &p, fieldOf(err)
	}
	if v.at > 0 { // the card shows what the form did: a page that compares positions must not take it for older
		if at, err := v.engine.Position(v.ctx, v.tenant()); err == nil {
			v.at = at
		}
	}
	c, err := v.card(id, d)
	if err != nil {
		return err
	}
	return v.showCard(status, c)
}
