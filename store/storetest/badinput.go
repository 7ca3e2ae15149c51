package storetest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testBadInput(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	t.Run("unknown names", func(t *testing.T) { testUnknown(&bed{t, b.db}) })
	t.Run("names that are no text", func(t *testing.T) { testNames(&bed{t, b.db}) })
	t.Run("too large", func(t *testing.T) { testTooLarge(&bed{t, b.db}) })
	t.Run("payloads that are no JSON", func(t *testing.T) { testNotJSON(&bed{t, b.db}) })
	t.Run("texts", func(t *testing.T) { testTexts(&bed{t, b.db}) })
	t.Run("events", func(t *testing.T) { testBadEvents(&bed{t, b.db}) })
}

// testUnknown: whatever is asked for, the answer is that it is not there, and the transaction goes on.
func testUnknown(b *bed) {
	for _, name := range []string{"nothing", "", "a\x00b", "\xff\xfe", strings.Repeat("x", 100_000), "'; DROP TABLE runs; --", "😀"} {
		for what, get := range map[string]func(store.ReadTx) error{
			"session":    func(tx store.ReadTx) error { _, err := tx.Session(holdshort.SessionID(name)); return err },
			"session at": func(tx store.ReadTx) error { _, err := tx.SessionAt("chat", name); return err },
			"message":    func(tx store.ReadTx) error { _, err := tx.Message(holdshort.MessageID(name)); return err },
			"run":        func(tx store.ReadTx) error { _, err := tx.Run(holdshort.RunID(name)); return err },
			"request":    func(tx store.ReadTx) error { _, err := tx.Request(holdshort.RequestID(name)); return err },
			"request at": func(tx store.ReadTx) error { _, err := tx.RequestAt(holdshort.RunID(name), "step"); return err },
			"decision":   func(tx store.ReadTx) error { _, err := tx.Decision(holdshort.RequestID(name)); return err },
			"operation":  func(tx store.ReadTx) error { _, err := tx.Operation(name); return err },
			"delivery":   func(tx store.ReadTx) error { _, err := tx.Delivery(holdshort.DeliveryID(name)); return err },
			"inbound":    func(tx store.ReadTx) error { _, err := tx.Inbound("chat", "+49", name); return err },
			"replay":     func(tx store.ReadTx) error { _, err := tx.Replay("scope", name); return err },
			"body":       func(tx store.ReadTx) error { _, err := tx.Body(name); return err },
		} {
			p := newPlace()
			var err error
			b.update(func(tx store.Tx) error {
				err = get(tx)
				return p.write(tx)
			})
			if code := holdshort.CodeOf(err); code != holdshort.NotFound && code != holdshort.Invalid {
				b.Errorf("%s %.20q: got %v, want not_found or invalid", what, name, err)
			}
			if len(err.Error()) > 1000 {
				b.Errorf("%s: the error repeats all of a long name", what)
			}
		}
	}
	b.view(func(tx store.ReadTx) error {
		for _, name := range []string{"nothing", "", "a\x00b", "\xff\xfe"} {
			votes, err1 := tx.Votes(holdshort.RequestID(name))
			journal, err2 := tx.Journal(holdshort.RunID(name))
			operations, err3 := tx.Operations(holdshort.RunID(name))
			pending, err4 := tx.PendingDeliveries(holdshort.SessionID(name))
			messages, err5 := tx.Messages(store.MessageQuery{Session: holdshort.SessionID(name)})
			for _, err := range []error{err1, err2, err3, err4, err5} {
				if err != nil && holdshort.CodeOf(err) != holdshort.Invalid {
					b.Errorf("lists of %q: %v", name, err)
				}
			}
			if n := len(votes) + len(journal) + len(operations) + len(messages.Items); n != 0 || name != "" && len(pending) != 0 {
				b.Errorf("lists of %q have %d rows", name, n)
			}
		}
		return nil
	})
}

// testNames puts what is no text into every field that a row is found by, one after the other: it is refused, not changed.
func testNames(b *bed) {
	taken := 0
	for _, n := range nouns() {
		taken += 1000
		whole := reflect.ValueOf(n.full(&filler{at: birth, n: taken}))
		for i := range whole.NumField() {
			field := whole.Type().Field(i)
			if field.Type.Kind() != reflect.String {
				continue
			}
			for _, bad := range []string{"a\x00b", "\xff", strings.Repeat("é", store.MaxText)} {
				row := reflect.New(whole.Type()).Elem()
				row.Set(whole)
				row.Field(i).SetString(bad)
				err := b.try(func(tx store.Tx) error { return n.put(tx, row.Interface()) })
				if err == nil { // then it is a text like any other, and comes back as it was
					got := load(b, func(tx store.ReadTx) (any, error) { return n.get(tx, row.Interface()) })
					if back := reflect.ValueOf(got).Field(i).String(); back != bad {
						b.Errorf("%s.%s was taken as %.10q and came back as %.10q", n.name, field.Name, bad, back)
					}
					taken += 1000
					whole = reflect.ValueOf(n.full(&filler{at: birth, n: taken}))
					continue
				}
				if code := holdshort.CodeOf(err); code != holdshort.Invalid && code != holdshort.TooLarge {
					b.Errorf("%s.%s = %.10q: got %v, want invalid or too_large", n.name, field.Name, bad, err)
				}
				if len(err.Error()) > 1000 {
					b.Errorf("%s.%s: the error repeats all of a long name", n.name, field.Name)
				}
			}
		}
	}
	for name, timer := range map[string]holdshort.Timer{
		"no kind": {Subject: "x"}, "no subject": {Kind: holdshort.TimerSleep}, "NUL": {Kind: holdshort.TimerSleep, Subject: "a\x00"}, "long": {Kind: holdshort.TimerSleep, Subject: strings.Repeat("x", 5000)},
	} {
		err := b.try(func(tx store.Tx) error { return tx.SetTimer(timer) })
		if code := holdshort.CodeOf(err); code != holdshort.Invalid && code != holdshort.TooLarge {
			b.Errorf("timer, %s: got %v", name, err)
		}
	}
	err := b.try(func(tx store.Tx) error { return tx.DropTimer("sleep", "a\x00", "\xff") })
	if code := holdshort.CodeOf(err); err != nil && code != holdshort.Invalid {
		b.Errorf("dropping a timer that cannot be: %v", err)
	}
	for name, fn := range map[string]func(store.Tx) error{
		"request priority": func(tx store.Tx) error {
			r := newRequest(birth)
			r.Priority = "urgent!!"
			return tx.PutRequest(r)
		},
		"decision use":      func(tx store.Tx) error { return tx.UseDecision("", "call", "op") },
		"decision use call": func(tx store.Tx) error { return tx.UseDecision("dec", "", "op") },
		"body session": func(tx store.Tx) error {
			_, err := tx.AddBody("\xff", "", []byte("x"))
			return err
		},
		"fence":  func(tx store.Tx) error { return tx.FenceRun("a\x00", 1) },
		"cancel": func(tx store.Tx) error { return tx.CancelUnreadable("a\x00") },
		"hold":   func(tx store.Tx) error { return tx.HoldRun("a\x00", holdshort.Hold{Code: holdshort.Corrupt}) },
		"erase":  func(tx store.Tx) error { return tx.EraseSession("a\x00", "ana") },
	} {
		err := b.try(fn)
		if code := holdshort.CodeOf(err); code != holdshort.Invalid && code != holdshort.NotFound && code != holdshort.LeaseLost {
			b.Errorf("%s: got %v, want invalid", name, err)
		}
	}
}

func testTooLarge(b *bed) {
	huge := append(append([]byte(`"`), bytes.Repeat([]byte("x"), store.MaxBody)...), '"')
	fits := append(append([]byte(`"`), bytes.Repeat([]byte("x"), store.MaxBody-1000)...), '"')
	run := newRun(birth)
	run.Input = huge
	b.refused(b.try(func(tx store.Tx) error { return tx.PutRun(run) }), holdshort.TooLarge)
	entry := newEntry(run.ID, "step", birth)
	entry.Outcome = huge
	b.refused(b.try(func(tx store.Tx) error { return tx.AddJournal(entry) }), holdshort.TooLarge)
	b.refused(b.try(func(tx store.Tx) error {
		return tx.AddReplay(store.Replay{Scope: "s", Key: "k", BodyHash: "h", Answer: huge})
	}), holdshort.TooLarge)
	b.refused(b.try(func(tx store.Tx) error {
		_, err := tx.AddBody("", "", huge)
		return err
	}), holdshort.TooLarge)
	b.refused(b.try(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "run.created", Data: huge}) }), holdshort.TooLarge)
	run.Input = fits
	b.update(func(tx store.Tx) error { return tx.PutRun(run) })
	got := load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(run.ID) })
	if !bytes.Equal(got.Input, fits) {
		b.Errorf("an input of %d bytes came back with %d", len(fits), len(got.Input))
	}
}

func testNotJSON(b *bed) {
	for _, bad := range []string{"NaN", "{", "{]", "Infinity", `{"a":01}`, `{"a":"` + "\x01" + `"}`, "\xff", `"a" "b"`, "undefined"} {
		run, request, decision, entry, in, delivery := newRun(birth), newRequest(birth), newDecision("req", "ann", birth), newEntry("run", "key", birth), newInbound("key", birth), newDelivery("key", birth)
		run.Input, request.Context, decision.Value, entry.Outcome, in.Body, delivery.Body = []byte(bad), []byte(bad), []byte(bad), []byte(bad), []byte(bad), []byte(bad)
		args := newRequest(birth)
		args.Actions = []holdshort.Action{{CallID: "c", Tool: "t", Args: []byte(bad)}}
		for name, put := range map[string]func(store.Tx) error{
			"run":      func(tx store.Tx) error { return tx.PutRun(run) },
			"request":  func(tx store.Tx) error { return tx.PutRequest(request) },
			"args":     func(tx store.Tx) error { return tx.PutRequest(args) },
			"decision": func(tx store.Tx) error { return tx.AddDecision(decision) },
			"journal":  func(tx store.Tx) error { return tx.AddJournal(entry) },
			"inbound":  func(tx store.Tx) error { return tx.PutInbound(in) },
			"delivery": func(tx store.Tx) error { return tx.PutDelivery(delivery) },
		} {
			if err := b.try(put); !errors.Is(err, holdshort.Invalid) {
				b.Errorf("%s with payload %q: got %v, want invalid", name, bad, err)
			}
		}
	}
}

// testTexts: a text inside a payload comes back as it was, or is refused; it is never silently another one.
func testTexts(b *bed) {
	for _, text := range []string{hostile, "", "a\x00b", "\xff broken", "\xed\xa0\x80 half a character", strings.Repeat("é", 100_000)} {
		m := newMessage(newSession(birth).ID, 1, birth)
		m.Parts[0].Text = text
		err := b.try(func(tx store.Tx) error { return tx.PutMessage(m) })
		if err != nil {
			b.refused(err, holdshort.Invalid)
			continue
		}
		got := load(b, func(tx store.ReadTx) (holdshort.Message, error) { return tx.Message(m.ID) })
		if got.Parts[0].Text != text {
			b.Errorf("the text %.20q came back as %.20q", text, got.Parts[0].Text)
		}
	}
}

// testBadEvents: what cannot be verified or exported later is refused now.
func testBadEvents(b *bed) {
	for name, e := range map[string]holdshort.Event{
		"data that is no JSON":               {Type: "run.created", Data: []byte("{broken")},
		"a run that is none":                 {Type: "run.created", Run: "nonsense"},
		"a session that looks like a run":    {Type: "run.created", Session: "run_1"},
		"a session like the tenant's stream": {Type: "run.created", Session: holdshort.TenantStream},
		"an id that is no text":              {Type: "run.created", ID: "a\x00b"},
		"an actor that is no text":           {Type: "run.created", Actor: "\xff"},
		"a trace that is too long":           {Type: "run.created", Trace: strings.Repeat("x", 5000)},
		"a request with a NUL in its id":     {Type: "run.created", Request: "a\x00"},
		"no type":                            {},
		"data with a number without an end":  {Type: "run.created", Data: []byte(fmt.Sprintf(`{"n":%s`, "1"))},
	} {
		err := b.try(func(tx store.Tx) error { return tx.AddEvent(e) })
		switch holdshort.CodeOf(err) {
		case holdshort.Invalid, holdshort.TooLarge, holdshort.Internal:
		default:
			b.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
	b.verifies()
}

func testBadCursors(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	session := newSession(birth)
	b.update(func(tx store.Tx) error {
		for i := range 4 {
			if err := firstError(tx.PutSession(newSession(birth)), tx.PutRun(newRun(birth)), tx.PutRequest(newRequest(birth)), tx.PutMessage(newMessage(session.ID, int64(i+1), birth)),
				tx.PutDelivery(newDelivery(fmt.Sprint("whk_1:", i), birth))); err != nil {
				return err
			}
		}
		return nil
	})
	lists := map[string]func(store.ReadTx, string) (string, error){
		"runs": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Runs(store.RunQuery{Cursor: cursor, Limit: 2})
			return p.Next, err
		},
		"sessions": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Sessions(store.SessionQuery{Cursor: cursor, Limit: 2})
			return p.Next, err
		},
		"requests by urgency": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Requests(store.RequestQuery{Cursor: cursor, Limit: 2})
			return p.Next, err
		},
		"requests by expiry": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Requests(store.RequestQuery{Order: store.ByExpiry, Cursor: cursor, Limit: 2})
			return p.Next, err
		},
		"requests by age": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Requests(store.RequestQuery{Order: store.ByNewest, Cursor: cursor, Limit: 2})
			return p.Next, err
		},
		"messages": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Messages(store.MessageQuery{Session: session.ID, Cursor: cursor, Limit: 2})
			return p.Next, err
		},
		"deliveries": func(tx store.ReadTx, cursor string) (string, error) {
			p, err := tx.Deliveries(store.DeliveryQuery{Prefix: "whk_1:", Cursor: cursor, Limit: 2})
			return p.Next, err
		},
	}
	cursors := map[string]string{}
	for name, list := range lists {
		cursors[name] = load(b, func(tx store.ReadTx) (string, error) { return list(tx, "") })
		if cursors[name] == "" {
			b.Fatalf("the list of %s has one page only", name)
		}
	}
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	bad := []string{"x", "!!!", "====", encode("{"), encode("[]"), encode("null"), encode("[1,2,3,4,5]"), encode(`[{"a":1}]`), encode(`[1.5]`), encode(`[1e400]`), encode(`["\u0000"]`),
		encode(`[null]`), encode(`[true,false]`), encode(`[99999999999999999999]`), encode(`["` + strings.Repeat("x", 5000) + `"]`), strings.Repeat("a", 100_000), encode("[\"\xff\"]"),
		encode("' OR 1=1 --")}
	for name, list := range lists {
		for _, cursor := range bad {
			err := b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
				_, err := list(tx, cursor)
				return err
			})
			if !errors.Is(err, holdshort.Invalid) {
				b.Errorf("%s with cursor %.40q: got %v, want invalid", name, cursor, err)
			}
		}
		for of, cursor := range cursors {
			if of == name {
				continue
			}
			err := b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
				_, err := list(tx, cursor)
				return err
			})
			if !errors.Is(err, holdshort.Invalid) {
				b.Errorf("%s with a cursor of %s: got %v, want invalid", name, of, err)
			}
		}
	}
	b.refused(b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
		_, err := tx.Requests(store.RequestQuery{Order: "at random"})
		return err
	}), holdshort.Invalid)
}
