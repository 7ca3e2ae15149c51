package api_test

import (
	"testing"

	"github.com/holdshort/holdshort"
)

// Rules judge calls by the agent: nobody gets another's name, or none, by naming the flow.
func TestNobodyLendsAnAgentsName(t *testing.T) {
	d := newHouse(t)
	for _, path := range []string{"/v1/runs", "/v1/sessions"} {
		for body, want := range map[string]int{
			`{"flow":"agent.refunds"}`:                    201,
			`{"flow":"agent.refunds","agent":"refunds"}`:  201,
			`{"flow":"agent.refunds","agent":"patient"}`:  400,
			`{"flow":"agent.refunds","agent":"nobody"}`:   400,
			`{"flow":"chat","agent":"refunds"}`:           400,
			`{"flow":"chat","agent":"a label of my own"}`: 201,
			`{"flow":"agent.ghost"}`:                      map[string]int{"/v1/runs": 400, "/v1/sessions": 201}[path], // a session may name a flow of another node
		} {
			a := d.call(t, "ben", "POST", path, body)
			var got struct {
				Agent string          `json:"agent"`
				Flow  string          `json:"flow"`
				ID    holdshort.RunID `json:"id"`
			}
			if a.status != want {
				t.Errorf("%s %s: %d %s", path, body, a.status, a.body)
				continue
			}
			if a.status == 201 {
				a.into(t, &got)
				if got.Flow == "agent.refunds" && got.Agent != "refunds" {
					t.Errorf("%s %s: %s", path, body, a.body)
				}
			}
		}
	}
}
