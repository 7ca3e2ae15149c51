package engine_test

import (
	"context"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store/sqlite"
)

// A run of an agent's flow is that agent's, however it was started, and nobody lends its name to another flow: rules go by it.
func TestAgentsAndTheirFlows(t *testing.T) {
	s, err := sqlite.OpenTemporary(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	empty := func(name string) flow.Flow {
		return flow.New(name, 1, func(*flow.Context, any) (any, error) { return nil, nil })
	}
	config := engine.Config{Flows: []flow.Flow{empty("agent.desk"), empty("agent.intern"), empty("count")}, Agents: map[string]string{"desk": "agent.desk", "intern": "agent.intern"}}
	e, err := engine.New(s, config)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Drain()
	for _, tt := range []struct {
		agent, flow string
		wantAgent   string
		wantFlow    string
		code        holdshort.Code
	}{
		{"desk", "", "desk", "agent.desk", ""},
		{"", "agent.desk", "desk", "agent.desk", ""},
		{"desk", "agent.desk", "desk", "agent.desk", ""},
		{"", "count", "", "count", ""},
		{"label", "count", "label", "count", ""},
		{"desk", "count", "", "", holdshort.Invalid},
		{"desk", "agent.intern", "", "", holdshort.Invalid},
		{"label", "agent.intern", "", "", holdshort.Invalid},
		{"nobody", "", "", "", holdshort.AgentUnknown},
	} {
		run, err := e.Start(t.Context(), tenant, engine.StartInput{Agent: tt.agent, Flow: tt.flow, User: "carl"})
		if holdshort.CodeOf(err) != tt.code || err == nil && (run.Agent != tt.wantAgent || run.Flow != tt.wantFlow) {
			t.Errorf("run of %q %q: %+v %v", tt.agent, tt.flow, run, err)
		}
		session, err := e.OpenSession(context.Background(), tenant, engine.OpenSessionInput{User: "carl", Agent: tt.agent, Flow: tt.flow})
		if holdshort.CodeOf(err) != tt.code || err == nil && (session.Agent != tt.wantAgent || session.Flow != tt.wantFlow) {
			t.Errorf("session of %q %q: %+v %v", tt.agent, tt.flow, session, err)
		}
	}
	for name, agents := range map[string]map[string]string{"no flow": {"desk": "nothing"}, "one flow, two agents": {"desk": "count", "intern": "count"}} {
		config.Agents = agents
		if _, err := engine.New(s, config); holdshort.CodeOf(err) != holdshort.Invalid || holdshort.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
