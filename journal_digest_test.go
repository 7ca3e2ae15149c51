package holdshort

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func digestEntries(run RunID) []JournalEntry {
	at := time.Date(2026, 3, 2, 9, 0, 0, 123_456_789, time.UTC)
	return []JournalEntry{
		{RunID: run, Key: "look", Attempt: 1, Kind: "call", Hash: "h", Outcome: json.RawMessage(`{"ok": true}`), Started: at, Ended: at.Add(time.Second)},
		{RunID: run, Key: "pay", Attempt: 1, Kind: "call", Error: &Failure{Code: ToolFailed, Message: "no <b>", Detail: json.RawMessage(`{"a": 1}`)}, Started: at},
		{RunID: run, Key: "!post!1", Kind: "post"},
	}
}

// TestJournalDigest: a digest is extended entry by entry or at once, in any order, and fits what comes back from a store.
func TestJournalDigest(t *testing.T) {
	k, run := NewKeyring(), NewRunID(time.Now())
	entries := digestEntries(run)
	whole, err := k.ExtendJournal("acme", run, "", entries...)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := k.ExtendJournal("acme", run, "")
	if err != nil || digest == "" {
		t.Fatal(digest, err)
	}
	rotated := k.Rotate()
	for _, e := range slices.Backward(entries) {
		if digest, err = rotated.ExtendJournal("acme", run, digest, e); err != nil { // the run keeps the key that it began under
			t.Fatal(err)
		}
	}
	if digest != whole {
		t.Errorf("entry by entry %s, at once %s", digest, whole)
	}
	stored := slices.Clone(entries)
	stored[0].Outcome = json.RawMessage(`{"ok":true}`)
	for i := range stored {
		stored[i].Started, stored[i].Ended = stored[i].Started.Truncate(time.Microsecond), stored[i].Ended.Truncate(time.Microsecond)
	}
	for _, ring := range []*Keyring{k, rotated} {
		if err := ring.VerifyJournal("acme", run, whole, stored); err != nil {
			t.Error(err)
		}
	}
	if err := NewKeyring().VerifyJournal("acme", run, whole, stored); CodeOf(err) != KeyUnknown {
		t.Errorf("under another keyring: %v", err)
	}
}

// TestJournalDigestRefusesEveryChange: no entry can be missing, changed, added or moved, and no digest forged, moved or cut.
func TestJournalDigestRefusesEveryChange(t *testing.T) {
	k, run, other := NewKeyring(), NewRunID(time.Now()), NewRunID(time.Now())
	digest, err := k.ExtendJournal("acme", run, "", digestEntries(run)...)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]JournalEntry) []JournalEntry{
		"missing":       func(e []JournalEntry) []JournalEntry { return e[1:] },
		"none":          func(e []JournalEntry) []JournalEntry { return nil },
		"twice":         func(e []JournalEntry) []JournalEntry { return append(e, e[0]) },
		"instead":       func(e []JournalEntry) []JournalEntry { e[0] = e[1]; return e },
		"key":           func(e []JournalEntry) []JournalEntry { e[0].Key = "pay"; return e },
		"attempt":       func(e []JournalEntry) []JournalEntry { e[0].Attempt = 2; return e },
		"kind":          func(e []JournalEntry) []JournalEntry { e[0].Kind = "step"; return e },
		"hash":          func(e []JournalEntry) []JournalEntry { e[0].Hash = ""; return e },
		"outcome":       func(e []JournalEntry) []JournalEntry { e[0].Outcome = json.RawMessage(`{"ok":false}`); return e },
		"no outcome":    func(e []JournalEntry) []JournalEntry { e[0].Outcome = nil; return e },
		"broken":        func(e []JournalEntry) []JournalEntry { e[0].Outcome = json.RawMessage(`{`); return e },
		"failure":       func(e []JournalEntry) []JournalEntry { e[1].Error = &Failure{Code: Denied}; return e },
		"no failure":    func(e []JournalEntry) []JournalEntry { e[1].Error = nil; return e },
		"start":         func(e []JournalEntry) []JournalEntry { e[0].Started = e[0].Started.Add(time.Microsecond); return e },
		"end":           func(e []JournalEntry) []JournalEntry { e[0].Ended = time.Time{}; return e },
		"split at will": func(e []JournalEntry) []JournalEntry { e[0].Key, e[0].Kind = "lookc", "all"; return e },
	} {
		if err := k.VerifyJournal("acme", run, digest, change(digestEntries(run))); CodeOf(err) != Corrupt || HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	parts := strings.Split(digest, ":")
	recounted := slices.Clone(parts)
	recounted[2] = "2"
	for name, forged := range map[string]string{"empty": "", "garbage": "x", "parts": strings.Join(parts[:4], ":"), "count": strings.Join(recounted, ":"),
		"sum": strings.Replace(digest, parts[3], strings.Repeat("A", len(parts[3])), 1), "version": "2" + digest[1:]} {
		if err := k.VerifyJournal("acme", run, forged, digestEntries(run)); CodeOf(err) != Corrupt {
			t.Errorf("digest %s: %v", name, err)
		}
		if _, err := k.ExtendJournal("acme", run, forged, digestEntries(run)...); forged != "" && CodeOf(err) != Corrupt {
			t.Errorf("extending the digest %s: %v", name, err)
		}
	}
	if err := k.VerifyJournal("acme", other, digest, digestEntries(other)); CodeOf(err) != Corrupt {
		t.Errorf("of another run: %v", err)
	}
	if err := k.VerifyJournal("umbrella", run, digest, digestEntries(run)); CodeOf(err) != Corrupt {
		t.Errorf("of another tenant: %v", err)
	}
}
