package sqldb

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type inboundBody struct {
	Message holdshort.MessageID `json:"message,omitempty"`
	Run     holdshort.RunID     `json:"run,omitempty"`
	Result  json.RawMessage     `json:"result,omitempty"`
	Body    json.RawMessage     `json:"body,omitempty"`
}

var insertInbound, updateInbound = puts("inbound", []string{"session_id", "routed", "body"}, []string{"channel", "address", "key", "body_hash", "at"})

var (
	selectInbound = point(`SELECT id, revision, channel, address, key, body_hash, session_id, routed, at, body FROM inbound
		WHERE tenant = ? AND channel = ? AND address = ? AND key = ?`)
	insertReplay = inserts("replays", []string{"tenant", "scope", "key", "body_hash", "status", "at", "body"}, "", "", "")
	selectReplay = point(`SELECT scope, key, body_hash, status, at, body FROM replays WHERE tenant = ? AND scope = ? AND key = ?`)
)

func (tx *Tx) Inbound(channel, address, key string) (holdshort.Inbound, error) {
	return first(tx, selectInbound, []any{string(tx.tenant), channel, address, key}, "inbound message", key, tx.scanInbound)
}

func (tx *Tx) scanInbound(scan func(...any) error) (in holdshort.Inbound, id string, err error) {
	var routed, at int64
	var body []byte
	if err = scan(&id, &in.Revision, &in.Channel, &in.Address, &in.Key, &in.BodyHash, &in.SessionID, &routed, &at, &body); err != nil {
		return in, id, err
	}
	in.ID, in.Routed, in.At = holdshort.InboundID(id), routed == 1, fromMicros(at)
	if len(body) == 0 {
		return in, id, nil // erased
	}
	var b inboundBody
	if err := tx.decode("inbound", id, body, &b); err != nil {
		return in, id, err
	}
	in.MessageID, in.RunID, in.Result, in.Body = b.Message, b.Run, b.Result, b.Body
	return in, id, nil
}

func (tx *Tx) PutInbound(in holdshort.Inbound) error {
	id := string(in.ID)
	if err := tx.required("inbound message", id, in.Channel, in.Key, in.BodyHash); err != nil {
		return err
	}
	if err := tx.texts("inbound message", in.Address, string(in.SessionID)); err != nil {
		return err
	}
	body, err := tx.encode("inbound", id, inboundBody{Message: in.MessageID, Run: in.RunID, Result: in.Result, Body: in.Body})
	if err != nil {
		return err
	}
	return tx.put("inbound message", id, in.Revision, insertInbound, updateInbound, []any{string(in.SessionID), flag(in.Routed), body},
		[]any{in.Channel, in.Address, in.Key, in.BodyHash, micros(in.At)})
}

func (tx *Tx) Replay(scope, key string) (store.Replay, error) {
	return first(tx, selectReplay, []any{string(tx.tenant), scope, key}, "replay", key, func(scan func(...any) error) (r store.Replay, id string, err error) {
		var at int64
		var body []byte
		if err = scan(&r.Scope, &r.Key, &r.BodyHash, &r.Status, &at, &body); err != nil {
			return r, "", err
		}
		r.At = fromMicros(at)
		r.Answer, err = tx.unseal("replay", r.Scope+"\x00"+r.Key, body)
		return r, r.Key, err
	})
}

func (tx *Tx) AddReplay(r store.Replay) error {
	if err := tx.required("replay", r.Scope, r.Key, r.BodyHash); err != nil {
		return err
	}
	body, err := tx.seal("replay", r.Scope+"\x00"+r.Key, r.Answer)
	if err != nil {
		return err
	}
	return tx.write(Write{Statement: insertReplay, Want: 1, Noun: "replay", ID: r.Key,
		Args: []any{string(tx.tenant), r.Scope, r.Key, r.BodyHash, int64(r.Status), micros(r.At), body}})
}
