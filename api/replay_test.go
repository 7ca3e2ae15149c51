package api_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holdshort/holdshort"
)

// repeatable is a call that can be made under a key, and one that cannot be made under the same.
type repeatable struct{ who, path, body, other string }

// repeatables makes one of each row that takes an idempotency key.
func repeatables(t *testing.T, d *door) map[string]func() repeatable {
	open := func() string { _, id := d.starts(t, "refund", refund{"1", 1}); return string(id) }
	raised := func() string {
		var req shownRequest
		a := d.call(t, "gate", "POST", "/v1/requests", `{"kind":"approval","actions":[{"call_id":"c","tool":"orders.refund","args":{"order":"1","amount":1}}],"audience":{"roles":["reviewer"]}}`)
		a.into(t, &req)
		if a.status != 201 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if a := d.call(t, "ana", "POST", "/v1/requests/"+string(req.ID)+"/decision", `{"action":"approve"}`); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return string(req.ID)
	}
	chat := func() string { return "/v1/sessions/" + string(d.chat(t)) }
	taken := func() string {
		path := chat()
		if a := d.call(t, "olga", "POST", path+"/takeover", nil); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return path
	}
	resume := func(path string) func() repeatable {
		return func() repeatable {
			return repeatable{"ana", path + open(), `{"action":"approve"}`, `{"action":"reject"}`}
		}
	}
	on := func(who, path, body, other string) func() repeatable {
		return func() repeatable { return repeatable{who, "/v1/requests/" + open() + path, body, other} }
	}
	return map[string]func() repeatable{
		"POST /v1/sessions":               func() repeatable { return repeatable{"ben", "/v1/sessions", `{"flow":"chat"}`, `{"flow":"ask"}`} },
		"POST /v1/sessions/{id}/takeover": func() repeatable { return repeatable{"olga", chat() + "/takeover", ``, `{}`} },
		"POST /v1/sessions/{id}/handback": func() repeatable { return repeatable{"olga", taken() + "/handback", `{"note":"a"}`, `{"note":"b"}`} },
		"POST /v1/sessions/{id}/say":      func() repeatable { return repeatable{"olga", taken() + "/say", `{"text":"a"}`, `{"text":"b"}`} },
		"POST /v1/sessions/{id}/messages": func() repeatable {
			return repeatable{"ben", chat() + "/messages?wait=10s", `{"text":"a"}`, `{"text":"b"}`}
		},
		"POST /v1/sessions/{id}/messages/batch": func() repeatable {
			return repeatable{"ben", chat() + "/messages/batch", `{"messages":[{"text":"a"}]}`, `{"messages":[{"text":"b"}]}`}
		},
		"POST /v1/runs": func() repeatable {
			return repeatable{"ben", "/v1/runs", `{"flow":"refund","input":{"order":"1","amount":1}}`, `{"flow":"refund","input":{"order":"2","amount":1}}`}
		},
		"POST /v1/runs/{id}/cancel": func() repeatable {
			run, _ := d.starts(t, "refund", refund{"1", 1})
			return repeatable{"ben", "/v1/runs/" + string(run.ID) + "/cancel", `{"reason":"a"}`, `{"reason":"b"}`}
		},
		"POST /v1/runs/{id}/retry": func() repeatable {
			run, id := d.starts(t, "refund", refund{"1", 1})
			if a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", `{"action":"reject"}`); a.status != 200 || d.await(t, run.ID).Status != holdshort.RunFailed {
				t.Fatalf("%d %s", a.status, a.body)
			}
			return repeatable{"olga", "/v1/runs/" + string(run.ID) + "/retry", ``, `{}`}
		},
		"POST /v1/requests": func() repeatable {
			return repeatable{"gate", "/v1/requests", `{"kind":"clarification","question":"Which?"}`, `{"kind":"clarification","question":"Who?"}`}
		},
		"POST /v1/requests/{id}/decision": on("ana", "/decision", `{"action":"approve"}`, `{"action":"reject"}`),
		"POST /v1/requests/{id}/reply":    on("ana", "/reply", `{"text":"no"}`, `{"text":"yes"}`),
		"POST /v1/requests/{id}/cancel":   on("olga", "/cancel", `{"reason":"a"}`, `{"reason":"b"}`),
		"POST /v1/requests/{id}/assign":   on("olga", "/assign", `{"to":"ana"}`, `{"to":"carl"}`),
		"POST /v1/requests/{id}/comment":  on("ana", "/comment", `{"text":"a"}`, `{"text":"b"}`),
		"POST /v1/requests/{id}/claim": func() repeatable {
			return repeatable{"gate", "/v1/requests/" + raised() + "/claim", `{"lease":"5m"}`, ``}
		},
		"POST /v1/requests/decisions": func() repeatable {
			id := open()
			return repeatable{"ana", "/v1/requests/decisions", `{"items":[{"id":"` + id + `","action":"approve"}]}`, ``}
		},
		"POST /v1/escalations/resolve": func() repeatable {
			_, id := d.starts(t, "ask", "escalate")
			return repeatable{"olga", "/v1/escalations/resolve", `{"escalation_id":"` + string(id) + `","approved":true}`, `{"escalation_id":"` + string(id) + `","approved":false}`}
		},
		"POST /v1/resume/{request_id}":                  resume("/v1/resume/"),
		"POST /tealagents/v1alpha1/resume/{request_id}": resume("/tealagents/v1alpha1/resume/"),
		"POST /v1/keys": func() repeatable { return repeatable{"admin", "/v1/keys", `{"name":"a"}`, `{"name":"b"}`} },
		"POST /v1/webhooks": func() repeatable {
			return repeatable{"olga", "/v1/webhooks", `{"url":"https://hooks.example.org/a"}`, `{"url":"https://hooks.example.org/b"}`}
		},
		"POST /v1/webhooks/{id}/rotate": func() repeatable {
			var hook struct{ ID string }
			d.call(t, "olga", "POST", "/v1/webhooks", `{"url":"https://hooks.example.org/a"}`).into(t, &hook)
			return repeatable{"olga", "/v1/webhooks/" + hook.ID + "/rotate", ``, `{}`}
		},
	}
}

// TestEveryKeyReplays: the same call under the same key again gets the same status and the same ids and does nothing; another call under it is
// refused, and so decides nothing.
func TestEveryKeyReplays(t *testing.T) {
	d := newHouse(t)
	made := repeatables(t, d)
	for _, r := range d.rows(t) {
		if !r.once {
			continue
		}
		make, ok := made[r.String()]
		if !ok {
			if r.path != "/v1/requests/{id}/outcome" { // once by its call and its token already
				t.Errorf("%s: no call is known to repeat", r)
			}
			continue
		}
		t.Run(r.String(), func(t *testing.T) {
			c := make()
			before := d.refunds.Load()
			first := d.call(t, c.who, "POST", c.path, c.body, "Idempotency-Key", "key one")
			again := d.call(t, c.who, "POST", c.path, c.body, "Idempotency-Key", "key one")
			if first.status/100 != 2 || again.status/100 != 2 {
				t.Fatalf("%d %s, again %d %s", first.status, first.body, again.status, again.body)
			}
			if r.path != "/v1/requests/decisions" && again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("again: %d %v %s", again.status, again.header, again.body)
			}
			if one, two := idsIn(first.body), idsIn(again.body); one != two {
				t.Errorf("it was %s, again it is %s", first.body, again.body)
			}
			if c.other == "" {
				return
			}
			refused(t, "another body", d.call(t, c.who, "POST", c.path, c.other, "Idempotency-Key", "key one"), 422)
			if d.refunds.Load()-before > 1 {
				t.Error("it happened twice")
			}
		})
	}
}

// idsIn gives the ids of an answer: what it is about.
func idsIn(body []byte) string {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil {
		return string(body)
	}
	out := fmt.Sprint(v["id"], v["request_id"], v["claim_token"])
	for _, part := range []string{"request", "message"} {
		if inner, ok := v[part].(map[string]any); ok {
			out += fmt.Sprint(inner["id"])
		}
	}
	return out
}
