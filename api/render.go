package api

import (
	"cmp"
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Request is a request as it is shown: with its decision, who voted, and where people decide it.
type Request struct {
	holdshort.Request
	Decision   *Decision             `json:"decision"`
	Votes      []Decision            `json:"votes"`
	Operations []holdshort.Operation `json:"operations,omitempty"`
	Next       holdshort.RequestID   `json:"next,omitempty"`
	URLs       URLs                  `json:"urls"`
	Salt       string                `json:"salt,omitempty"` // only to those who see all arguments: with it the fingerprint can be computed
}

// URLs of a request. None of them decides by being opened.
type URLs struct {
	Page    string `json:"page"`
	Approve string `json:"approve"`
	Reject  string `json:"reject"`
}

// Decision is a decision or a vote as it is shown.
type Decision struct {
	Action       holdshort.Verb           `json:"action"`
	Actor        holdshort.Actor          `json:"actor"`
	Message      string                   `json:"message,omitempty"`
	Args         json.RawMessage          `json:"args,omitempty"` // of the only call, if it was edited
	OptionIDs    []string                 `json:"option_ids,omitempty"`
	Value        json.RawMessage          `json:"value,omitempty"`
	Calls        []holdshort.CallDecision `json:"calls,omitempty"`
	Raw          string                   `json:"raw,omitempty"`
	Channel      string                   `json:"channel,omitempty"`
	SelfApproved bool                     `json:"self_approved,omitempty"`
	At           string                   `json:"at"`
}

// request shows a request with what its rule redacts withheld.
func (s *Server) request(v engine.RequestView) Request {
	out := s.revealed(v)
	out.Salt = ""
	out.Actions = make([]holdshort.Action, len(v.Request.Actions))
	hidden := map[string][]string{}
	for i, a := range v.Request.Actions {
		if a.Args = holdshort.Redact(a.Args, a.Redacted); len(a.Redacted) > 0 {
			a.ArgsHash, a.AskedHash = "", "" // a few tries would tell what is withheld
		}
		out.Actions[i], hidden[a.CallID] = a, a.Redacted
	}
	hide := func(d Decision) Decision {
		calls := make([]holdshort.CallDecision, len(d.Calls))
		for i, c := range d.Calls {
			if c.Args = holdshort.Redact(c.Args, hidden[c.CallID]); len(hidden[c.CallID]) > 0 {
				c.ArgsHash = ""
			}
			calls[i] = c
		}
		d.Calls = calls
		if len(v.Request.Actions) == 1 {
			d.Args = holdshort.Redact(d.Args, v.Request.Actions[0].Redacted)
		}
		return d
	}
	if out.Decision != nil {
		d := hide(*out.Decision)
		out.Decision = &d
	}
	for i := range out.Votes {
		out.Votes[i] = hide(out.Votes[i])
	}
	return out
}

// revealed shows all of a request.
func (s *Server) revealed(v engine.RequestView) Request {
	page := s.options.PublicURL + "/r/" + string(v.Request.ID)
	out := Request{Request: v.Request, Operations: v.Operations, Next: v.Next, Votes: []Decision{}, Salt: v.Request.Salt, URLs: URLs{page, page + "#approve", page + "#reject"}}
	if v.Decision != nil {
		d := decision(*v.Decision, v.Request)
		out.Decision = &d
	}
	for _, vote := range v.Votes {
		out.Votes = append(out.Votes, decision(vote, v.Request))
	}
	return out
}

func decision(d holdshort.Decision, req holdshort.Request) Decision {
	out := Decision{Action: d.Action, Actor: d.Actor, Message: d.Message, OptionIDs: d.OptionIDs, Value: d.Value, Calls: d.Calls, Raw: d.Raw, Channel: d.Channel,
		SelfApproved: d.SelfApproved, At: d.At.UTC().Format(timeFormat)}
	if len(d.Calls) == 1 {
		out.Args = d.Calls[0].Args
	}
	if req.ExpectedInput == holdshort.YesNo && len(out.Value) == 0 {
		switch d.Action {
		case holdshort.Approve:
			out.Value = json.RawMessage("true")
		case holdshort.Reject:
			out.Value = json.RawMessage("false")
		}
	}
	return out
}

const timeFormat = "2006-01-02T15:04:05.999999Z07:00"

// Run is a run as it is shown.
type Run struct {
	holdshort.Run
	OpenRequests []holdshort.RequestID `json:"open_requests"`
	Request      *Request              `json:"request,omitempty"` // what it waits for, where one run is asked for
	Hitl         *Hitl                 `json:"hitl,omitempty"`    // the same pause in its flat form
}

// Hitl is the flat form of a pause, for callers who know nothing else. Its URLs take a POST: opening them decides nothing.
type Hitl struct {
	TaskID       holdshort.RunID     `json:"task_id"`
	SessionID    holdshort.SessionID `json:"session_id"`
	RequestID    holdshort.RequestID `json:"request_id"`
	Message      string              `json:"message"`
	ApprovalURL  string              `json:"approval_url"`
	RejectionURL string              `json:"rejection_url"`
	ToolCalls    []holdshort.Action  `json:"tool_calls"`
}

func (s *Server) hitl(req Request) *Hitl {
	calls := req.Actions
	if calls == nil {
		calls = []holdshort.Action{}
	}
	url := s.options.PublicURL + "/tealagents/v1alpha1/resume/" + string(req.ID) + "?action="
	return &Hitl{TaskID: req.RunID, SessionID: req.SessionID, RequestID: req.ID, Message: cmp.Or(req.Question, "Human intervention required."), ApprovalURL: url + string(holdshort.Approve),
		RejectionURL: url + string(holdshort.Reject), ToolCalls: calls}
}
