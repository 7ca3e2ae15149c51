package inbox

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// newKey names one drawing of a card: whatever is sent from it twice counts once.
func newKey() string { return rand.Text() }

// once lets the use case that is called with the returned context count once under the key that the form carries.
func (v *visit) once(form url.Values, status int) context.Context {
	key := form.Get("key")
	if key == "" || len(key) > 200 {
		return v.ctx
	}
	body := url.Values{}
	for name, values := range form {
		if name != "key" && name != "t" && name != "proof" {
			body[name] = values
		}
	}
	hash := sha256.Sum256([]byte(body.Encode()))
	scope := v.actor().ID
	if user := v.actor().ForUser; user != "" { // what was done for one user was not done for another
		scope += " for " + user
	}
	return engine.Once(v.ctx, engine.OnceKey{Scope: scope + " " + v.r.Method + " " + v.r.URL.Path, Key: key, BodyHash: hex.EncodeToString(hash[:]), Status: status, Answer: []byte("{}")})
}

// replayed reports whether something was done before under its key.
func replayed(err error) bool {
	var before *engine.Replayed
	return errors.As(err, &before)
}

// serveDecide takes the form of the card. It answers with the card as it stands then.
func (v *visit) serveDecide() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	id := v.requestID()
	d, err := v.decideForm(id, form, "")
	if err == nil && !v.partial() && d.said != "" { // looking at the page again must not send the form again
		return v.redirect("/requests/" + string(id))
	}
	return v.again(id, d, err)
}

// decideForm does what a form says: decides, or shows more of the form, or reveals what is withheld. It gives what the card then shows, and
// why nothing was decided.
func (v *visit) decideForm(id holdshort.RequestID, form url.Values, token string) (draft, error) {
	d := draft{form: form, proof: form.Get("proof"), edit: form.Has("editing"), token: token}
	if again, ok := redrawn(form); ok {
		d.form = again
		return d, nil
	}
	seen, err := v.engine.RequestFor(v.ctx, v.tenant(), id, v.actor())
	if err != nil {
		return d, err
	}
	if form.Get("action") == "reveal" {
		if token != "" && seen.Request.Status != holdshort.RequestOpen { // a link dies with its request
			return d, standingFirst(seen.Request, nil)
		}
		d.proof, err = v.reveal(id)
		return d, err
	}
	in, err := v.decisionOf(form, v.sightOf(seen, d))
	if err == nil {
		err = v.who.Check(policy.Decide)
	}
	if err != nil {
		return d, standingFirst(seen.Request, err)
	}
	in.Request, in.Actor, in.Channel = id, v.actor(), "page"
	if token != "" {
		in.Channel = "link"
	}
	out, err := v.engine.Decide(v.once(form, http.StatusOK), v.tenant(), in)
	v.ctx = context.WithoutCancel(v.ctx) // it is decided: what came of it is said, also to whoever is in a hurry
	switch {
	case replayed(err):
		v.w.Header().Set("Idempotent-Replayed", "true")
		return draft{said: "Recorded.", proof: d.proof, token: token}, nil
	case err != nil:
		d.lost = slices.Contains([]holdshort.Code{holdshort.Closed, holdshort.Expired}, holdshort.CodeOf(err))
		return d, err
	}
	return draft{said: recorded(in.Action, out), proof: d.proof, token: token}, nil
}

// standingFirst: whoever comes too late hears that, not that a field was wrong.
func standingFirst(req holdshort.Request, err error) error {
	switch req.Status {
	case holdshort.RequestOpen:
		return err
	case holdshort.RequestExpired:
		return &holdshort.Error{Code: holdshort.Expired, Message: "the request expired", Hint: "ask the requester to try again"}
	}
	return &holdshort.Error{Code: holdshort.Closed, Message: "the request is no longer open", Hint: "nothing is left to decide"}
}

// recorded says in plain words what was done.
func recorded(verb holdshort.Verb, out engine.Decided) string {
	switch {
	case out.Next != nil:
		return "You changed this. Others have to approve the changed form."
	case out.Request.Status == holdshort.RequestOpen:
		return "Your approval counts. Others have to approve too."
	}
	switch verb {
	case holdshort.Approve:
		return "You approved this."
	case holdshort.Reject:
		return "You rejected this. Nothing of it runs."
	case holdshort.Edit:
		return "You changed this, and approved it as changed."
	case holdshort.Cancel:
		return "You canceled this."
	}
	return "Your answer is recorded."
}

// decisionOf reads what the form says. A button that is not known decides nothing.
func (v *visit) decisionOf(form url.Values, s sight) (in engine.DecideInput, err error) {
	req := s.Request
	in = engine.DecideInput{Fingerprint: form.Get("fingerprint"), Message: unix(strings.TrimSpace(form.Get("message")))}
	if in.Fingerprint == "" { // without it nobody knows what the person saw
		return in, &holdshort.Error{Code: holdshort.Invalid, Field: "fingerprint", Message: "nobody can tell what you saw", Hint: "open the page again"}
	}
	if in.Fingerprint != req.Fingerprint {
		return in, &holdshort.Error{Code: holdshort.FingerprintMismatch, Message: "what is asked has changed", Hint: "look again: this is what stands now"}
	}
	action := form.Get("action")
	if action == "each" {
		return v.eachCall(in, form, s)
	}
	if in.Action, err = holdshort.ParseVerb(action); err != nil {
		return in, err
	}
	switch in.Action {
	case holdshort.Reject:
		if reason := unix(strings.TrimSpace(form.Get("reason"))); reason != "" {
			in.Message = reason
		}
	case holdshort.Select:
		in.OptionIDs = form["option"]
		in.Value, err = happenedResult(form, req)
	case holdshort.Answer:
		in.Value, err = answerOf(form, req)
	case holdshort.Respond:
		in.Value, err = textOf("respond", form.Get("respond"))
	case holdshort.Edit:
		in, err = v.onlyEdit(in, form, s)
	}
	if err == nil {
		err = unseen(s, in.Action, in.Calls)
	}
	if err == nil && s.audience {
		err = confirmed(req, in.Action, in.Calls, form.Get("confirm"))
	}
	return in, err
}

// onlyEdit is an edit of the request as a whole: every call that was changed is edited, the others are approved.
func (v *visit) onlyEdit(in engine.DecideInput, form url.Values, s sight) (engine.DecideInput, error) {
	changed := false
	for i, a := range s.Request.Actions {
		if !a.NeedsApproval {
			continue
		}
		args, differs, err := v.editedArgs(form, s, i)
		if err != nil {
			return in, err
		}
		c := holdshort.CallDecision{CallID: a.CallID, Action: holdshort.Approve}
		if differs {
			changed, c.Action, c.Args = true, holdshort.Edit, args
		}
		in.Calls = append(in.Calls, c)
	}
	if !changed { // somebody looked at the fields and left them
		in.Action, in.Calls = holdshort.Approve, nil
	}
	return in, nil
}

// eachCall decides the calls one by one.
func (v *visit) eachCall(in engine.DecideInput, form url.Values, s sight) (engine.DecideInput, error) {
	in.Action = holdshort.Reject
	for i, a := range s.Request.Actions {
		if !a.NeedsApproval {
			continue
		}
		number := strconv.Itoa(i)
		c := holdshort.CallDecision{CallID: a.CallID}
		switch choice := form.Get("call." + number); choice {
		case "approve", "edit":
			c.Action = holdshort.Approve
			args, differs, err := v.editedArgs(form, s, i)
			if err != nil {
				return in, err
			}
			if differs && form.Has("editing") {
				c.Action, c.Args = holdshort.Edit, args
			}
		case "reject":
			c.Action, c.Message = holdshort.Reject, unix(strings.TrimSpace(form.Get("reason."+number)))
		case "respond":
			text := unix(strings.TrimSpace(form.Get("respond." + number)))
			if text == "" {
				return in, misfit("respond."+number, "the answer for call "+strconv.Itoa(i+1)+" is empty", "write one, or choose otherwise")
			}
			c.Action, c.Message = holdshort.Respond, text
		default:
			return in, misfit("call."+number, "call "+strconv.Itoa(i+1)+" is not decided", "choose for each call what becomes of it")
		}
		if c.Action != holdshort.Reject {
			in.Action = holdshort.Approve
		}
		in.Calls = append(in.Calls, c)
	}
	if err := unseen(s, in.Action, in.Calls); err != nil || !s.audience {
		return in, err
	}
	return in, confirmed(s.Request, in.Action, in.Calls, form.Get("confirm"))
}

// editedArgs are the arguments of a call with what was typed in their place. What nobody may change, or does not see, stays as it is.
func (v *visit) editedArgs(form url.Values, s sight, i int) (args json.RawMessage, differs bool, err error) {
	a := s.Request.Actions[i]
	c := callView{Index: i}
	c.Args, c.Whole = argsOf(a, s, i)
	if !form.Has("editing") || !allows(s.Request, holdshort.Edit) || len(a.Editable) == 0 {
		return a.Args, false, nil
	}
	v.editable(&c, a, s, draft{form: form})
	var object map[string]json.RawMessage
	if !c.MayEdit || json.Unmarshal(a.Args, &object) != nil {
		return a.Args, false, nil
	}
	for _, n := range c.Args {
		if n.Edit == nil {
			continue
		}
		raw, err := n.Edit.read()
		if err != nil {
			return nil, false, err
		}
		if raw == nil {
			delete(object, n.Name)
			continue
		}
		object[n.Name] = raw
	}
	if args, err = json.Marshal(object); err != nil {
		return nil, false, err
	}
	if args, err = holdshort.Canonical(args); err != nil {
		return nil, false, err
	}
	return args, string(args) != string(a.Args), nil
}

// answerOf is the answer to a question: a text, or the fields of a form.
func answerOf(form url.Values, req holdshort.Request) (json.RawMessage, error) {
	if req.ExpectedInput != holdshort.Form {
		return textOf("value", form.Get("value"))
	}
	return formFor(req, form).read()
}

// formFor is the form of a request.
func formFor(req holdshort.Request, form url.Values) field {
	return fieldFor(shapeOf(req.Schema), req.Schema, nil, form, "f", "", true, outermost())
}

func textOf(name, text string) (json.RawMessage, error) {
	text = unix(strings.TrimSpace(text))
	if text == "" {
		return nil, misfit(name, "the answer is empty", "write one")
	}
	return json.Marshal(text)
}

// happenedResult is what a call gave whose answer was lost, as whoever looked found out. None is known if they write none.
func happenedResult(form url.Values, req holdshort.Request) (json.RawMessage, error) {
	text := unix(strings.TrimSpace(form.Get("result")))
	if req.Kind != holdshort.Reconcile || text == "" || !slices.Contains(form["option"], "happened") {
		return nil, nil
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}
