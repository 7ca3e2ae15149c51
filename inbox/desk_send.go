package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// sendBatch decides each of the selection on its own: with the fingerprint of what the summary showed, and under a key of its own, so that what
// is sent again after a lost answer is decided once.
func (v *visit) sendBatch(verb holdshort.Verb, form url.Values) error {
	ids, prints, key := form["id"], form["fingerprint"], form.Get("key")
	if len(ids) == 0 || len(ids) > mostPicked || len(ids) != len(prints) || key == "" || len(key) > 100 {
		return &holdshort.Error{Code: holdshort.Invalid, Message: "the form is not whole", Hint: "select the rows again"}
	}
	b := batchView{Verb: verb, Key: key, Message: strings.TrimSpace(form.Get("message")), Count: len(ids)}
	seen := map[string]bool{}
	for i, id := range ids {
		if seen[id] || prints[i] == "" {
			return &holdshort.Error{Code: holdshort.Invalid, Message: "a request stands twice in the form, or without what was shown of it", Hint: "select the rows again"}
		}
		seen[id] = true
	}
	for i, id := range ids {
		b.add(v.decideOne(b, holdshort.RequestID(id), prints[i]), prints[i])
	}
	return v.batch(b)
}

func (b *batchView) add(r batchResult, fingerprint string) {
	b.Results = append(b.Results, r)
	switch r.Tone {
	case "yes":
		b.Done++
	case "unsure":
		b.Retry = append(b.Retry, batchItem{ID: r.ID, Fingerprint: fingerprint})
	}
}

// decideOne decides one of a batch, and says truthfully what became of it.
func (v *visit) decideOne(b batchView, id holdshort.RequestID, fingerprint string) batchResult {
	out := batchResult{ID: string(id), Question: string(id)}
	found, err := v.engine.RequestFor(v.ctx, v.tenant(), id, v.actor())
	if err != nil {
		return out.refusedBy(err, engine.Decided{}, v)
	}
	out.Question = found.Request.Question
	if found.Request.Status == holdshort.RequestOpen && found.Request.Fingerprint == fingerprint { // else the engine says why not, or that it was done before
		if why := v.alone(b.Verb, found); why != "" {
			out.Said, out.Tone = "not decided: "+why, "no"
			return out
		}
	}
	body := sha256.Sum256([]byte(strings.Join([]string{string(b.Verb), string(id), fingerprint, b.Message}, "\x00")))
	scope := v.actor().ID
	if user := v.actor().ForUser; user != "" {
		scope += " for " + user
	}
	answer, err := json.Marshal(map[string]string{"id": string(id)})
	if err != nil {
		return out.refusedBy(err, engine.Decided{}, v)
	}
	ctx := engine.Once(v.ctx, engine.OnceKey{Scope: scope + " POST /requests/batch", Key: b.Key + "/" + string(id), BodyHash: hex.EncodeToString(body[:]), Status: http.StatusOK, Answer: answer})
	done, err := v.engine.Decide(ctx, v.tenant(), engine.DecideInput{Request: id, Action: b.Verb, Actor: v.actor(), Message: b.Message, Fingerprint: fingerprint, Channel: "inbox"})
	var before *engine.Replayed
	switch {
	case errors.As(err, &before):
		out.Said, out.Tone = decidedWord[b.Verb], "yes" // by this very form, which was sent twice
	case err != nil:
		return out.refusedBy(err, done, v)
	case done.Request.Status == holdshort.RequestOpen:
		out.Said, out.Tone = "your approval counts; more are needed", "yes"
	default:
		out.Said, out.Tone = decidedWord[b.Verb], "yes"
	}
	return out
}

var decidedWord = map[holdshort.Verb]string{holdshort.Approve: "approved", holdshort.Reject: "rejected"}

// refusedBy says why a request was not decided, and what stands instead.
func (r batchResult) refusedBy(err error, done engine.Decided, v *visit) batchResult {
	r.Tone = "no"
	switch holdshort.CodeOf(err) {
	case holdshort.Closed:
		r.Said = "not decided by you: " + cameTo(done.Request, done.Decision)
		if done.Decision != nil {
			r.Said += " " + ago(v.now.Sub(done.Decision.At))
		}
	case holdshort.Expired:
		r.Said = "not decided: it expired before this arrived"
	case holdshort.FingerprintMismatch:
		r.Said = "not decided: what is asked is not what the summary showed"
	case holdshort.NotFound:
		r.Said = "not decided: there is no such request for you"
	default:
		refusal := refusalOf(err)
		if refusal.Status >= http.StatusInternalServerError || v.ctx.Err() != nil {
			r.Said, r.Tone = "it is not known whether this arrived", "unsure"
			if v.ctx.Err() == nil {
				v.log.Error("a request of a batch could not be decided", "request", r.ID, "error", err)
			}
			return r
		}
		r.Said = "not decided: " + refusal.Detail
	}
	return r
}
