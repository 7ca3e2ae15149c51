package torture

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// ledger is what was told to clients: nobody may take it back, whatever is killed afterwards.
type ledger struct {
	report *Report

	mu        sync.Mutex
	runs      map[holdshort.RunID]*startedRun     // by the name that its client gave it: over HTTP the server gives it another
	names     map[holdshort.RunID]holdshort.RunID // of runs that have another id
	asked     map[holdshort.RequestID]*toldPause
	messages  map[messageKey]*sentMessage
	conflicts int // deciders who came too late
	refused   int // deciders who may not, or who had seen something else
	votes     int
	raised    int // requests from outside
	claimed   int // of them
	replayed  int // calls that were answered as ones that had been made before
	gates     map[holdshort.RequestID]*gateCase
	held      int // runs that had killed too many processes and were let go on by a person
	surprises map[holdshort.Code]int
}

// startedRun is a run that a client started.
type startedRun struct {
	id       holdshort.RunID // as the store has it; "" until somebody said so
	plan     plan
	flow     string
	starts   int  // orders that may have been carried out
	stored   bool // its start was acknowledged
	cancel   bool // somebody asked to cancel it, or may have
	canceled bool // that was acknowledged
	post     string
	retried  bool
	ended    bool
}

// toldPause is a pause that a client was told of.
type toldPause struct {
	request holdshort.Request // as it was told first
	at      time.Time
	sent    map[string]bool // tokens of decisions that were sent
	stands  *holdshort.Decision
	closed  time.Time // when somebody was told so
	voters  []string  // whose votes were acknowledged
	expired bool      // somebody was told that it was too late
}

func newLedger(report *Report) *ledger {
	return &ledger{report: report, runs: map[holdshort.RunID]*startedRun{}, names: map[holdshort.RunID]holdshort.RunID{}, gates: map[holdshort.RequestID]*gateCase{}, asked: map[holdshort.RequestID]*toldPause{},
		messages: map[messageKey]*sentMessage{}, surprises: map[holdshort.Code]int{}}
}

// about changes what is known of a run.
func (l *ledger) about(id holdshort.RunID, change func(*startedRun)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name, ok := l.names[id]; ok {
		id = name
	}
	r := l.runs[id]
	if r == nil {
		r = &startedRun{}
		l.runs[id] = r
	}
	change(r)
}

// run gives a copy of what is known of a run.
func (l *ledger) run(id holdshort.RunID) (r startedRun) {
	l.about(id, func(known *startedRun) { r = *known })
	return r
}

// unfinished are the runs that no client has seen end. Those whose start nobody acknowledged may be among them.
func (l *ledger) unfinished() (ids []holdshort.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.runs {
		if !r.ended && r.id != "" {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// named notes under which id a run is stored that a client started. However often it was started, it is one.
func (l *ledger) named(name, id holdshort.RunID) {
	var before holdshort.RunID
	l.about(name, func(s *startedRun) { before, s.id = s.id, id })
	if before != "" && before != id {
		l.report.Violate(InboundOnce, "one start under one key was answered with %s and with %s", before, id)
	}
	if name != id {
		l.mu.Lock()
		l.names[id] = name
		l.mu.Unlock()
	}
}

// told notes an open request, and that it is the one which was told before. asked is when the client that was told began to ask.
func (l *ledger) told(req holdshort.Request, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.asked[req.ID]
	if known == nil {
		l.asked[req.ID] = &toldPause{request: req, at: time.Now(), sent: map[string]bool{}}
		return
	}
	if why := changed(known.request, req); why != "" {
		l.report.Violate(PauseKept, "%s: its %s is not what was told before", req.ID, why)
	}
	if known.stands != nil && known.closed.Before(asked) { // one that expired stays in the list until it is swept
		l.report.Violate(OneDecision, "%s is open again after it was closed", req.ID)
	}
}

// changed names what differs in two looks at a request: what is written once must be equal byte for byte.
func changed(a, b holdshort.Request) string {
	switch {
	case a.Question != b.Question:
		return "question"
	case a.Fingerprint != b.Fingerprint:
		return "fingerprint"
	case a.RunID != b.RunID || a.OriginStepID != b.OriginStepID:
		return "place"
	case !a.ExpiresAt.Equal(b.ExpiresAt):
		return "expiry"
	case !slices.EqualFunc(a.Actions, b.Actions, func(x, y holdshort.Action) bool {
		return x.CallID == y.CallID && x.Tool == y.Tool && string(x.Args) == string(y.Args) && x.ArgsHash == y.ArgsHash
	}):
		return "actions"
	}
	return ""
}

// sends notes a decision before it leaves: from now on it may stand.
func (l *ledger) sends(id holdshort.RequestID, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.asked[id]; p != nil {
		p.sent[token] = true
	}
}

// stands notes the decision that somebody was shown, as the winner or as the one who came too late. All are shown the same one.
func (l *ledger) stands(id holdshort.RequestID, d holdshort.Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.asked[id]
	switch {
	case p == nil:
	case !p.sent[d.Message]:
		l.report.Violate(OneDecision, "%s: the decision %s that stands was sent by nobody", id, d.ID)
	case p.stands == nil:
		p.stands, p.closed = &d, time.Now()
	case !sameDecision(*p.stands, d):
		l.report.Violate(OneDecision, "%s: %s stands for one and %s for another", id, p.stands.ID, d.ID)
	}
}

// sameDecision compares by id where it was told, and by the token that each decision carries.
func sameDecision(a, b holdshort.Decision) bool {
	return (a.ID == b.ID || a.ID == "" || b.ID == "") && a.Message == b.Message && a.Action == b.Action && sameJSON(a.Calls, b.Calls)
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

// statusOf is how HTTP says the same as a code.
var statusOf = map[holdshort.Code]int{"": 200, holdshort.Closed: 409, holdshort.AlreadyVoted: 409, holdshort.FingerprintMismatch: 409, holdshort.Expired: 410, holdshort.DoesNotFit: 422}

// decided takes the answer to a decision with a token.
func (l *ledger) decided(id holdshort.RequestID, actor, token string, a answered) {
	if a.Replayed {
		l.add(&l.replayed)
	}
	if want, ok := statusOf[a.Code]; ok && a.Status != 0 && a.Status != want {
		l.surprise(answered{Code: a.Code, Message: fmt.Sprintf("with status %d", a.Status)})
	}
	switch a.Code {
	case "":
		switch {
		case a.Decision == nil:
			l.voted(id, actor)
		case a.Decision.Message != token && a.Replayed && slices.ContainsFunc(a.Votes, func(v holdshort.Vote) bool { return v.Message == token }):
			l.voted(id, actor) // it was a vote, and others decided since
			l.stands(id, *a.Decision)
		case a.Decision.Message != token:
			l.report.Violate(OneDecision, "%s: a decision was acknowledged, and another one stands", id)
		default:
			l.stands(id, *a.Decision)
		}
	case holdshort.AlreadyVoted:
		l.voted(id, actor)
	case holdshort.Closed:
		if a.Decision == nil && a.Request != nil && a.Request.Status == holdshort.RequestResolved {
			l.report.Violate(OneDecision, "%s: a conflict did not show the decision that stands", id)
		}
		l.add(&l.conflicts)
		if a.Decision != nil {
			if a.Status != 0 && a.Decision.Message == token {
				l.report.Violate(OneDecision, "%s: a decision that was sent again under its key was told that it came too late", id)
			}
			l.stands(id, *a.Decision)
		}
	case holdshort.Expired:
		l.add(&l.conflicts)
		l.mu.Lock()
		if p := l.asked[id]; p != nil {
			p.expired = true
		}
		l.mu.Unlock()
	case holdshort.DoesNotFit: // a mixture that several people cannot approve one by one
		l.add(&l.refused)
	default:
		l.surprise(a)
	}
}

func (l *ledger) voted(id holdshort.RequestID, actor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.asked[id]; p != nil && !slices.Contains(p.voters, actor) {
		p.voters = append(p.voters, actor)
		l.votes++
	}
}

func (l *ledger) add(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

// surprise counts an answer that a client did not expect. It breaks no promise by itself; the report shows it.
func (l *ledger) surprise(a answered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.surprises[a.Code]++
	if l.surprises[a.Code] <= 3 {
		l.report.mu.Lock()
		l.report.tell("unexpected answer: " + string(a.Code) + ": " + a.Message)
		l.report.mu.Unlock()
	}
}
