package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// A request is approved after the chat has read the runs and before it reads the requests: the run looks as if it waited
// for nothing. The chat must stay until it has printed the answer.
func TestStayUntilTheAnswerIsPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{requests: []client.Request{request("1", 0, nil)}}
		lists := 0
		s.onList = func() {
			switch lists++; lists {
			case 2:
				closeAs(&s.requests[0], "ben", 10)
				s.runs[0].Status = holdshort.RunRunning
			case 4:
				s.runs[0].Status = holdshort.RunCompleted
				s.messages = append(s.messages, said1("m1", holdshort.RoleAssistant, holdshort.TypeText, "paid", 15))
			}
		}
		c := talking(s)
		var printed bytes.Buffer
		out := &console{stdout: &printed, stderr: &printed}
		p := &plainChat{out: out, server: s, c: c, t: newTeller(c, c.session, false), patience: time.Minute}
		if err := p.run(t.Context(), strings.NewReader(""), 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(printed.String(), "desk  paid") {
			t.Errorf("the chat left before the answer was printed:\n%s", &printed)
		}
	})
}
