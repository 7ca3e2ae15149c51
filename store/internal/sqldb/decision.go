package sqldb

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
)

type decisionBody struct {
	Action       holdshort.Verb           `json:"action"`
	Actor        holdshort.Actor          `json:"actor"`
	Message      string                   `json:"message,omitempty"`
	OptionIDs    []string                 `json:"option_ids,omitempty"`
	Value        json.RawMessage          `json:"value,omitempty"`
	Calls        []holdshort.CallDecision `json:"calls,omitempty"`
	Raw          string                   `json:"raw,omitempty"`
	Channel      string                   `json:"channel,omitempty"`
	ResolvedBy   string                   `json:"resolved_by,omitempty"`
	SelfApproved bool                     `json:"self_approved,omitempty"`
	Fingerprint  string                   `json:"fingerprint"`
}

const decisionColumns = `id, request_id, actor_id, nonce, key_id, mac, at, body`

var (
	insertDecision = inserts("decisions", []string{"tenant", "id", "request_id", "vote", "actor_id", "nonce", "key_id", "mac", "at", "body"}, "", "", "")
	selectDecision = point(`SELECT ` + decisionColumns + ` FROM decisions WHERE tenant = ? AND request_id = ? AND vote = 0`)
	selectVotes    = point(`SELECT ` + decisionColumns + ` FROM decisions WHERE tenant = ? AND request_id = ? AND vote = 1 ORDER BY at, id`)
	insertUse      = inserts("decision_uses", []string{"tenant", "decision_id", "call_id", "operation_id", "at"}, "", "", "")
)

func (tx *Tx) Decision(request holdshort.RequestID) (holdshort.Decision, error) {
	return one(tx, selectDecision, "decision of", string(request), tx.scanDecision)
}

func (tx *Tx) Votes(request holdshort.RequestID) ([]holdshort.Vote, error) {
	return all(tx, selectVotes, []any{string(tx.tenant), string(request)}, tx.scanDecision)
}

func (tx *Tx) scanDecision(scan func(...any) error) (d holdshort.Decision, id string, err error) {
	var at int64
	var body []byte
	if err = scan(&id, &d.RequestID, &d.Actor.ID, &d.Nonce, &d.KeyID, &d.MAC, &at, &body); err != nil {
		return d, id, err
	}
	d.ID, d.At = holdshort.DecisionID(id), fromMicros(at)
	if len(body) == 0 {
		return d, id, nil // erased
	}
	var b decisionBody
	if err := tx.decode("decision", id, body, &b); err != nil {
		return d, id, err
	}
	d.Action, d.Actor, d.Message, d.OptionIDs, d.Value, d.Calls = b.Action, b.Actor, b.Message, b.OptionIDs, b.Value, b.Calls
	d.Raw, d.Channel, d.SelfApproved, d.Fingerprint = b.Raw, b.Channel, b.SelfApproved, b.Fingerprint
	d.ResolvedBy = b.ResolvedBy
	return d, id, nil
}

func (tx *Tx) AddDecision(d holdshort.Decision) error {
	return tx.addDecision(d, false, &holdshort.Error{Code: holdshort.Closed, Op: "decide " + string(d.RequestID), Message: "another decision won",
		Hint: "load the standing decision"})
}

func (tx *Tx) AddVote(v holdshort.Vote) error {
	return tx.addDecision(v, true, &holdshort.Error{Code: holdshort.AlreadyVoted, Op: "vote on " + string(v.RequestID), Message: v.Actor.ID + " voted already"})
}

func (tx *Tx) addDecision(d holdshort.Decision, vote bool, lost error) error {
	id := string(d.ID)
	if err := tx.required("decision", id, string(d.RequestID), d.Actor.ID, d.Nonce, d.KeyID, d.MAC); err != nil {
		return err
	}
	body, err := tx.encode("decision", id, decisionBody{Action: d.Action, Actor: d.Actor, Message: d.Message, OptionIDs: d.OptionIDs, Value: d.Value,
		Calls: d.Calls, Raw: d.Raw, Channel: d.Channel, ResolvedBy: d.ResolvedBy, SelfApproved: d.SelfApproved, Fingerprint: d.Fingerprint})
	if err != nil {
		return err
	}
	return tx.write(Write{Statement: insertDecision, Want: 1, Taken: lost, Args: []any{string(tx.tenant), id, string(d.RequestID), flag(vote), d.Actor.ID,
		d.Nonce, d.KeyID, d.MAC, micros(d.At), body}})
}

func (tx *Tx) UseDecision(id holdshort.DecisionID, callID, operationID string) error {
	if err := tx.required("decision use", string(id), callID, operationID); err != nil {
		return err
	}
	return tx.write(Write{Statement: insertUse, Want: 1, Args: []any{string(tx.tenant), string(id), callID, operationID, micros(tx.now)},
		Taken: &holdshort.Error{Code: holdshort.DecisionUsed, Op: "use decision " + string(id), Message: "its approval of call " + clip(callID) + " was used already",
			Hint: "an approval is good for one call, once"}})
}
