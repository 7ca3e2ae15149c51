package inbox

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// auditRow is one event: a line in plain words, and all that is known of it behind it.
type auditRow struct {
	ID, Type, Position    string
	At                    time.Time
	Who, Did, Code        string
	ByPerson              bool // somebody, not the engine
	Actor                 string
	Request, Run, Session string
	Tone                  string
	Flow, Channel, Trace  string
	Stream, Seq           string
	Hash, Prev            string
	Data                  string
	Extra                 []auditExtra
}

type auditExtra struct {
	Name, Value string
	ID          bool
}

// auditDid says what somebody auditDid, after their name. A fact that is not here is auditTold by its name.
var auditDid = map[string]string{
	"run.created": "made a run", "run.started": "started the run", "run.waiting": "paused the run: it waits", "run.resumed": "went on with the run", "run.completed": "completed the run",
	"run.failed": "ended the run: it failed", "run.canceled": "canceled the run", "run.held": "holds the run", "run.released": "released the run", "run.posted": "sent something to the run",
	"flow.emitted": "reported from the flow", "hitl.interrupt.paused": "asked for a person", "hitl.interrupt.resumed": "let the run go on",
	"hitl.request.created": "made the request", "hitl.request.queued": "queued the request behind another", "hitl.request.asked": "put the question to the user", "hitl.request.reasked": "asked again", "hitl.request.voted": "voted on the request",
	"hitl.request.decided": "decided the request", "hitl.request.expired": "let the request expire", "hitl.request.canceled": "canceled the request", "hitl.request.assigned": "assigned the request",
	"hitl.request.commented": "commented on the request", "hitl.request.viewed": "looked at the request", "hitl.request.revealed": "looked at what is withheld", "hitl.request.claimed": "claimed what was approved",
	"hitl.confirm.requested": "asked for a confirmation", "hitl.confirm.resolved": "confirmed or refused", "hitl.confirm.timed_out": "let the confirmation lapse",
	"hitl.escalation.created": "called for help", "hitl.escalation.resolved": "answered the call for help", "hitl.escalation.timed_out": "let the call for help lapse",
	"hitl.live_takeover.started": "took the session over", "hitl.live_takeover.ended": "handed the session back",
	"operation.started": "started a call", "operation.done": "finished a call", "operation.failed": "saw a call fail: nothing happened", "operation.unknown": "does not know what became of a call",
	"operation.reconciled": "settled what became of a call", "operation.refused": "refused a call",
	"response:prepared": "prepared a message", "response:sent": "sent a message", "response:failed": "could not send a message",
	"message.received": "took a message", "message.duplicate": "got a message twice and took it once", "message.stale": "got an answer that came too late",
	"access.denied": "was refused", "key.created": "made a key", "key.revoked": "revoked a key", "policy.loaded": "loaded the rules", "audit.sealed": "sealed the log", "audit.pruned": "cut the log", "events.gap": "lost events that are no longer kept",
	"delivery.parked": "set a delivery aside", "delivery.dead": "gave a delivery up",
	"login.created": "got a login", "login.redeemed": "used a login link", "login.ended": "logged out",
	"webhook.created": "made a webhook", "webhook.changed": "changed the events of a webhook", "webhook.rotated": "gave a webhook a new secret", "webhook.enabled": "turned a webhook on", "webhook.disabled": "turned a webhook off", "webhook.deleted": "deleted a webhook", "webhook.tested": "sent a webhook a test",
	"session.erased": "erased the session", "store.restore_accepted": "accepted the restored store",
}

// decidedAs is what a decision auditDid.
var decidedAs = map[string]string{"approve": "approved the request", "reject": "rejected the request", "edit": "changed and approved the request", "answer": "answered the request", "select": "chose",
	"respond": "answered in place of the tool", "cancel": "canceled the request"}

// toWebhook is what a delivery is that goes to a program, not to a person.
var toWebhook = map[string]string{"response:prepared": "queued a delivery to a webhook", "response:sent": "delivered to a webhook", "response:failed": "could not deliver to a webhook"}

// loggedIn is what a login that was made is.
var loggedIn = map[string]string{"link": "got a login link", "session": "logged in"}

// auditTones are facts that somebody would look for: orange holds, green has happened, red is refused or unknown.
var auditTones = map[string]string{"run.failed": "no", "run.held": "hold", "hitl.interrupt.paused": "hold", "hitl.request.expired": "no", "operation.failed": "no", "operation.unknown": "no", "operation.refused": "no",
	"access.denied": "no", "delivery.dead": "no", "delivery.parked": "hold", "response:failed": "no", "operation.done": "yes", "run.completed": "yes", "events.gap": "no", "audit.pruned": "hold"}

func auditRowOf(e holdshort.Event, tenant holdshort.TenantID) auditRow {
	hash := e.Hash(tenant)
	row := auditRow{ID: string(e.ID), Type: e.Type, Position: number(int(e.Position)), At: e.At, Who: actorWords(e.Actor), ByPerson: byPerson(e.Actor), Actor: e.Actor, Did: auditDid[e.Type], Code: strings.ReplaceAll(e.Code, "_", " "),
		Request: string(e.Request), Run: string(e.Run), Session: string(e.Session), Tone: auditTones[e.Type], Flow: e.Flow, Channel: e.Channel, Trace: e.Trace, Stream: e.Stream, Seq: number(int(e.Seq)),
		Hash: hex.EncodeToString(hash[:]), Prev: hex.EncodeToString(e.Prev), Extra: extraOf(e.Data)}
	if row.Did == "" {
		row.Did = e.Type
	}
	if e.Type == "hitl.request.decided" {
		if done, known := decidedAs[e.Code]; known {
			row.Did, row.Code = done, ""
		}
		if row.Tone = "yes"; e.Code == string(holdshort.Reject) {
			row.Tone = "no"
		}
	}
	if done, known := toWebhook[e.Type]; known && e.Channel == engine.WebhookChannel {
		row.Did = done
	}
	if done, known := loggedIn[e.Code]; known && e.Type == "login.created" {
		row.Did, row.Code = done, ""
	}
	if e.Type == "run.created" && e.Flow != "" {
		row.Did = "made a run of " + e.Flow
	}
	var pretty bytes.Buffer
	if len(e.Data) > 0 && json.Indent(&pretty, e.Data, "", "  ") == nil {
		row.Data = pretty.String()
	}
	return row
}

// auditTold are the parts of an event's data that its line shows.
var auditTold = []string{"assignee", "capability", "key", "webhook", "user", "taken_by", "version"}

func extraOf(data json.RawMessage) (list []auditExtra) {
	var all map[string]any
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	for _, name := range auditTold {
		if text, ok := all[name].(string); ok && text != "" {
			list = append(list, auditExtra{strings.ReplaceAll(name, "_", " "), text, slices.Contains([]string{"key", "webhook", "version", "capability"}, name)})
		}
	}
	return list
}

// auditEngines are the parts of the engine that act by themselves.
var auditEngines = map[string]string{"system:worker": "The engine", "system:timeout": "The clock", "system:outbox": "The outbox", "system:inbound": "The chat", "system:chat": "The chat", "system:retention": "Retention",
	"system:late": "A late answer", "": "The engine"}

func byPerson(actor string) bool {
	return actor != "" && !strings.HasPrefix(actor, "system:") && !strings.HasPrefix(actor, "policy:")
}

// actorWords is what people call whoever acted.
func actorWords(actor string) string {
	if name, known := auditEngines[actor]; known {
		return name
	}
	if rule, ok := strings.CutPrefix(actor, "policy:"); ok {
		return "The rule “" + rule + "”"
	}
	if name, ok := strings.CutPrefix(actor, "system:policy:"); ok {
		return "The rule “" + name + "”"
	}
	if name, ok := strings.CutPrefix(actor, "system:"); ok {
		return "The engine (" + name + ")"
	}
	if key, ok := strings.CutPrefix(actor, "key:"); ok {
		return "Key " + key
	}
	return actor
}
