package inbox

import (
	"encoding/json"
	"net/http"

	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// checkAnswer is what would come of an edit or an answer, told while it is typed.
type checkAnswer struct {
	OK      bool         `json:"ok"`
	Field   string       `json:"field,omitempty"` // that is wrong: the name of its input, or of the argument
	Message string       `json:"message,omitempty"`
	Hint    string       `json:"hint,omitempty"`
	Note    string       `json:"note,omitempty"` // what it takes: "would need 2 of finance"
	Changes []changeLine `json:"changes,omitempty"`
}

// changeLine is one argument that would be another.
type changeLine struct {
	Call int    `json:"call"`
	Name string `json:"name"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// serveCheck says whether what stands in the form could be sent. It decides nothing and leaves nothing.
func (v *visit) serveCheck() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	d := draft{form: form, proof: form.Get("proof")}
	seen, err := v.engine.RequestFor(v.ctx, v.tenant(), v.requestID(), v.actor())
	if err != nil {
		return err
	}
	s := v.sightOf(seen, d)
	answer := checkAnswer{OK: true}
	if s.Request.ExpectedInput == "form" && allows(s.Request, "answer") {
		value, err := formFor(s.Request, form).read()
		if err == nil {
			err = validAnswer(s.Request, value)
		}
		answer.refused(err)
	}
	for i, a := range s.Request.Actions {
		if !a.NeedsApproval || !answer.OK || !s.mayDecide {
			continue
		}
		args, differs, err := v.editedArgs(form, s, i)
		if err != nil || !differs {
			answer.refused(err)
			continue
		}
		found, err := v.engine.CheckEdit(v.ctx, v.tenant(), engine.CheckEditInput{Request: s.Request.ID, Actor: v.actor(), CallID: a.CallID, Args: args})
		answer.refused(err)
		if err == nil && found.Again && answer.Note == "" {
			answer.Note = noteOf(found, s)
		}
		was, is := leavesOf(a.Args, s.withheld(a)), leavesOf(args, s.withheld(a))
		if len(was) > mostLeaves || len(is) > mostLeaves {
			continue
		}
		rows, _ := diffOf(was, is)
		for _, r := range rows {
			if !r.Withheld {
				answer.Changes = append(answer.Changes, changeLine{i, r.Name, r.Was, r.Is})
			}
		}
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	v.w.WriteHeader(http.StatusOK)
	v.w.Write(raw) // whoever does not listen any more cannot be told
	return nil
}

func (a *checkAnswer) refused(err error) {
	if err == nil || !a.OK {
		return
	}
	p := refusalOf(err)
	a.OK, a.Field, a.Message, a.Hint = false, fieldOf(err), p.Detail, p.Hint
}

// noteOf says whom an edit needs besides whoever makes it.
func noteOf(found engine.EditCheck, s sight) string {
	audience := found.Audience
	if found.Decision != policy.Ask || s.Request.Audience.Needed() > audience.Needed() {
		audience = s.Request.Audience
	}
	return "Changed like this it needs " + fewWords(audience.Needed()) + " of " + audienceOf(audience) + ", and is asked about again."
}
