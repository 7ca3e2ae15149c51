package storetest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// birth is when the tests' rows were made: a time with microseconds.
var birth = time.Date(2031, 2, 3, 4, 5, 6, 789012000, time.UTC)

func testRoundTrips(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	all, rows := nouns(), []any{}
	f := &filler{at: birth}
	for _, n := range all {
		row := n.full(f)
		if empty := zeros(row, n.gives...); len(empty) > 0 {
			b.Fatalf("%s: the test leaves %v empty", n.name, empty)
		}
		rows = append(rows, row)
	}
	b.update(func(tx store.Tx) error {
		for i, n := range all {
			if err := n.put(tx, rows[i]); err != nil {
				b.Errorf("put %s: %v", n.name, err)
			}
		}
		return nil
	})
	check := func(when string) {
		b.Helper()
		b.view(func(tx store.ReadTx) error {
			for i, n := range all {
				got, err := n.get(tx, rows[i])
				if err != nil {
					b.Errorf("%s: load %s: %v", when, n.name, err)
					continue
				}
				for _, field := range differences(got, rows[i]) {
					if !slices.Contains(n.gives, field) {
						b.Errorf("%s: %s.%s came back as %s, was %s", when, n.name, field, show(got, field), show(rows[i], field))
					}
				}
				if r := reflect.ValueOf(got).FieldByName("Revision"); r.IsValid() && r.Int() != 1 {
					b.Errorf("%s: %s has revision %d after its first put", when, n.name, r.Int())
				}
			}
			return nil
		})
	}
	check("at once")
	b.db.Reopen(t)
	check("after reopening")
	b.db.Crash(t)
	check("after a crash")
}

// testFixedParts puts every noun again with every field changed: only what may change does.
func testFixedParts(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	for _, n := range nouns() {
		if n.changes == nil {
			continue
		}
		first := n.full(&filler{at: birth})
		b.update(func(tx store.Tx) error { return n.put(tx, first) })
		second := reflect.New(reflect.TypeOf(first)).Elem()
		second.Set(reflect.ValueOf(n.full(&filler{at: birth.Add(time.Hour), n: 1000})))
		second.FieldByName("Revision").SetInt(1)
		for _, name := range []string{"ID", "Channel", "Address", "Key"} { // what it is found by
			if field := second.FieldByName(name); field.IsValid() && (name == "ID" || n.name == "inbound") {
				field.Set(reflect.ValueOf(first).FieldByName(name))
			}
		}
		for _, name := range []string{"Pinned", "ModelVisible", "Success", "Settled", "Routed", "Ordered"} {
			if field := second.FieldByName(name); field.IsValid() {
				field.SetBool(false)
			}
		}
		for name, value := range map[string]string{"Status": map[string]string{"run": "canceled", "request": "canceled", "operation": "done", "delivery": "dead"}[n.name],
			"Mode": "ai", "Role": "user", "Priority": "low"} {
			if field := second.FieldByName(name); field.IsValid() {
				field.SetString(value)
			}
		}
		b.update(func(tx store.Tx) error { return n.put(tx, second.Interface()) })
		got := load(b, func(tx store.ReadTx) (any, error) { return n.get(tx, first) })
		changed := differences(got, first)
		for _, field := range n.changes {
			if !slices.Contains(changed, field) {
				b.Errorf("%s.%s stayed %s although a put changed it", n.name, field, show(got, field))
			}
		}
		for _, field := range changed {
			if !slices.Contains(n.gives, field) && !slices.Contains(n.changes, field) {
				b.Errorf("%s.%s was changed by a later put to %s", n.name, field, show(got, field))
			}
		}
		if r := reflect.ValueOf(got).FieldByName("Revision").Int(); r != 2 {
			b.Errorf("%s has revision %d after its second put", n.name, r)
		}
	}
}

// testEmptyFields: what was not there is not there afterwards, and null is null.
func testEmptyFields(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	session, run := newSession(birth), newRun(birth)
	run.SessionID = session.ID
	request := newRequest(birth)
	request.Actions = []holdshort.Action{{CallID: "call_1", Tool: "ping", ArgsHash: "hash"}, {CallID: "call_2", Tool: "ping", Args: json.RawMessage("null")}}
	request.Schema = json.RawMessage("null")
	null := newInbound("null", birth)
	null.Body, null.Result = json.RawMessage("null"), nil
	b.update(func(tx store.Tx) error {
		return firstError(tx.PutSession(session), tx.PutRun(run), tx.PutRequest(request), tx.PutInbound(null))
	})
	session.Revision, run.Revision, request.Revision, null.Revision = 1, 1, 1, 1
	for name, pair := range map[string][2]any{
		"session": {session, load(b, func(tx store.ReadTx) (holdshort.Session, error) { return tx.Session(session.ID) })},
		"run":     {run, load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(run.ID) })},
		"request": {request, load(b, func(tx store.ReadTx) (holdshort.Request, error) { return tx.Request(request.ID) })},
		"inbound": {null, load(b, func(tx store.ReadTx) (holdshort.Inbound, error) {
			return tx.Inbound(null.Channel, null.Address, null.Key)
		})},
	} {
		for _, field := range differences(pair[1], pair[0]) {
			b.Errorf("%s.%s came back as %s, was %s", name, field, show(pair[1], field), show(pair[0], field))
		}
	}
}

// testRawArguments: what runs is what was approved, byte for byte, so arguments may not change on their way through the store.
func testRawArguments(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	texts := []string{
		`{}`, `{"a":"<script>&amp;</script>"}`, "{\"a\":\"\u2028 and \u2029\"}", `{"a":"\u0000\u001f\u007f"}`, `{"ﷺ":"é 😀 עברית","z":[1e-7,1e21,0.1,-5,9007199254740991]}`,
		`{"a":"` + strings.Repeat("x", 100_000) + `"}`, `[[[[[[]]]]]]`, `""`, `null`, `{"\"":"\\"}`,
	}
	request := newRequest(birth)
	decision := newDecision(request.ID, "ann", birth)
	for i, text := range texts {
		args, err := holdshort.Canonical([]byte(text))
		if err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		call := "call_" + string(rune('a'+i))
		request.Actions = append(request.Actions, holdshort.Action{CallID: call, Tool: "tool", Args: args, ArgsHash: holdshort.ArgsHash(args)})
		decision.Calls = append(decision.Calls, holdshort.CallDecision{CallID: call, Action: holdshort.Edit, Args: args, ArgsHash: holdshort.ArgsHash(args)})
	}
	b.update(func(tx store.Tx) error { return firstError(tx.PutRequest(request), tx.AddDecision(decision)) })
	b.db.Crash(t)
	gotRequest := load(b, func(tx store.ReadTx) (holdshort.Request, error) { return tx.Request(request.ID) })
	gotDecision := load(b, func(tx store.ReadTx) (holdshort.Decision, error) { return tx.Decision(request.ID) })
	for i := range texts {
		for where, args := range map[string][]byte{"action": gotRequest.Actions[i].Args, "call": gotDecision.Calls[i].Args} {
			if !bytes.Equal(args, request.Actions[i].Args) {
				b.Errorf("the %s's arguments %.80q came back as %.80q", where, request.Actions[i].Args, args)
			}
			if holdshort.ArgsHash(args) != request.Actions[i].ArgsHash {
				b.Errorf("the %s's arguments %.80q no longer have their hash", where, args)
			}
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
