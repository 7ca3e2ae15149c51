package inbox

import (
	"net/http"
	"strings"
	"time"

	"github.com/holdshort/holdshort/engine"
)

// commentView is what somebody said about a request.
type commentView struct {
	Who, Text string
	At        time.Time
	Erased    bool
}

// serveComment notes what somebody says about a request without deciding it.
func (v *visit) serveComment() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	id := v.requestID()
	text := strings.ReplaceAll(strings.TrimSpace(form.Get("text")), "\r\n", "\n")
	if _, err := v.engine.Comment(v.once(form, http.StatusOK), v.tenant(), engine.CommentInput{Request: id, Actor: v.actor(), Text: text}); err != nil && !replayed(err) {
		return v.again(id, draft{form: form, proof: form.Get("proof")}, err)
	}
	if !v.partial() {
		return v.redirect("/requests/" + string(id))
	}
	return v.again(id, draft{proof: form.Get("proof")}, nil)
}

// serveAssign hands a request to somebody: it never changes who may decide it.
func (v *visit) serveAssign() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	id, to := v.requestID(), form.Get("to")
	if to == "me" {
		to = v.actor().Who()
	}
	if _, err := v.engine.Assign(v.ctx, v.tenant(), engine.AssignInput{Request: id, Actor: v.actor(), To: to}); err != nil {
		return v.again(id, draft{form: form, proof: form.Get("proof")}, err)
	}
	if !v.partial() {
		return v.redirect("/requests/" + string(id))
	}
	return v.again(id, draft{proof: form.Get("proof")}, nil)
}

// serveCancel calls a request off.
func (v *visit) serveCancel() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	id := v.requestID()
	_, err = v.engine.CancelRequest(v.once(form, http.StatusOK), v.tenant(), engine.CancelRequestInput{Request: id, Actor: v.actor(), Reason: strings.TrimSpace(form.Get("reason"))})
	if err != nil && !replayed(err) {
		return v.again(id, draft{form: form, proof: form.Get("proof")}, err)
	}
	if !v.partial() {
		return v.redirect("/requests/" + string(id))
	}
	return v.again(id, draft{}, nil)
}
