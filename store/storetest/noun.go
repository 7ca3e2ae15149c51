package storetest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// noun is one kind of row with its verbs, so that one test can walk them all.
type noun struct {
	name    string
	full    func(f *filler) any // every field filled
	put     func(store.Tx, any) error
	get     func(store.ReadTx, any) (any, error) // the row with the same names
	gives   []string                             // fields that the store gives
	changes []string                             // fields that a later Put may change; nil: there is no later Put
}

func verbs[T any](name string, adjust func(*T), put func(store.Tx, T) error, get func(store.ReadTx, T) (T, error)) noun {
	return noun{
		name: name,
		full: func(f *filler) any {
			var v T
			f.fill(&v)
			if r := reflect.ValueOf(&v).Elem().FieldByName("Revision"); r.IsValid() {
				r.SetInt(0)
			}
			adjust(&v)
			return v
		},
		put: func(tx store.Tx, v any) error { return put(tx, v.(T)) },
		get: func(tx store.ReadTx, v any) (any, error) { return get(tx, v.(T)) },
	}
}

func (n noun) given(fields ...string) noun   { n.gives = fields; return n }
func (n noun) mutable(fields ...string) noun { n.changes = fields; return n }

// nouns are all that a transaction can store and load by name. Events have their own tests: the store gives most of an event.
func nouns() []noun {
	return []noun{
		verbs("session", func(s *holdshort.Session) { s.Mode = holdshort.ModeProxy },
			store.Tx.PutSession, func(tx store.ReadTx, s holdshort.Session) (holdshort.Session, error) { return tx.Session(s.ID) }).
			given("Revision").mutable("User", "Channel", "Address", "Agent", "Flow", "Language", "Mode", "ActiveRun", "Prompt", "Seq", "Data", "Metadata", "TakenBy", "TakenAt", "UpdatedAt", "EndedAt"),
		verbs("message", func(m *holdshort.Message) { m.Role = holdshort.RoleTool },
			store.Tx.PutMessage, func(tx store.ReadTx, m holdshort.Message) (holdshort.Message, error) { return tx.Message(m.ID) }).
			given("Revision").mutable("Role", "Type", "Author", "Parts", "RunID", "RequestID", "Pinned", "ModelVisible"),
		verbs("run", func(r *holdshort.Run) { r.Status = holdshort.RunFailed },
			store.Tx.PutRun, func(tx store.ReadTx, r holdshort.Run) (holdshort.Run, error) { return tx.Run(r.ID) }).
			given("Revision", "Pruned").mutable("Recorded", "Status", "Result", "Error", "Held", "Wake", "Lease", "Claims", "Attempt", "Open", "UpdatedAt", "EndedAt"),
		verbs("request", func(r *holdshort.Request) { r.Status, r.Priority = holdshort.RequestResolved, holdshort.PriorityHigh },
			store.Tx.PutRequest, func(tx store.ReadTx, r holdshort.Request) (holdshort.Request, error) { return tx.Request(r.ID) }).
			given("Revision").mutable("Status", "Outcome", "Assignee", "Priority", "Reasks", "AskedAt", "ExpiresAt", "ClosedAt", "CancelReason"),
		verbs("operation", func(o *holdshort.Operation) { o.Status = holdshort.OperationUnknown },
			store.Tx.PutOperation, func(tx store.ReadTx, o holdshort.Operation) (holdshort.Operation, error) { return tx.Operation(o.ID) }).
			given("Revision").mutable("RequestID", "Status", "Attempt", "Nonce", "Success", "Settled", "ResultHash", "ExternalIDs", "StartedAt", "Deadline", "ClosedAt"),
		verbs("delivery", func(d *holdshort.Delivery) { d.Status = holdshort.DeliveryParked },
			store.Tx.PutDelivery, func(tx store.ReadTx, d holdshort.Delivery) (holdshort.Delivery, error) { return tx.Delivery(d.ID) }).
			given("Revision").mutable("Status", "Address", "RunID", "RequestID", "Body", "Attempt", "Lease", "DueAt", "SentAt", "LastError", "Log"),
		verbs("inbound", func(*holdshort.Inbound) {},
			store.Tx.PutInbound, func(tx store.ReadTx, in holdshort.Inbound) (holdshort.Inbound, error) {
				return tx.Inbound(in.Channel, in.Address, in.Key)
			}).given("Revision").mutable("SessionID", "MessageID", "RunID", "Routed", "Result", "Body"),
		verbs("decision", func(d *holdshort.Decision) { d.Actor.Kind = holdshort.Person },
			store.Tx.AddDecision, func(tx store.ReadTx, d holdshort.Decision) (holdshort.Decision, error) {
				return tx.Decision(d.RequestID)
			}),
		verbs("vote", func(*holdshort.Vote) {},
			store.Tx.AddVote, func(tx store.ReadTx, v holdshort.Vote) (holdshort.Vote, error) { return only(tx.Votes(v.RequestID)) }),
		verbs("journal entry", func(*holdshort.JournalEntry) {},
			store.Tx.AddJournal, func(tx store.ReadTx, e holdshort.JournalEntry) (holdshort.JournalEntry, error) {
				return only(tx.Journal(e.RunID))
			}),
		verbs("key", func(*holdshort.Key) {},
			store.Tx.PutKey, func(tx store.ReadTx, k holdshort.Key) (holdshort.Key, error) { return tx.Key(k.ID) }).
			given("Revision").mutable("RevokedAt"),
		verbs("login", func(*holdshort.Login) {},
			store.Tx.AddLogin, func(tx store.ReadTx, l holdshort.Login) (holdshort.Login, error) { return tx.Login(l.Hash) }),
		verbs("webhook", func(*holdshort.Webhook) {},
			store.Tx.PutWebhook, func(tx store.ReadTx, w holdshort.Webhook) (holdshort.Webhook, error) { return tx.Webhook(w.ID) }).
			given("Revision").mutable("URL", "Events", "Secrets", "Cursor", "Disabled", "CreatedBy", "UpdatedAt"),
		verbs("replay", func(r *store.Replay) { r.Answer = []byte("not JSON \x00\xff <>&") },
			store.Tx.AddReplay, func(tx store.ReadTx, r store.Replay) (store.Replay, error) { return tx.Replay(r.Scope, r.Key) }),
	}
}

func only[T any](list []T, err error) (T, error) {
	var none T
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d of them instead of one", len(list))
	}
	if err != nil {
		return none, err
	}
	return list[0], nil
}

// The makers give the smallest rows that a test can start from.

func newSession(at time.Time) holdshort.Session {
	return holdshort.Session{ID: holdshort.NewSessionID(at), Mode: holdshort.ModeAI, User: "user", CreatedAt: at, UpdatedAt: at}
}

func newRun(at time.Time) holdshort.Run {
	return holdshort.Run{ID: holdshort.NewRunID(at), Status: holdshort.RunQueued, TraceID: "trace", Flow: "refund", FlowVersion: 1, CreatedAt: at, UpdatedAt: at}
}

func newRequest(at time.Time) holdshort.Request {
	return holdshort.Request{ID: holdshort.NewRequestID(at), Version: holdshort.RequestVersion, Kind: holdshort.Approval, Status: holdshort.RequestOpen,
		Question: "Refund 120 EUR to order 77?", ExpectedInput: holdshort.YesNo, Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Reject},
		Fingerprint: "fingerprint", Priority: holdshort.PriorityNormal, CreatedAt: at, AskedAt: at}
}

func newDecision(request holdshort.RequestID, actor string, at time.Time) holdshort.Decision {
	return holdshort.Decision{ID: holdshort.NewDecisionID(at), RequestID: request, Action: holdshort.Approve, Actor: holdshort.Actor{ID: actor, Kind: holdshort.Person},
		Fingerprint: "fingerprint", Nonce: "nonce", KeyID: "key", MAC: "mac", At: at}
}

func newOperation(run holdshort.RunID, key string, at time.Time) holdshort.Operation {
	return holdshort.Operation{ID: "trace:" + string(run) + "/" + key, RunID: run, StepID: string(run) + "/" + key, Capability: "refund", ArgsHash: "hash",
		Status: holdshort.OperationStarted, Attempt: 1, Nonce: "nonce", StartedAt: at, Deadline: at.Add(time.Minute)}
}

func newDelivery(key string, at time.Time) holdshort.Delivery {
	return holdshort.Delivery{ID: holdshort.NewDeliveryID(at), Key: key, Status: holdshort.DeliveryQueued, Channel: "chat", Address: "+49", Body: []byte(`{"text":"hello"}`),
		DueAt: at, CreatedAt: at}
}

// newKey has a hash of its own: hashes are unique among all tenants.
func newKey(at time.Time) holdshort.Key {
	id := holdshort.NewKeyID(at)
	return holdshort.Key{ID: id, Name: "till", Prefix: "hs_abcdef", Hash: "hash " + string(id), Roles: []string{"finance"}, CreatedBy: "ann", CreatedAt: at}
}

func newLogin(at time.Time) holdshort.Login {
	return holdshort.Login{Hash: "hash " + holdshort.NewSalt(), Kind: holdshort.LoginLink, Actor: holdshort.Actor{ID: "ann", Kind: holdshort.Person}, CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
}

func newWebhook(at time.Time) holdshort.Webhook {
	return holdshort.Webhook{ID: holdshort.NewWebhookID(at), URL: "https://hooks.example.org/in", Events: []string{"hitl.*"}, Secrets: []holdshort.WebhookSecret{{Secret: "whsec_abc"}},
		CreatedBy: "ann", CreatedAt: at, UpdatedAt: at}
}

func newInbound(key string, at time.Time) holdshort.Inbound {
	return holdshort.Inbound{ID: holdshort.NewInboundID(at), Channel: "chat", Address: "+49", Key: key, BodyHash: "hash", Body: []byte(`{"text":"hi"}`), At: at}
}

func newMessage(session holdshort.SessionID, seq int64, at time.Time) holdshort.Message {
	return holdshort.Message{ID: holdshort.NewMessageID(at), SessionID: session, Seq: seq, Role: holdshort.RoleUser, Type: "text",
		Parts: []holdshort.Part{{Type: "text", Text: "hello"}}, CreatedAt: at}
}

func newEntry(run holdshort.RunID, key string, at time.Time) holdshort.JournalEntry {
	return holdshort.JournalEntry{RunID: run, Key: key, Attempt: 1, Kind: "step", Outcome: []byte(`{"ok":true}`), Started: at, Ended: at}
}
