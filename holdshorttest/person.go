package holdshorttest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// DefaultUser starts what nobody in particular starts.
const DefaultUser = "user"

// Person does things now. What somebody does when they are asked is a Script.
type Person struct {
	k       *Kit
	actor   holdshort.Actor
	session holdshort.SessionID
	trace   string
}

func person(id string, roles ...string) holdshort.Actor {
	return holdshort.Actor{ID: id, Kind: holdshort.Person, Roles: roles, Assurance: holdshort.AssuranceLogin}
}

// As lets somebody act: k.As("ana", "finance").Approve(k.Request(run)).
func (k *Kit) As(id string, roles ...string) *Person {
	return &Person{k: k, actor: person(id, roles...)}
}

// In puts what the person starts into a session; see Kit.Session.
func (p *Person) In(session holdshort.SessionID) *Person {
	c := *p
	c.session = session
	return &c
}

// Traced gives what the person starts a trace of the caller's.
func (p *Person) Traced(trace string) *Person {
	c := *p
	c.trace = trace
	return &c
}

// Start starts a run for DefaultUser; see Person.Start.
func (k *Kit) Start(flow string, input any) holdshort.RunID {
	k.t.Helper()
	return k.As(DefaultUser).Start(flow, input)
}

// Start starts a run of a flow, "refund" or "refund@2", and returns when it waits or has ended. Input is what encoding/json can write.
func (p *Person) Start(flow string, input any) holdshort.RunID {
	k := p.k
	k.t.Helper()
	name, version, at := strings.Cut(flow, "@")
	in := engine.StartInput{Flow: name, User: p.actor.ID, Actor: p.actor, Session: p.session, Trace: p.trace, Input: k.json("input of "+flow, input)}
	if at {
		n, err := strconv.Atoi(version)
		k.must("read the version of flow "+flow, err)
		in.Version = n
	}
	k.clock.nudge()
	run, err := k.engine.Start(context.Background(), k.Tenant(), in)
	if holdshort.CodeOf(err) == holdshort.FlowUnknown {
		k.t.Fatalf("holdshorttest: start %s: the kit has no such flow: put it into Options.Flows", flow)
	}
	if err != nil && k.died() { // nobody was told that it had started
		k.t.Fatalf("holdshorttest: start %s: the process died before the run was first stored, so there is none: crash later", flow)
	}
	k.must("start "+flow, err)
	k.settle()
	return run.ID
}

// Post sends something to a Wait of a run, as the user whom the run is for.
func (k *Kit) Post(run holdshort.RunID, name string, body any) {
	k.t.Helper()
	k.As(k.Run(run).User).Post(run, name, body)
}

// Post sends something to a Wait of a run.
func (p *Person) Post(run holdshort.RunID, name string, body any) {
	k := p.k
	k.t.Helper()
	k.posts++
	k.clock.nudge()
	_, err := k.engine.Post(context.Background(), k.Tenant(), engine.PostInput{Run: run, ID: fmt.Sprintf("post-%06d", k.posts), Name: name, Body: k.json("body of "+name, body), Actor: p.actor})
	k.must(fmt.Sprintf("post %q to %s", name, run), err)
	k.settle()
}

// Cancel ends a run, as an operator would.
func (k *Kit) Cancel(run holdshort.RunID, reason string) {
	k.t.Helper()
	k.clock.nudge()
	_, err := k.engine.Cancel(context.Background(), k.Tenant(), run, person("operator", "operator"), reason)
	k.must("cancel "+string(run), err)
	k.settle()
}

// Retry lets a failed or held run go on, as an operator would.
func (k *Kit) Retry(run holdshort.RunID) {
	k.t.Helper()
	k.clock.nudge()
	_, err := k.engine.Retry(context.Background(), k.Tenant(), run, person("operator", "operator"))
	k.must("retry "+string(run), err)
	k.settle()
}

// Session gives a user a session on Channel, so that Say and the questions of runs in it have somewhere to go.
func (k *Kit) Session(user string) holdshort.SessionID {
	k.t.Helper()
	k.clock.nudge()
	s, err := k.engine.OpenSession(context.Background(), k.Tenant(), engine.OpenSessionInput{User: user, Channel: k.options.Channels[0], Address: user})
	k.must("open a session of "+user, err)
	k.sessions = append(k.sessions, s.ID)
	return s.ID
}

func (k *Kit) json(what string, v any) json.RawMessage {
	k.t.Helper()
	if v == nil {
		return nil
	}
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	raw, err := json.Marshal(v)
	k.must("write the "+what+" as JSON", err)
	return raw
}
