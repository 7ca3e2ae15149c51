package holdshorttest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// Match says which requests a script is about. Empty fields match everything.
type Match struct {
	Tool     string // that one of its calls is of
	Kind     holdshort.Kind
	Question string // a part of it
	Step     string // the key of the step that asks, or a part of it
	Role     string // that may decide it
	User     string // whom its run is for
	Run      holdshort.RunID
	Func     func(holdshort.Request) bool
}

func (m Match) String() string {
	var parts []string
	for _, f := range []struct{ name, value string }{{"Tool", m.Tool}, {"Kind", string(m.Kind)}, {"Question", m.Question}, {"Step", m.Step}, {"Role", m.Role},
		{"User", m.User}, {"Run", string(m.Run)}} {
		if f.value != "" {
			parts = append(parts, fmt.Sprintf("%s: %q", f.name, f.value))
		}
	}
	if m.Func != nil {
		parts = append(parts, "Func: …")
	}
	return "Match{" + strings.Join(parts, ", ") + "}"
}

func (m Match) fits(req holdshort.Request) bool {
	return (m.Tool == "" || slices.ContainsFunc(req.Actions, func(a holdshort.Action) bool { return a.Tool == m.Tool })) &&
		(m.Kind == "" || req.Kind == m.Kind) &&
		strings.Contains(req.Question, m.Question) &&
		strings.Contains(req.OriginStepID, m.Step) &&
		(m.Role == "" || slices.Contains(req.Audience.Roles, m.Role)) &&
		(m.User == "" || req.Requester.User == m.User) &&
		(m.Run == "" || req.RunID == m.Run) &&
		(m.Func == nil || m.Func(req))
}

// Script is what people do whenever they are asked something. Each of those whom a request concerns acts once, at their own time and then
// in the order of the scripts, until it is closed: whoever is later than another, or than the expiry, comes too late, as in life.
type Script struct {
	k      *Kit
	match  Match
	people []holdshort.Actor
	after  time.Duration
	times  int // 0: always
	reply  *reply
	acted  map[holdshort.RequestID]map[string]bool // who did, by id
}

// ignore is the reply of those who give none.
var ignore = &reply{}

// WhenAsked begins a script. Say who with By (default: as many of those who may as it takes), when with After (default: at once), how often
// with Times (default: always), and end it with what they do.
func (k *Kit) WhenAsked(m Match) *Script {
	s := &Script{k: k, match: m, acted: map[holdshort.RequestID]map[string]bool{}}
	k.scripts = append(k.scripts, s)
	return s
}

// By names who acts, with the roles that they hold. Named again, each of them does: votes of a quorum.
func (s *Script) By(id string, roles ...string) *Script {
	s.people = append(s.people, person(id, roles...))
	return s
}

// After is how long they take from the moment they are asked.
func (s *Script) After(d time.Duration) *Script { s.after = d; return s }

// Times is for how many requests the script is good.
func (s *Script) Times(n int) *Script { s.times = n; return s }

// Approve says yes.
func (s *Script) Approve() { s.reply = &reply{Action: holdshort.Approve} }

// Reject says no.
func (s *Script) Reject(message string) { s.reply = &reply{Action: holdshort.Reject, Message: message} }

// Edit approves the only call of a request with other arguments.
func (s *Script) Edit(args any) { s.k.t.Helper(); s.reply = editing(s.k, args) }

// Answer gives the text of an Ask, or the fields of a Form.
func (s *Script) Answer(value any) { s.k.t.Helper(); s.reply = answering(s.k, value) }

// Choose picks options by their ids.
func (s *Script) Choose(ids ...string) { s.reply = &reply{Action: holdshort.Select, OptionIDs: ids} }

// Respond answers in the tool's place.
func (s *Script) Respond(text string) { s.k.t.Helper(); s.reply = responding(s.k, text) }

// Calls decides a batch call by call.
func (s *Script) Calls(calls ...holdshort.CallDecision) { s.reply = perCall(calls) }

// Cancel takes the question back.
func (s *Script) Cancel(reason string) { s.reply = &reply{Action: holdshort.Cancel, Message: reason} }

// Ignore lets the request expire: Wait moves the clock to that moment.
func (s *Script) Ignore() { s.reply = ignore }

// open reports whether the script has something left to do about a request.
func (s *Script) open(req holdshort.Request) bool {
	if s.reply == nil || !s.match.fits(req) {
		return false
	}
	_, begun := s.acted[req.ID]
	return begun || s.times == 0 || len(s.acted) < s.times
}

func (s *Script) note(req holdshort.RequestID, who string) {
	if s.acted[req] == nil {
		s.acted[req] = map[string]bool{}
	}
	s.acted[req][who] = true
}
