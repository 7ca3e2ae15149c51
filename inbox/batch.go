package inbox

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// mostPicked is how many requests go into one batch.
const mostPicked = 200

// batchView is a selection: first what would happen, then what became of each.
type batchView struct {
	Verb    holdshort.Verb
	Key     string // of this summary: sent twice, it decides once
	Groups  []batchGroup
	Left    []leftOut // what cannot be decided together with others, and why
	Count   int       // how many are decided
	Lasting int       // how many calls of the selection cannot be undone
	Message string
	Results []batchResult
	Retry   []batchItem // those of which it is not known whether they arrived
	Done    int
	Back    string
}

// Approving and the words of the buttons.
func (b batchView) Approving() bool { return b.Verb == holdshort.Approve }

// Runs reports whether calls are decided, not only questions.
func (b batchView) Runs() bool {
	return slices.ContainsFunc(b.Groups, func(g batchGroup) bool { return g.Tool != "" })
}

// batchGroup is what runs with one tool.
type batchGroup struct {
	Tool    string // "" where nothing runs: questions to which the answer is yes
	Several bool   // each has more than one call
	Items   []batchItem
	Sums    []batchSum
}

// One is what one item of the group is called.
func (g batchGroup) One() string {
	switch {
	case g.Several:
		return "request"
	case g.Tool == "":
		return "question"
	}
	return "call"
}

// batchItem is one request of a batch, with everything that is decided by deciding it.
type batchItem struct {
	ID, Fingerprint, Code, Question, About string
	Args                                   string // in full
}

// Long reports whether the arguments need room of their own. What is short stands there without being asked for.
func (i batchItem) Long() bool { return len(i.Args) > 240 }

// batchSum is a field that every call of a tool has as a number.
type batchSum struct{ Field, Total string }

// leftOut is a request that has to be decided on its own.
type leftOut struct {
	ID, Question, Why string
}

// batchResult is what became of one request.
type batchResult struct {
	ID, Question, Said, Tone string
}

// serveBatch shows what a selection would decide, and with no step named decides it.
func (v *visit) serveBatch() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	verb := holdshort.Verb(form.Get("verb"))
	if verb != holdshort.Approve && verb != holdshort.Reject {
		return &holdshort.Error{Code: holdshort.Invalid, Field: "verb", Message: "several requests are approved or rejected", Hint: "press one of the two buttons"}
	}
	if v.r.URL.Query().Get("step") == "summary" {
		ids, err := picked(form["pick"])
		if err != nil {
			return err
		}
		b, err := v.summary(verb, ids)
		if err != nil {
			return err
		}
		return v.batch(b)
	}
	return v.sendBatch(verb, form)
}

func (v *visit) batch(b batchView) error {
	if b.Back = "/"; v.partial() {
		return v.part(http.StatusOK, "desk_batch", b)
	}
	d := deskView{View: view{Name: "inbox"}, Batch: &b}
	if counts, err := v.engine.DeskCounts(v.ctx, v.tenant(), v.actor()); err == nil { // for the navigation
		d.Counts = &counts
	}
	return v.page(http.StatusOK, "desk", "Several requests", d)
}

// picked reads the ids of a selection, each once.
func picked(values []string) ([]holdshort.RequestID, error) {
	var ids []holdshort.RequestID
	for _, id := range values {
		if !slices.Contains(ids, holdshort.RequestID(id)) {
			ids = append(ids, holdshort.RequestID(id))
		}
	}
	if len(ids) == 0 || len(ids) > mostPicked {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "pick", Message: "1 to 200 requests are decided together", Hint: "select some rows first"}
	}
	return ids, nil
}

// summary says what deciding the selection would do, and what of it has to be decided alone.
func (v *visit) summary(verb holdshort.Verb, ids []holdshort.RequestID) (batchView, error) {
	b := batchView{Verb: verb, Key: rand.Text()}
	groups := map[string]*batchGroup{}
	var order []string
	for _, id := range ids {
		found, err := v.engine.RequestFor(v.ctx, v.tenant(), id, v.actor())
		if code := holdshort.CodeOf(err); code == holdshort.NotFound || code == holdshort.Forbidden {
			b.Left = append(b.Left, leftOut{ID: string(id), Question: string(id), Why: "there is no such request for you"})
			continue
		} else if err != nil {
			return b, err
		}
		req := found.Request
		for _, a := range req.Actions {
			if a.Reversible == "no" && !a.Refused {
				b.Lasting++
			}
		}
		if why := v.alone(verb, found); why != "" {
			b.Left = append(b.Left, leftOut{ID: string(id), Question: req.Question, Why: why})
			continue
		}
		item := itemOf(req)
		tool := toolOf(req)
		if groups[tool] == nil {
			groups[tool] = &batchGroup{Tool: tool, Several: len(req.Actions) > 1}
			order = append(order, tool)
		}
		groups[tool].Items = append(groups[tool].Items, item)
		b.Count++
	}
	for _, tool := range order {
		g := groups[tool]
		if !g.Several {
			g.Sums = sumsOf(g.Items)
		}
		b.Groups = append(b.Groups, *g)
	}
	return b, nil
}

func toolOf(req holdshort.Request) string {
	switch len(req.Actions) {
	case 0:
		return ""
	case 1:
		return req.Actions[0].Tool
	}
	return "\x00several" // no tool is called that
}

func itemOf(req holdshort.Request) batchItem {
	item := batchItem{ID: string(req.ID), Fingerprint: req.Fingerprint, Code: req.Code, Question: req.Question, About: aboutOf(req)}
	var args []string
	for _, a := range req.Actions {
		text := string(holdshort.Redact(a.Args, a.Redacted))
		if len(req.Actions) > 1 {
			text = a.Tool + " " + text
		}
		args = append(args, text)
	}
	item.Args = strings.Join(args, "\n")
	return item
}

// alone says why a request cannot be decided together with others, "" if it can. Saying no runs nothing: most that needs a closer look before a
// yes can be refused together.
func (v *visit) alone(verb holdshort.Verb, found engine.RequestView) string {
	req := found.Request
	may, rule := policy.Can(policy.Decide, v.actor(), policy.Resource{Audience: req.Audience, Owner: req.Requester.User, Requester: req.Requester})
	switch status := req.StatusAt(v.now); {
	case status == holdshort.RequestExpired:
		return "it has expired"
	case status != holdshort.RequestOpen:
		return "it is closed: " + cameTo(req, found.Decision)
	case !may && rule == "requester":
		return "whoever asked for it does not decide it"
	case !may:
		return "you are not among those who decide it"
	case req.ExpectedInput != holdshort.YesNo || req.Kind == holdshort.Reconcile:
		return "it takes an answer of its own"
	case !slices.Contains(req.Allowed, verb):
		return "it does not take " + string(verb)
	case verb != holdshort.Approve:
		return ""
	case req.Audience.Needed() > 1:
		return "it takes more than one approval: look at who gave theirs"
	case len(req.Actions) > 1:
		return "it has several calls: look at each"
	}
	for _, a := range req.Actions {
		switch {
		case a.Refused:
			return "its call does not run, whatever is decided"
		case a.Reversible == "no":
			return "it cannot be undone: it needs a typed confirmation of its own"
		case slices.ContainsFunc(a.Redacted, func(field string) bool { return !slices.Contains(a.Blind, field) }):
			return "part of it is withheld: reveal it first"
		}
	}
	return ""
}

// cameTo says what a closed request came to.
func cameTo(req holdshort.Request, d *holdshort.Decision) string {
	said := string(req.Outcome)
	if said == "" {
		said = string(req.Status)
	}
	if d != nil {
		said += " by " + nameOf(d.Actor)
	}
	return said
}
