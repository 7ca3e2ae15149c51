package holdshort_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

func anEvent() holdshort.Event {
	return holdshort.Event{ID: "evt_1", Type: "run.created", Stream: "run_1", Seq: 1, At: noon, Session: "ses_1", Run: "run_1", Request: "req_1", Trace: "t",
		Flow: "refund", Actor: "ana", Channel: "web", Code: "ok", Data: json.RawMessage(`{"n":1}`)}
}

// The hash covers every field but the position, which is given later; a new field that is forgotten fails here.
func TestEventHashCoversEveryField(t *testing.T) {
	before := anEvent().Hash("acme")
	if anEvent().Hash("globex") == before {
		t.Error("another tenant has the same hash")
	}
	for field := range reflect.TypeFor[holdshort.Event]().Fields() {
		e := anEvent()
		fill(t, reflect.ValueOf(&e).Elem().FieldByName(field.Name))
		if changed, covered := e.Hash("acme") != before, field.Name != "Position"; changed != covered {
			t.Errorf("%s: the hash changed: %v", field.Name, changed)
		}
	}
	moved := anEvent()
	moved.Trace, moved.Flow = moved.Trace+moved.Flow, ""
	if moved.Hash("acme") == before {
		t.Error("text that moved to another field left the hash as it was")
	}
	stored := anEvent()
	stored.At, stored.Prev = time.UnixMicro(noon.UnixMicro()).In(time.FixedZone("east", 3600)), []byte{}
	if stored.Hash("acme") != before {
		t.Error("a trip through a store changed the hash")
	}
}

func TestSealCoversEveryField(t *testing.T) {
	seal := holdshort.Seal{Number: 1, From: 1, To: 9, Root: []byte("r"), Prev: []byte("p"), At: noon, KeyID: "one", Signature: []byte("s")}
	for field := range reflect.TypeFor[holdshort.Seal]().Fields() {
		changed := seal
		changed.Root, changed.Prev, changed.Signature = []byte("r"), []byte("p"), []byte("s")
		fill(t, reflect.ValueOf(&changed).Elem().FieldByName(field.Name))
		if same := bytes.Equal(changed.Message(), seal.Message()); same != (field.Name == "Signature") {
			t.Errorf("%s: the message is the same: %v", field.Name, same)
		}
		if bytes.Equal(changed.Hash(), seal.Hash()) {
			t.Errorf("%s: the hash is the same", field.Name)
		}
	}
}

func TestRootCoversPositionTenantAndOrder(t *testing.T) {
	type entry struct {
		position int64
		tenant   holdshort.TenantID
		hash     byte
	}
	sum := func(entries ...entry) string {
		var r holdshort.Root
		for _, e := range entries {
			r.Add(e.position, e.tenant, [32]byte{e.hash})
		}
		return string(r.Sum())
	}
	before := sum(entry{1, "a", 1}, entry{2, "b", 2})
	if len(before) != 32 || before != sum(entry{1, "a", 1}, entry{2, "b", 2}) {
		t.Fatalf("a root of %d bytes", len(before))
	}
	for name, other := range map[string]string{
		"nothing":  sum(),
		"one less": sum(entry{1, "a", 1}),
		"position": sum(entry{1, "a", 1}, entry{3, "b", 2}),
		"tenant":   sum(entry{1, "a", 1}, entry{2, "c", 2}),
		"hash":     sum(entry{1, "a", 1}, entry{2, "b", 3}),
		"order":    sum(entry{2, "b", 2}, entry{1, "a", 1}),
	} {
		if other == before {
			t.Errorf("%s changed, the root did not", name)
		}
	}
}

func TestStreamOf(t *testing.T) {
	for want, e := range map[string]holdshort.Event{
		"run_1":                {Run: "run_1", Session: "ses_1"},
		"ses_1":                {Session: "ses_1", Request: "req_1"},
		holdshort.TenantStream: {Request: "req_1"},
	} {
		if got := e.StreamOf(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEventNames(t *testing.T) {
	shape, seen := regexp.MustCompile(`^[a-z_]+([.:][a-z_]+)+$`), map[string]bool{}
	for _, name := range holdshort.EventNames {
		if seen[name] || !shape.MatchString(name) {
			t.Errorf("%q stands twice or is no name", name)
		}
		seen[name] = true
		if err := holdshort.CheckEvent(holdshort.Event{Type: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "run", "run.exploded", "Run.Created", "run.*"} {
		if err := holdshort.CheckEvent(holdshort.Event{Type: name}); !errors.Is(err, holdshort.Internal) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestMatchEvent(t *testing.T) {
	for _, test := range []struct {
		name, globs string
		want        bool
	}{
		{"run.created", "", true},
		{"run.created", "run.created", true},
		{"run.created", "run.*", true},
		{"run.created", "*", true},
		{"run.created", "**", true},
		{"run.created", "*created", true},
		{"run.created", "*.*", true},
		{"run.created", "r*n*d", true},
		{"run.created", "run.created*", true},
		{"hitl.request.decided", "hitl.*", true},
		{"hitl.request.decided", "hitl.*.decided", true},
		{"response:sent", "response:*", true},
		{"run.created", "hitl.* run.*", true},
		{"run.created", "run", false},
		{"run.created", "run.", false},
		{"run.created", "un.created", false},
		{"run.created", "run.create", false},
		{"run.created", "run.created?", false},
		{"run.created", "run?created", false},
		{"run.created", "RUN.*", false},
		{"run.created", "hitl.* message.*", false},
		{"run.created", "*x*", false},
		{"ababac", "*abac", true},
		{"ababac", "ab*ab", false},
	} {
		if got := holdshort.MatchEvent(test.name, strings.Fields(test.globs)); got != test.want {
			t.Errorf("%s by %q: %v", test.name, test.globs, got)
		}
	}
	if holdshort.MatchEvent("run.created", []string{""}) {
		t.Error("an empty pattern matches")
	}
	if holdshort.MatchEvent("", []string{"a"}) || !holdshort.MatchEvent("", []string{"**"}) {
		t.Error("an empty name")
	}
	// Patterns come from callers: many stars must not cost many years.
	if holdshort.MatchEvent(strings.Repeat("a", 2000), []string{strings.Repeat("*a", 500) + "*b"}) {
		t.Error("matched a b that is not there")
	}
}
