package history_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/history"
)

func lines(list []holdshort.Message) string {
	var out []string
	for _, m := range list {
		pin := ""
		if m.Pinned {
			pin = " pinned"
		}
		out = append(out, fmt.Sprintf("%s %s %s %s%s", m.ExternalID, m.Role, m.Parts[0].Text, m.CreatedAt.Format("15:04:05"), pin))
	}
	return strings.Join(out, "|")
}

// TestRemote: every shape of answer, and every failure as an empty list with a line in the log.
func TestRemote(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string
		system bool
		fails  bool
	}{
		{"an object", 200, `{"success":true,"count":2,"messages":[{"id":"a","role":"user","content":"hi","createdAt":"2025-10-29T12:00:00Z"},{"id":"b","role":"Assistant","content":"hello","createdAt":"2025-10-29T12:00:05.5Z","isPinned":true}]}`,
			"a user hi 12:00:00|b assistant hello 12:00:05 pinned", true, false},
		{"a bare array in snake case", 200, `[{"message_id":"b","sender":"AGENT-7","message":"second","created_at":"2025-10-29 12:00:05"},{"_id":"a","message":"first","created_at":1761739200,"is_pinned":true}]`,
			"a user first 12:00:00 pinned|b assistant second 12:00:05", true, false},
		{"times in several ways", 200, `[{"id":"c","content":"3","timestamp":1761739202000},{"id":"b","content":"2","timestamp":"2025-10-29T14:00:01+02:00"},{"id":"a","content":"1","timestamp":"2025-10-29T12:00:00.25"}]`,
			"a user 1 12:00:00|b user 2 12:00:01|c user 3 12:00:02", true, false},
		{"a sender that is an object", 200, `[{"id":7,"content":"x","sender":{"name":"workflow"}}]`, "7 system x 00:00:00", true, false},
		{"without system", 200, `[{"id":"a","role":"system","content":"x"},{"id":"b","role":"user","content":"y"}]`, "b user y 00:00:00", false, false},
		{"the same twice", 200, `[{"id":"a","content":"x"},{"id":"a","content":"x"}]`, "a user x 00:00:00", true, false},
		{"entries without text", 200, `[{"id":"a"},{"id":"b","content":null},{"id":"c","content":"x"}]`, "c user x 00:00:00", true, false},
		{"empty", 200, `{"success":true,"messages":[],"count":0}`, "", true, false},
		{"unknown session", 404, `{"success":false}`, "", true, false},
		{"refused", 401, `{}`, "", true, true},
		{"broken server", 500, `{"success":false,"error":"x"}`, "", true, true},
		{"says that it failed", 200, `{"success":false,"error":"x","messages":[{"id":"a","content":"x"}]}`, "", true, true},
		{"not JSON", 200, `<html>`, "", true, true},
		{"cut off", 200, `[{"id":"a","content":"x"}`, "", true, true},
		{"no body", 200, ``, "", true, true},
		{"a redirect", 302, ``, "", true, true},
		{"without end", 200, "[" + strings.Repeat(" ", 16<<20) + "]", "", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.EscapedPath() + " " + r.Header.Get("X-M2M-Token")
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer server.Close()
			var log bytes.Buffer
			remote := &history.Remote{BaseURL: server.URL + "/", Path: "m2m/messages/session/{session}", Header: http.Header{"x-m2m-token": {"secret"}}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			defer remote.Close()
			got := remote.Messages(t.Context(), "ses/../1", c.system)
			if got == nil || lines(got) != c.want || (log.Len() > 0) != c.fails || strings.Contains(log.String(), "secret") {
				t.Errorf("%q, want %q; log %s", lines(got), c.want, log.String())
			}
			if asked != "/m2m/messages/session/ses%2F..%2F1 secret" {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestRemoteAway: nobody there, a hanging server, a closed Remote: an empty list, in time.
func TestRemoteAway(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	quiet := slog.New(slog.DiscardHandler)
	closed := &history.Remote{BaseURL: server.URL, Logger: quiet}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, remote := range map[string]*history.Remote{
		"nobody there": {BaseURL: "http://127.0.0.1:1", Logger: quiet},
		"hangs":        {BaseURL: server.URL, Timeout: 50 * time.Millisecond, Logger: quiet},
		"no address":   {BaseURL: "::", Logger: quiet},
		"closed":       closed,
	} {
		if got := remote.Messages(t.Context(), "s", true); got == nil || len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
		if err := remote.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRemoteFromTheEnvironment: the zero value asks where CORE_API_URL says.
func TestRemoteFromTheEnvironment(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `[{"id":"a","content":%q}]`, r.URL.Path)
	}))
	defer server.Close()
	t.Setenv("CORE_API_URL", server.URL)
	var remote history.Remote
	defer remote.Close()
	if got := remote.Messages(t.Context(), "ses_1", true); lines(got) != "a user /api/sessions/ses_1/messages 00:00:00" {
		t.Errorf("%q", lines(got))
	}
}

// TestMerge: by id and by moment, whatever way it is written; the local one stays.
func TestMerge(t *testing.T) {
	at := func(text string) time.Time {
		m, err := history.ParseTime(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	msg := func(id, text, when string) holdshort.Message {
		m := holdshort.Message{ExternalID: id, Role: holdshort.RoleUser, Parts: []holdshort.Part{{Type: "text", Text: text}}}
		if when != "" {
			m.CreatedAt = at(when)
		}
		return m
	}
	own := msg("", "own", "2025-10-29T12:00:02Z")
	own.ID = "msg_1"
	for _, c := range []struct {
		name          string
		local, remote []holdshort.Message
		want          string
	}{
		{"nothing", nil, nil, ""},
		{"one side", nil, []holdshort.Message{msg("b", "2", "2025-10-29T12:00:01Z"), msg("a", "1", "2025-10-29T12:00:00Z")}, "1 2"},
		{"the same id", []holdshort.Message{msg("a", "local", "2025-10-29T12:00:00Z")}, []holdshort.Message{msg("a", "remote", "2025-10-29T13:00:00Z"), msg("b", "2", "2025-10-29T11:00:00Z")}, "2 local"},
		{"our own id comes back", []holdshort.Message{own}, []holdshort.Message{msg("msg_1", "own", "")}, "own"},
		{"the same moment, written differently", []holdshort.Message{msg("", "1", "2025-10-29T12:00:00Z")}, []holdshort.Message{msg("", "1", "1761739200000"), msg("", "1", "2025-10-29T13:00:00+01:00")}, "1"},
		{"strings would sort otherwise", []holdshort.Message{msg("a", "later", "2025-10-29T12:00:00Z")}, []holdshort.Message{msg("b", "sooner", "2025-10-29T13:30:00+02:00")}, "sooner later"},
		{"without times", []holdshort.Message{msg("a", "1", "2025-10-29T12:00:00Z"), msg("b", "2", ""), msg("c", "3", "2025-10-29T12:00:09Z")}, []holdshort.Message{msg("d", "x", "2025-10-29T12:00:05Z")}, "1 2 x 3"},
		{"nothing is known of them", []holdshort.Message{msg("", "same", "")}, []holdshort.Message{msg("", "same", "")}, "same same"},
	} {
		var got []string
		merged := history.Merge(c.local, c.remote)
		for _, m := range merged {
			got = append(got, m.Parts[0].Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if again := history.Merge(merged, c.remote); c.name != "nothing is known of them" && len(again) != len(merged) {
			t.Errorf("%s: merged again it has %d instead of %d", c.name, len(again), len(merged))
		}
	}
}

// TestRemoteTimeout: a Remote waits for as long as its Timeout says, and for ten seconds without one.
func TestRemoteTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 50 * time.Millisecond: 50 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			remote := &history.Remote{BaseURL: "http://history.invalid", Timeout: timeout, Logger: slog.New(slog.DiscardHandler)}
			history.Hang(remote)
			if got := remote.Messages(t.Context(), "s", true); len(got) != 0 || time.Since(began) != want {
				t.Errorf("Timeout %v: %v after %v", timeout, got, time.Since(began))
			}
		})
	}
}
