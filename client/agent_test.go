package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// Pieces of a text are heard between the facts and move no position: a stream that breaks goes on after the last fact.
func TestDeltas(t *testing.T) {
	var from []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		if len(from) == 1 {
			fmt.Fprint(w, "id: 5\nevent: connected\ndata: {\"position\":5}\n\n"+
				"event: message.delta\ndata: {\"run_id\":\"run_1\",\"session_id\":\"ses_1\",\"message_id\":\"msg_1\",\"attempt\":1,\"seq\":1,\"text\":\"Hel\"}\n\n"+
				"id: 6\nevent: run.started\ndata: {\"position\":6,\"type\":\"run.started\"}\n\n"+
				"event: message.reset\ndata: {\"run_id\":\"run_1\",\"message_id\":\"msg_1\",\"attempt\":2,\"seq\":0}\n\n"+
				"event: message.delta\ndata: what is this\n\n")
			return // it breaks off
		}
		fmt.Fprint(w, "id: 6\nevent: connected\ndata: {\"position\":6}\n\nid: 7\nevent: run.completed\ndata: {\"position\":7,\"type\":\"run.completed\"}\n\n")
	}))
	defer server.Close()
	c, err := client.New(server.URL, "", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	lost, enough := 0, errors.New("enough")
	err = c.Watch(t.Context(), client.Watching{Session: "ses_1", Delta: func(d client.Delta) {
		heard = append(heard, fmt.Sprintf("%s %d.%d %q %t", d.Message, d.Attempt, d.Seq, d.Text, d.Reset))
	}, Lost: func(err error) {
		if lost++; err == nil {
			t.Error("it was lost for no reason")
		}
	}}, func(e holdshort.Event) error {
		heard = append(heard, e.Type)
		if e.Type == "run.completed" {
			return enough
		}
		return nil
	})
	want := []string{`msg_1 1.1 "Hel" false`, "run.started", `msg_1 2.0 "" true`, "run.completed"}
	if !errors.Is(err, enough) || !slices.Equal(heard, want) || lost != 1 || !slices.Equal(from, []string{"", "6"}) {
		t.Errorf("%v: %q, lost %d times, from %q", err, heard, lost, from)
	}
}

// What the caller does not want to wait for is said, so that a blocking agent does not hold it; what an agent is called comes along.
func TestWaitsAreSaid(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items":[{"name":"refunds","mode":"async","tools":["a"]}]}`)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	agents, err := c.Agents(ctx)
	if err != nil || len(agents) != 1 || agents[0].Name != "refunds" || agents[0].Mode != "async" {
		t.Errorf("%+v, %v", agents, err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.Send(ctx, "ses_1", client.Send{ID: "m", Text: "x"}); return err },
		func() error {
			_, err := c.Send(ctx, "ses_1", client.Send{ID: "m", Text: "x", Wait: time.Hour})
			return err
		},
		func() error { _, err := c.Start(ctx, client.Start{Flow: "f"}); return err },
		func() error { _, err := c.Start(ctx, client.Start{Agent: "a"}); return err },
		func() error { _, err := c.Start(ctx, client.Start{Agent: "a", Wait: 2 * time.Second}); return err },
		func() error { _, err := c.ExecutionState(ctx, "run_1"); return err },
	} {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	want := []string{"GET /v1/agents", "POST /v1/sessions/ses_1/messages?wait=0s", "POST /v1/sessions/ses_1/messages?wait=1m0s", "POST /v1/runs", "POST /v1/runs?wait=0s", "POST /v1/runs?wait=2s", "GET /v1/runs/run_1?view=execution_state"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
