package inbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// valueView is a JSON value as people read it.
type valueView struct {
	Text string
	Size string // of one that is too long to show whole
	None bool
}

const (
	longestValue = 16 << 10 // of a value that a page shows by itself; the API has all of it
	longestCell  = 2 << 10  // of one in a table
)

func valueOf(raw json.RawMessage) valueView { return shortened(raw, longestValue) }

func shortened(raw json.RawMessage, most int) valueView {
	if len(raw) == 0 || string(raw) == "null" {
		return valueView{None: true}
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		b.Reset()
		b.Write(raw)
	}
	text := unescaped(b.String())
	if len(text) <= most {
		return valueView{Text: text}
	}
	return valueView{Text: strings.ToValidUTF8(text[:most], ""), Size: number(len(raw))}
}

// unescaped undoes what encoders do to JSON for the sake of old browsers: people read < better than its number.
func unescaped(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			break
		}
		b.WriteString(text[:i])
		text = text[i:]
		short := 2
		for long, char := range map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"} {
			if len(text) >= len(long) && strings.EqualFold(text[:len(long)], long) {
				b.WriteString(char)
				text, short = text[len(long):], 0
				break
			}
		}
		b.WriteString(text[:short])
		text = text[short:]
	}
	return b.String() + text
}

// runEntry is a row of the journal.
type runEntry struct {
	N           int
	Key, Kind   string
	Attempt     int
	Started, At time.Time
	Took        string
	Value       valueView
	Error       *holdshort.Failure
	Detail      valueView
	Link        string
	Own         bool // the kernel's own
}

// kindsOfEntries say what an entry is, as people call it.
var kindsOfEntries = map[string]string{"approval": "decision", "ask": "question", "say": "message", "note": "note", "started": "call begun", "timer": "timer", "post": "post", "taken": "post taken"}

// mostEntries is how many steps a page lists at once.
const mostEntries = 200

// entriesOf lists the steps after the first so many, as many as a page takes.
func entriesOf(tl engine.Timeline, path string, from int) []runEntry {
	var out []runEntry
	for i := from; i < min(from+mostEntries, len(tl.Journal)); i++ {
		out = append(out, entryOf(tl.Journal[i], i+1, path, longestCell))
	}
	return out
}

func entryOf(e holdshort.JournalEntry, n int, path string, most int) runEntry {
	kind := cmp.Or(kindsOfEntries[e.Kind], e.Kind)
	key, _, _ := strings.Cut(e.Key, "!")
	out := runEntry{N: n, Key: cmp.Or(key, kind), Kind: kind, Attempt: e.Attempt, Started: e.Started, At: e.Ended, Value: shortened(e.Outcome, most), Error: e.Error, Detail: valueView{None: true},
		Own: strings.Contains(e.Key, "!"), Link: path + "?step=" + strconv.Itoa(n) + "#step"}
	if d := e.Ended.Sub(e.Started); !e.Started.IsZero() && d >= 0 {
		out.Took = longSpan(d)
	}
	if e.Error != nil {
		out.Detail = shortened(e.Error.Detail, most)
	}
	return out
}

// runRequest is a request of a run, in one line.
type runRequest struct {
	ID, Question, Tag string
	State, Tone       string
	Created           time.Time
	Held              string // how long it held the run
	By                []string
	Open              bool
}

func requestOfRun(v engine.RequestView, now time.Time) runRequest {
	row := rowOf(v.Request, now)
	out := runRequest{ID: row.ID, Question: row.Question, Tag: row.Tag, State: row.State, Tone: row.StateTone, Created: row.Created, Open: row.State == ""}
	out.Question, _, _ = strings.Cut(out.Question, "\n") // the card has all of it
	end := v.Request.ClosedAt
	if end.IsZero() {
		end = now
	}
	out.Held = longSpan(max(end.Sub(v.Request.CreatedAt), 0))
	for _, d := range holdMark(v, now).dots {
		out.By = append(out.By, d.who+" "+d.what)
	}
	return out
}

// runOperation is a row of the ledger.
type runOperation struct {
	ID, Tool, Step  string
	Status, Tone    string
	Unknown         bool
	Settled         bool
	Attempt         int
	Request         string
	Started, Closed time.Time
	Took            string
	Outside         []string // ids that the outside world gave it
}

func operationsOfRun(list []holdshort.Operation) []runOperation {
	out := make([]runOperation, len(list))
	for i, op := range list {
		_, step, _ := strings.Cut(op.StepID, "/")
		out[i] = runOperation{ID: op.ID, Tool: op.Capability, Step: step, Status: string(op.Status), Unknown: op.Status == holdshort.OperationUnknown, Settled: op.Settled, Attempt: op.Attempt,
			Request: string(op.RequestID), Started: op.StartedAt, Closed: op.ClosedAt}
		switch op.Status {
		case holdshort.OperationDone:
			out[i].Tone = "yes"
		case holdshort.OperationUnknown, holdshort.OperationFailed:
			out[i].Tone = "no"
		}
		if !op.ClosedAt.IsZero() {
			out[i].Took = longSpan(max(op.ClosedAt.Sub(op.StartedAt), 0))
		}
		for name, ids := range op.ExternalIDs {
			for _, id := range ids {
				out[i].Outside = append(out[i].Outside, name+" "+id)
			}
		}
		slices.Sort(out[i].Outside)
	}
	return out
}

// runEvent is a row of the log.
type runEvent struct {
	Type, Actor, Code, Request string
	At                         time.Time
	Data                       string
}

// mostEvents of a run's log are listed on its page: the newest. The audit page has all.
const mostEvents = 200

func eventsOfRun(list []holdshort.Event) []runEvent {
	list = list[max(len(list)-mostEvents, 0):]
	out := make([]runEvent, len(list))
	for i, e := range list {
		out[i] = runEvent{Type: e.Type, Actor: e.Actor, Code: e.Code, Request: string(e.Request), At: e.At, Data: string(e.Data)}
	}
	return out
}
