package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const topicInbound = "inbound"

// Inbound is a message from outside, as its channel hands it over.
type Inbound struct {
	Channel string              // default: api
	Address string              // whose session it belongs to
	Session holdshort.SessionID // instead of an address
	ID      string              // of the sender: the same id again is the same message
	Text    string
	Parts   []holdshort.Part // besides the text, or instead of it
	ReplyTo string           // what it replies to, if the channel says so: id of a request, a message or a delivery
	SentAt  time.Time        // the channel's time; default: when it arrived
	Actor   holdshort.Actor  // default: the session's user, as surely as the channel knows
	// NoDecision: whoever brings it may not decide, so that it answers nothing, whatever it says.
	NoDecision bool
}

// Received is what became of a message.
type Received struct {
	ID       holdshort.InboundID   `json:"id"`
	Session  holdshort.SessionID   `json:"session_id"`
	Outcome  Routing               `json:"outcome"`
	Message  holdshort.MessageID   `json:"message_id,omitempty"`
	Request  holdshort.RequestID   `json:"request_id,omitempty"`  // that it was about
	Decision holdshort.DecisionID  `json:"decision_id,omitempty"` // that it is
	Run      holdshort.RunID       `json:"run_id,omitempty"`      // that got it
	Replies  []holdshort.MessageID `json:"replies,omitempty"`     // what the kernel itself answered
	// Duplicate: it had arrived before, and this is what became of it then.
	Duplicate bool `json:"-"`
}

// Routing is what a message was taken for.
type Routing string

const (
	RoutedPending  Routing = "pending"     // accepted; whoever can route it will
	RoutedDecision Routing = "decided"     // it resolved a request
	RoutedVote     Routing = "voted"       // it is one of several approvals
	RoutedReask    Routing = "reasked"     // it did not fit: the same question again
	RoutedAgain    Routing = "asked_again" // it may have been meant for something else: nothing decided, the question again
	RoutedCodes    Routing = "listed"      // several questions are open: their codes
	RoutedExpired  Routing = "expired"     // the answer came too late
	RoutedStale    Routing = "stale"       // nobody waits for this answer any more
	RoutedRefused  Routing = "refused"     // whoever wrote it may not
	RoutedPost     Routing = "posted"      // the session's run gets it
	RoutedStart    Routing = "started"     // it started a run
	RoutedPerson   Routing = "person"      // the person who took the session over has it
	RoutedStored   Routing = "stored"      // it is kept, and nothing else
)

// letterIn is what the store keeps of a message until it is routed.
type letterIn struct {
	Text    string           `json:"text,omitempty"`
	Parts   []holdshort.Part `json:"parts,omitempty"`
	ReplyTo string           `json:"reply_to,omitempty"`
	SentAt  time.Time        `json:"sent_at,omitzero"`
	Actor   *holdshort.Actor `json:"actor,omitempty"`
	Mute    bool             `json:"no_decision,omitempty"`
}

// Receive accepts a message and routes it. Once it returns without an error the message is never lost, and it is processed once by its id: a
// copy gets the first one's result, the same id with another body is a Duplicate.
func (e *Engine) Receive(ctx context.Context, tenant holdshort.TenantID, in Inbound) (Received, error) {
	row, joined, err := e.accept(ctx, tenant, in)
	if err != nil {
		return Received{}, err
	}
	got, err := e.route(ctx, tenant, row)
	if errors.Is(err, holdshort.Corrupt) { // the damaged run is held now, and its session goes on without it
		got, err = e.route(ctx, tenant, row)
	}
	if err != nil {
		e.store.Wake().Ring(topicInbound)
		if !errors.Is(err, holdshort.FlowUnknown) {
			e.log.Warn("a message is accepted and not routed yet", "inbound_id", row.ID, "session_id", row.SessionID, "error", err)
		}
		got = Received{ID: row.ID, Session: row.SessionID, Outcome: RoutedPending}
	}
	got.Duplicate = joined
	return got, nil
}

func (in Inbound) checked(limits Limits) (Inbound, error) {
	bad := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "receive message", Field: field, Message: message, Hint: hint}
	}
	if in.Channel == "" {
		in.Channel = DefaultChannel
	}
	size := len(in.Text)
	for _, p := range in.Parts {
		size += len(p.Text) + len(p.Data) + len(p.URL) + len(p.Name)
	}
	switch {
	case (in.Address == "") == (in.Session == ""):
		return in, bad("address", "a message belongs to an address or to a session", "send one of the two")
	case in.ID == "" || len(in.ID) > maxName || strings.HasPrefix(in.ID, "inb_"):
		return in, bad("id", "a message has an id of at most 200 bytes that is not one of ours", "send the channel's id of it")
	case max(len(in.Channel), len(in.Address), len(in.ReplyTo)) > maxName:
		return in, bad("address", "the channel, the address or what it replies to is too long", "use at most 200 bytes")
	case in.Text == "" && len(in.Parts) == 0:
		return in, bad("text", "the message is empty", "send a text or parts")
	case size > limits.Text:
		return in, &holdshort.Error{Code: holdshort.TooLarge, Op: "receive message", Field: "text", Message: "the message is too long", Hint: "send it in pieces"}
	}
	return in, nil
}

// accept stores a message under its id, in one short transaction; only then may its sender be answered. joined: it is there already.
func (e *Engine) accept(ctx context.Context, tenant holdshort.TenantID, in Inbound) (row holdshort.Inbound, joined bool, err error) {
	if in, err = in.checked(e.config.Limits); err != nil {
		return row, false, err
	}
	kept := letterIn{Text: in.Text, Parts: in.Parts, ReplyTo: in.ReplyTo}
	body, err := json.Marshal(kept)
	if err != nil {
		return row, false, &holdshort.Error{Code: holdshort.Invalid, Op: "receive message", Field: "parts", Message: "a part is not JSON", Err: err, Hint: "send data parts as JSON"}
	}
	hash := e.keyring.TenantHash(tenant, "inbound", body)
	kept.Mute = in.NoDecision
	if kept.SentAt = in.SentAt; in.Actor.ID != "" {
		kept.Actor = &in.Actor
	}
	full, err := json.Marshal(kept)
	if err != nil {
		return row, false, err
	}
	address := in.Address
	if address == "" {
		address = string(in.Session)
	}
	var differs bool
	err = e.update(ctx, tenant, func(c *change) error {
		row, joined, differs = holdshort.Inbound{}, false, false
		first, err := c.Inbound(in.Channel, address, in.ID)
		if err == nil {
			row, joined = first, true
			same, err := e.keyring.SameTenantHash(tenant, "inbound", first.BodyHash, body)
			if err != nil {
				return err
			}
			code := holdshort.Code("")
			if differs = !same; differs {
				code = holdshort.Duplicate
			}
			return c.inboundEvent("message.duplicate", first, code)
		}
		if holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
		s, err := c.sessionFor(in)
		if err != nil {
			return err
		}
		row = holdshort.Inbound{ID: holdshort.NewInboundID(c.now), Channel: in.Channel, Address: address, Key: in.ID, BodyHash: hash, SessionID: s.ID, Body: full, At: c.now}
		if err := c.PutInbound(row); err != nil {
			return err
		}
		return c.inboundEvent("message.received", row, "")
	}, store.InboundRow(in.Channel, address, in.ID))
	if err == nil && differs {
		err = &holdshort.Error{Code: holdshort.Duplicate, Op: "receive message " + clip(in.ID), Field: "id", Message: "the id was used for another message", Hint: "give each message an id of its own"}
	}
	return row, joined, err
}

// sessionFor finds the session of a message. There must be one before anything is accepted.
func (c *change) sessionFor(in Inbound) (holdshort.Session, error) {
	if in.Session == "" {
		return c.SessionAt(in.Channel, in.Address)
	}
	s, err := c.Session(in.Session)
	if err == nil && erased(s) {
		err = &holdshort.Error{Code: holdshort.Closed, Op: "receive message", Message: "the session was deleted", Hint: "open a new one"}
	}
	return s, err
}

func (c *change) inboundEvent(name string, in holdshort.Inbound, code holdshort.Code) error {
	data, err := json.Marshal(map[string]string{"inbound": string(in.ID)})
	if err != nil {
		return err
	}
	return c.AddEvent(holdshort.Event{Type: name, Session: in.SessionID, Trace: string(in.ID), Channel: in.Channel, Actor: "system:inbound", Code: string(code), Data: data})
}

const routedAtOnce = 100

// unrouted remembers messages that nobody could route a moment ago. It is of a fixed size; what it forgets is tried again.
type unrouted struct {
	mu    sync.Mutex
	refs  map[store.InboundRef]bool
	since time.Time
}

const (
	mostUnrouted  = 5_000
	unroutedPause = 10 * time.Second
)

// settle forgets what is old and says how many are passed over.
func (u *unrouted) settle() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if time.Since(u.since) > unroutedPause || len(u.refs) >= mostUnrouted {
		u.refs, u.since = map[store.InboundRef]bool{}, time.Now()
	}
	return len(u.refs)
}

func (u *unrouted) has(ref store.InboundRef) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refs[ref]
}

func (u *unrouted) add(ref store.InboundRef) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.refs[ref] = true
}

// tickInbound routes what was accepted and, because of a crash or because nobody could, not routed.
func (e *Engine) tickInbound(ctx context.Context) (int, error) {
	now, err := e.store.System().Now(ctx)
	if err != nil {
		return 0, err
	}
	routed := 0
	var faults []error
	for more := true; more; {
		// What could not be routed is passed over for a while: it must not stand before what can.
		refs, err := e.store.System().UnroutedInbound(ctx, now, routedAtOnce+e.unrouted.settle())
		if err != nil {
			return routed, err
		}
		refs = slices.DeleteFunc(refs, e.unrouted.has)
		more = len(refs) >= routedAtOnce
		for _, ref := range refs {
			switch err := e.routeAgain(ctx, ref); {
			case err == nil:
				routed++
			case errors.Is(err, holdshort.FlowUnknown): // a node that has the flow will
				e.unrouted.add(ref)
			default:
				e.unrouted.add(ref)
				faults = append(faults, err)
			}
		}
	}
	return routed, errors.Join(faults...)
}

func (e *Engine) routeAgain(ctx context.Context, ref store.InboundRef) error {
	var row holdshort.Inbound
	err := e.store.View(ctx, ref.Tenant, func(tx store.ReadTx) (err error) {
		row, err = tx.Inbound(ref.Channel, ref.Address, ref.Key)
		return err
	})
	if err == nil {
		_, err = e.route(ctx, ref.Tenant, row)
	}
	return err
}

func (e *Engine) inboundLoop(ctx context.Context) (time.Duration, error) {
	n, err := e.tickInbound(ctx)
	if n > 0 {
		return 0, err
	}
	return time.Second, err
}
