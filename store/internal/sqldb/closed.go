package sqldb

import (
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// The requests are limited before their decisions are looked up, each by its index, so that no planner joins the whole of both.
var closedLately = statement(`SELECT r.id, r.kind, r.status, r.created_at, r.closed_at, r.fixed, r.body,
	COALESCE((SELECT d.actor_id FROM decisions d WHERE d.tenant = r.tenant AND d.request_id = r.id AND d.vote = 0), '') FROM
	(SELECT tenant, id, kind, status, created_at, closed_at, fixed, body FROM requests
		WHERE tenant = ? AND closed_at > 0 AND closed_at >= ? ORDER BY closed_at DESC, id DESC LIMIT ?) AS r ORDER BY r.closed_at DESC, r.id DESC`)

func (tx *Tx) ClosedRequests(since time.Time, limit int) (list []store.ClosedRequest, more bool, err error) {
	if limit <= 0 || limit > store.MostClosed {
		limit = store.MostClosed
	}
	err = tx.query(closedLately, []any{string(tx.tenant), micros(since), int64(limit) + 1}, func(scan func(...any) error) error {
		var c store.ClosedRequest
		var id string
		var created, closed int64
		var fixed, body []byte
		if err := scan(&id, &c.Kind, &c.Status, &created, &closed, &fixed, &body, &c.Actor); err != nil {
			return err
		}
		if more = len(list) == limit; more {
			return nil
		}
		c.CreatedAt, c.ClosedAt = fromMicros(created), fromMicros(closed)
		var err error
		if c.Rule, c.Outcome, err = tx.ruleAndOutcome(id, fixed, body); err != nil || len(fixed) == 0 {
			c.Erased = true // or nobody can read it
		}
		list = append(list, c)
		return nil
	})
	return list, more, err
}

// ruleAndOutcome reads two words of two payloads. There are thousands of them to read, so it looks no further than it must: fields are stored
// in the order of requestFixed and requestBody, and both words stand before everything that is large.
func (tx *Tx) ruleAndOutcome(id string, fixed, body []byte) (rule string, outcome holdshort.Outcome, err error) {
	if fixed, err = tx.unseal("request.fixed", id, fixed); err != nil {
		return "", "", err
	}
	if body, err = tx.unseal("request", id, body); err != nil {
		return "", "", err
	}
	return wordOf(fixed, "rule"), holdshort.Outcome(wordOf(body, "outcome")), nil
}

// wordOf gives the text under a key of a JSON object, "" if there is none before the first value that is an object or a list.
func wordOf(raw []byte, name string) string {
	at := 1
	for at < len(raw) && raw[at] == '"' {
		key, after := textAt(raw, at)
		if after >= len(raw) || raw[after] != ':' {
			return ""
		}
		at = after + 1
		switch {
		case at < len(raw) && raw[at] == '"':
			value, after := textAt(raw, at)
			if string(key) == `"`+name+`"` {
				var word string
				json.Unmarshal(value, &word) // what is no text is no word
				return word
			}
			at = after
		case at < len(raw) && raw[at] != '{' && raw[at] != '[':
			for at < len(raw) && raw[at] != ',' && raw[at] != '}' {
				at++
			}
		default:
			return ""
		}
		at++ // the comma
	}
	return ""
}

// textAt gives the JSON text that begins at a place, with its quotes, and the place behind it.
func textAt(raw []byte, at int) (text []byte, after int) {
	for after = at + 1; after < len(raw) && raw[after] != '"'; after++ {
		if raw[after] == '\\' {
			after++
		}
	}
	after = min(after+1, len(raw))
	return raw[at:after], after
}
