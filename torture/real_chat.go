package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// lineChannel is where the torture's sessions are.
const lineChannel = "line"

// sentMessage is what a client sent into a session under an id of its own.
type sentMessage struct {
	text     string
	accepted bool // its sender was answered
}

// messageKey names a message as the store does.
type messageKey struct {
	session holdshort.SessionID
	address string
	id      string
}

// chat opens sessions and sends messages into them, at once, twice, out of order, until somebody answers.
func (l *load) chat(ctx context.Context, r *rand.Rand, n int) {
	for round := 0; ctx.Err() == nil; round++ {
		address := fmt.Sprintf("phone-%d-%d", n, round)
		a, _, err := l.hands.until(ctx, order{Session: &engine.OpenSessionInput{User: owner.ID, Channel: lineChannel, Address: address, Flow: diaryFlow}})
		if err != nil {
			return
		}
		if a.Opened == nil || a.Code != "" {
			l.ledger.surprise(a)
			return
		}
		var wg sync.WaitGroup
		for i := range 3 + r.IntN(4) {
			key := messageKey{a.Opened.ID, address, fmt.Sprint("m", i)}
			text := fmt.Sprintf("note %d from %s", i, address)
			l.ledger.message(key, func(m *sentMessage) { m.text = text })
			for range 1 + r.IntN(2) {
				wg.Go(func() { l.send(ctx, key, text, false) })
			}
			if r.IntN(2) == 0 { // half of them one after the other
				wg.Wait()
			}
			if r.IntN(12) == 0 {
				wg.Wait()
				l.send(ctx, key, text+", or not", true)
			}
		}
		wg.Wait()
	}
}

// send hands a message over until somebody answers. other: the id has been used for another text.
func (l *load) send(ctx context.Context, key messageKey, text string, other bool) {
	a, _, err := l.hands.until(ctx, order{Receive: &engine.Inbound{Channel: lineChannel, Address: key.address, ID: key.id, Text: text}, In: key.session})
	switch {
	case err != nil:
	case other && a.Code != holdshort.Duplicate:
		l.ledger.report.Violate(InboundOnce, "%s %s: another text under the same id was answered with %q", key.session, key.id, a.Code)
	case other:
	case a.Code == "":
		l.ledger.message(key, func(m *sentMessage) { m.accepted = true })
	default:
		l.ledger.surprise(a)
	}
}

// message changes what is known of a message.
func (l *ledger) message(key messageKey, change func(*sentMessage)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.messages[key]
	if m == nil {
		m = &sentMessage{}
		l.messages[key] = m
	}
	change(m)
}

// checkMessages: every message whose sender was answered reached one run of its session, once; none reached two.
func (x *examiner) checkMessages() {
	for key, m := range x.ledger.messages {
		n := x.heard[key.session][m.text]
		delete(x.heard[key.session], m.text)
		if m.accepted {
			x.counts.Inbound++
		}
		switch {
		case n > 1:
			x.report.Violate(InboundOnce, "%s %s was processed %d times", key.session, key.id, n)
		case n == 0 && m.accepted:
			x.report.Violate(InboundOnce, "%s %s was answered and is lost", key.session, key.id)
		}
	}
	for session, left := range x.heard {
		for text := range left {
			x.report.Violate(InboundOnce, "%s heard %q, which nobody sent", session, text)
		}
	}
}
