package engine

import (
	"errors"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// eventsProvenElsewhere names the tests of events that no engine writes.
var eventsProvenElsewhere = map[string]string{
	"events.gap":             "TestWatchGap: it is sent to watchers and not stored",
	"store.restore_accepted": "the restore tests of both stores: the command line accepts a restore before an engine runs",
}

// runScenarios has one story for each event of runs, requests and operations: it returns the event that the log must have then.
var runScenarios = map[string]func(n *eventEnv) holdshort.Event{
	"run.created": func(n *eventEnv) holdshort.Event { run := n.start("ask"); return factAbout(run, starter(run)) },
	"run.started": func(n *eventEnv) holdshort.Event {
		got := n.hear(n.s, "hello")
		n.settle()
		return about(factAbout(n.run(got.Run), "system:worker"), holdshort.Request{}, "chat")
	},
	"run.waiting": func(n *eventEnv) holdshort.Event { return factAbout(n.start("ask"), "system:worker") },
	"run.resumed": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		n.decide(run, holdshort.Answer, ben)
		return about(factAbout(run, "ben"), holdshort.Request{}, "api")
	},
	"run.completed": func(n *eventEnv) holdshort.Event { return factAbout(n.tell(n.s, "hi"), "system:worker") },
	"run.failed":    func(n *eventEnv) holdshort.Event { return factAbout(n.start("fail"), "system:worker") },
	"run.canceled": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		_, err := n.Cancel(n.Context(), acme, run.ID, olga, "enough")
		n.must(err)
		return factAbout(run, "olga")
	},
	"run.held": func(n *eventEnv) holdshort.Event { return factAbout(n.held(), "system:worker") },
	"run.released": func(n *eventEnv) holdshort.Event {
		run := n.held()
		n.edited.Store(false)
		_, err := n.Retry(n.Context(), acme, run.ID, olga)
		n.must(err)
		return factAbout(run, "olga")
	},
	"run.posted": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		_, err := n.Post(n.Context(), acme, PostInput{Run: run.ID, ID: "p1", Name: "message", Body: []byte(`"x"`), Actor: olga})
		n.must(err)
		return factAbout(run, "olga")
	},
	"flow.emitted": func(n *eventEnv) holdshort.Event { return factAbout(n.start("emit"), "system:worker") },

	"hitl.request.created":  func(n *eventEnv) holdshort.Event { return raised(n, "ask") },
	"hitl.interrupt.paused": func(n *eventEnv) holdshort.Event { return raised(n, "ask") },
	"hitl.interrupt.resumed": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		return about(factAbout(run, "ben"), n.decide(run, holdshort.Answer, ben), "api")
	},
	"hitl.request.queued": func(n *eventEnv) holdshort.Event {
		n.start("ask")
		run := n.start("ask")
		return about(factAbout(run, "system:chat"), n.open(run), "chat")
	},
	"hitl.request.asked": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		return about(factAbout(run, "system:chat"), n.open(run), "chat")
	},
	"hitl.request.reasked": func(n *eventEnv) holdshort.Event {
		run := n.start("confirm")
		n.clock.move(5 * time.Second) // it was delivered before the reply was sent
		n.hear(n.s, "purple")
		return about(factAbout(run, "ben"), n.open(run), "chat")
	},
	"hitl.request.voted": func(n *eventEnv) holdshort.Event {
		run := n.start("vote")
		return about(factAbout(run, "olga"), n.decide(run, holdshort.Approve, olga), "api")
	},
	"hitl.request.decided": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		return about(factAbout(run, "ben"), n.decide(run, holdshort.Answer, ben), "api")
	},
	"hitl.request.expired": func(n *eventEnv) holdshort.Event { return expired(n, "ask") },
	"hitl.request.canceled": func(n *eventEnv) holdshort.Event {
		run := n.start("ask")
		return about(factAbout(run, "ben"), n.decide(run, holdshort.Cancel, ben), "api")
	},
	"hitl.request.assigned": func(n *eventEnv) holdshort.Event {
		return noted(n, func(req holdshort.Request) error {
			_, err := n.Assign(n.Context(), acme, AssignInput{Request: req.ID, Actor: olga, To: "oskar"})
			return err
		})
	},
	"hitl.request.commented": func(n *eventEnv) holdshort.Event {
		return noted(n, func(req holdshort.Request) error {
			_, err := n.Comment(n.Context(), acme, CommentInput{Request: req.ID, Actor: olga, Text: "why?"})
			return err
		})
	},
	"hitl.request.viewed": func(n *eventEnv) holdshort.Event {
		return noted(n, func(req holdshort.Request) error { return n.Viewed(n.Context(), acme, req.ID, olga) })
	},
	"hitl.request.revealed": func(n *eventEnv) holdshort.Event {
		return noted(n, func(req holdshort.Request) error {
			_, err := n.Reveal(n.Context(), acme, req.ID, olga)
			return err
		})
	},
	"hitl.request.claimed": func(n *eventEnv) holdshort.Event { req, _ := n.claimed(); return atGate(req, gated.ID) },

	"hitl.confirm.requested": func(n *eventEnv) holdshort.Event { return raised(n, "confirm") },
	"hitl.confirm.resolved": func(n *eventEnv) holdshort.Event {
		run := n.start("confirm")
		return about(factAbout(run, "ben"), n.decide(run, holdshort.Approve, ben), "api")
	},
	"hitl.confirm.timed_out":  func(n *eventEnv) holdshort.Event { return expired(n, "confirm") },
	"hitl.escalation.created": func(n *eventEnv) holdshort.Event { return raised(n, "escalate") },
	"hitl.escalation.resolved": func(n *eventEnv) holdshort.Event {
		run := n.start("escalate")
		return about(factAbout(run, "olga"), n.decide(run, holdshort.Approve, olga), "api")
	},
	"hitl.escalation.timed_out": func(n *eventEnv) holdshort.Event { return expired(n, "escalate") },
	"hitl.live_takeover.started": func(n *eventEnv) holdshort.Event {
		n.takeOver(n.s, olga)
		return holdshort.Event{Session: n.s.ID, Actor: "olga", Channel: "chat"}
	},
	"hitl.live_takeover.ended": func(n *eventEnv) holdshort.Event {
		n.takeOver(n.s, olga)
		n.handBack(HandbackInput{Session: n.s.ID, Actor: olga})
		return holdshort.Event{Session: n.s.ID, Actor: "olga", Channel: "chat"}
	},

	"operation.started": func(n *eventEnv) holdshort.Event { return called(n, nil) },
	"operation.done":    func(n *eventEnv) holdshort.Event { return called(n, nil) },
	"operation.failed":  func(n *eventEnv) holdshort.Event { return called(n, tool.StatusError(422, "no")) },
	"operation.unknown": func(n *eventEnv) holdshort.Event {
		e := called(n, errors.New("connection reset"))
		n.pass(time.Minute)
		return e
	},
	"operation.reconciled": func(n *eventEnv) holdshort.Event {
		e := called(n, errors.New("connection reset"))
		n.pass(time.Minute)
		n.decide(holdshort.Run{ID: e.Run}, holdshort.Select, olga, happenedOption)
		e.Actor, e.Channel = "olga", "api"
		return e
	},
	"operation.refused": func(n *eventEnv) holdshort.Event { return factAbout(n.pay("forbidden"), "system:worker") },
}

// raised is the event of a flow's new request.
func raised(n *eventEnv, flow string) holdshort.Event {
	n.Helper()
	run := n.start(flow)
	return about(factAbout(run, "system:worker"), n.open(run), "")
}

func expired(n *eventEnv, flow string) holdshort.Event {
	n.Helper()
	run := n.start(flow)
	req := n.open(run)
	n.pass(48 * time.Hour)
	return about(factAbout(run, "system:timeout"), req, "")
}

// noted does something to an open request in the name of olga.
func noted(n *eventEnv, do func(holdshort.Request) error) holdshort.Event {
	n.Helper()
	run := n.pay("refund")
	req := n.open(run)
	n.must(do(req))
	return about(factAbout(run, "olga"), req, "")
}

// called has a call approved, to which the tool answers fault.
func called(n *eventEnv, fault error) holdshort.Event {
	n.Helper()
	n.answer.Store(func() error { return fault })
	run := n.pay("refund")
	return about(factAbout(run, "system:worker"), n.decide(run, holdshort.Approve, olga), "")
}

// atGate is the event of a request that no run waits for.
func atGate(req holdshort.Request, actor string) holdshort.Event {
	return holdshort.Event{Request: req.ID, Session: req.SessionID, Trace: req.TraceID, Actor: actor}
}

// held starts a run whose code is edited before it goes on.
func (n *eventEnv) held() holdshort.Run {
	n.Helper()
	run := n.start("held")
	n.edited.Store(true)
	n.decide(run, holdshort.Answer, ben)
	return run
}
