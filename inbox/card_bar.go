package inbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/schema"
)

// barView is what somebody can do with a request. Every button says what it does.
type barView struct {
	Open, May    bool
	WhyNot       string // they may look, not decide
	Approve      string // what the button says; "": there is none
	ApproveAs    string // what it sends: approve, edit or each
	Reject       string
	RejectNote   string // what rejecting does to the run
	Each         bool   // calls can be decided one by one
	Edit         bool
	Editing      bool
	Respond      bool
	Select       bool
	Many         bool // more than one may be chosen
	Options      []choice
	Result       bool // what became of a call: its result can be written down
	ResultText   string
	Answer       string // "", text or form
	Value        string
	Fields       *field
	Confirm      string // what has to be typed
	ConfirmCount bool   // it is a number of calls
	Confirmed    string // what was
	Finals       int
	Unseen       bool // something is withheld that they must see first
	Reason       string
	ReasonOpen   bool
	RespondText  string
	RespondOpen  bool
	Wrong        string // the field that is
	WrongText    string
	UndoFor      int64 // milliseconds
	AnswerKey    string
}

func (v *visit) barOf(s sight, d draft) barView {
	req, form := s.Request, d.form
	b := barView{Open: req.Status == holdshort.RequestOpen, May: s.mayDecide, Reason: form.Get("reason"), RespondText: form.Get("respond"), Confirmed: form.Get("confirm"), Value: form.Get("value"),
		ResultText: form.Get("result"), Wrong: d.wrong, UndoFor: v.undoFor(req)}
	if d.refused != nil {
		b.WrongText = d.refused.Detail
		b.ReasonOpen, b.RespondOpen = form.Get("action") == "reject", form.Get("action") == "respond"
	}
	if !b.Open {
		return b
	}
	if !b.May {
		b.WhyNot = whyNot(s)
		return b
	}
	calls := needed(req)
	if allows(req, holdshort.Approve) {
		b.Approve, b.ApproveAs = buttonText("Approve", "approve", calls, req, s), "approve"
		b.Confirm, b.ConfirmCount, b.Finals = confirmationOfAll(req), calls > 1, finals(req)
		b.Each = calls > 1
		b.Unseen = slices.ContainsFunc(req.Actions, func(a holdshort.Action) bool { return a.NeedsApproval && s.hidesOf(a) })
	}
	if allows(req, holdshort.Reject) {
		b.Reject, b.RejectNote = buttonText("Reject", "reject", 0, req, s), map[holdshort.OnReject]string{holdshort.RejectContinue: "The agent is told, and goes on without it.",
			holdshort.RejectCancel: "The run is canceled.", holdshort.RejectReturn: "The run is told, and goes on."}[req.OnReject]
	}
	for _, a := range req.Actions {
		b.Edit = b.Edit || a.NeedsApproval && len(a.Editable) > 0 && allows(req, holdshort.Edit)
	}
	if b.Editing = b.Edit && (d.edit || form.Has("editing")); b.Editing && !b.Each {
		b.ApproveAs = "edit"
	}
	b.Respond = allows(req, holdshort.Respond) && calls == 1
	b.Select, b.Many = allows(req, holdshort.Select) && len(req.Options) > 0, req.ExpectedInput == holdshort.MultiChoice
	if b.Select {
		for _, o := range req.Options {
			b.Options = append(b.Options, choice{o.ID, o.Label, slices.Contains(form["option"], o.ID)})
		}
		b.Result = req.Kind == holdshort.Reconcile
	}
	b.AnswerKey = "a"
	if b.Approve != "" {
		b.AnswerKey = "s"
	}
	if allows(req, holdshort.Answer) {
		b.Answer = "text"
		if req.ExpectedInput == holdshort.Form {
			filled := form
			if !form.Has("fingerprint") {
				filled = nil
			}
			f := formFor(req, filled)
			f.mark(d.wrong, d.refused)
			b.Answer, b.Fields = "form", &f
		}
	}
	return b
}

// undoFor is how long the page keeps a decision back, in milliseconds: never so long that it would come too late.
func (v *visit) undoFor(req holdshort.Request) int64 {
	wait := v.options.Undo
	switch {
	case req.Undo < 0 || v.prefs.Calm && req.Undo == 0:
		return 0
	case req.Undo > 0:
		wait = req.Undo
	}
	return max(wait.Milliseconds(), 0)
}

func whyNot(s sight) string {
	switch {
	case s.voted:
		return "You have approved this. It waits for others."
	case s.Request.Audience.Excludes(holdshort.Actor{}, s.Request.Requester):
	}
	return "You can look at this, not decide it. " + capitalized(decidesOf(s.Request.Audience)) + "."
}

func finals(req holdshort.Request) (n int) {
	for _, a := range req.Actions {
		if a.NeedsApproval && a.Reversible == "no" && a.Effect != "read" {
			n++
		}
	}
	return n
}

// buttonText says what the button does.
func buttonText(word, id string, calls int, req holdshort.Request, s sight) string {
	for _, o := range req.Options {
		if o.ID == id && o.Label != "" && !strings.EqualFold(o.Label, word) && len(req.Actions) == 0 && len(o.Label) <= 40 && !hasOdd(o.Label) {
			return o.Label
		}
	}
	if calls > 1 {
		return word + " all " + strconv.Itoa(calls) + " calls"
	}
	if calls == 1 {
		i := slices.IndexFunc(req.Actions, func(a holdshort.Action) bool { return a.NeedsApproval })
		a := req.Actions[i]
		if amount := callAmount(a, s.withheld(a)); amount != "" {
			return word + " " + amount
		}
		if len(a.Tool) <= 40 && !hasOdd(a.Tool) {
			return word + " " + a.Tool
		}
	}
	return word
}

// amountNames are what a number is called that is the point of its call.
var amountNames = []string{"amount", "total", "sum", "price", "value"}

// callAmount is the amount that a call is about, as it stands in its arguments, with its currency if that stands there too; "" where there is
// none or more than one.
func callAmount(a holdshort.Action, withheld []string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(holdshort.Redact(a.Args, withheld), &object) != nil {
		return ""
	}
	amount := ""
	for _, name := range amountNames {
		if raw := object[name]; looksLikeNumber(string(raw)) && len(raw) < 20 {
			if amount != "" {
				return ""
			}
			amount = twoPlaces(string(raw))
		}
	}
	var currency string
	if amount != "" && json.Unmarshal(object["currency"], &currency) == nil && len(currency) == 3 && strings.ToUpper(currency) == currency && !hasOdd(currency) {
		amount += " " + currency
	}
	return amount
}

// twoPlaces writes 590.5 as people write money. Whole numbers stay whole: they may be of the smallest coin.
func twoPlaces(number string) string {
	if i := strings.IndexByte(number, '.'); i >= 0 && len(number)-i == 2 && !strings.ContainsAny(number, "eE") {
		return number + "0"
	}
	return number
}

// validAnswer checks an answer as the engine does.
func validAnswer(req holdshort.Request, value json.RawMessage) error {
	form, err := schema.Compile(req.Schema)
	if err != nil {
		return err
	}
	return form.Validate(cmpRaw(value))
}

func cmpRaw(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(cmp.Or(string(raw), "null"))
}
