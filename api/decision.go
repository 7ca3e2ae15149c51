package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) decisionEndpoints() []endpoint {
	refusals := []int{409, 410, 413, 422}
	return []endpoint{
		route("POST", "/v1/requests/{id}/decision", about{tag: "requests", summary: "Decide a request. One decision wins; every other gets a 409 with the one that stands.", action: policy.Decide, once: true, errors: refusals}, (*call).decide),
		route("POST", "/v1/requests/{id}/reply", about{tag: "requests", summary: "Answer in natural text.", action: policy.Decide, once: true, errors: refusals}, (*call).reply),
		route("POST", "/v1/requests/decisions", about{tag: "requests", summary: "Decide many, each on its own.", action: policy.Decide, once: true, errors: []int{413}}, (*call).decideMany),
	}
}

// Choice is what somebody decides.
type Choice struct {
	Action      string                   `json:"action"`
	Message     string                   `json:"message,omitempty"`
	Args        json.RawMessage          `json:"args,omitempty"`
	OptionIDs   []string                 `json:"option_ids,omitempty"`
	Value       json.RawMessage          `json:"value,omitempty"`
	Calls       []holdshort.CallDecision `json:"calls,omitempty"`
	Fingerprint string                   `json:"fingerprint,omitempty"`
}

// Decided is what became of it.
type Decided struct {
	Request Request  `json:"request"`
	Run     *Run     `json:"run"`
	Next    *Request `json:"next,omitempty"` // what is asked instead, after an edit that needs more people
}

// aliases are the other words for a verb that callers may use. What is not here and no verb is refused: it is never an approval.
var aliases = map[string]holdshort.Verb{"deny": holdshort.Reject, "yes": holdshort.Approve, "no": holdshort.Reject}

func (in Choice) input(id holdshort.RequestID, actor holdshort.Actor) (engine.DecideInput, error) {
	verb, ok := aliases[in.Action]
	if !ok {
		var err error
		if verb, err = holdshort.ParseVerb(in.Action); err != nil {
			return engine.DecideInput{}, err
		}
	}
	for _, c := range in.Calls {
		if c.ArgsHash != "" {
			return engine.DecideInput{}, bad("calls.args_hash", "it is the kernel's to compute", "leave it out")
		}
	}
	return engine.DecideInput{Request: id, Action: verb, Actor: actor, Message: in.Message, OptionIDs: in.OptionIDs, Value: in.Value, Args: in.Args, Calls: in.Calls,
		Fingerprint: in.Fingerprint, Channel: "api"}, nil
}

func (c *call) decide(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body Choice              `body:""`
}) (Decided, error) {
	input, err := in.Body.input(in.ID, c.who.Actor)
	if err != nil {
		return Decided{}, err
	}
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return Decided{}, err
	}
	out, err := c.engine.Decide(ctx, c.who.Tenant, input)
	return c.decided(in.ID, out, err)
}

func (c *call) reply(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		Text     string `json:"text"`
		Language string `json:"language,omitempty"`
	} `body:""`
}) (Decided, error) {
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return Decided{}, err
	}
	out, err := c.engine.Reply(ctx, c.who.Tenant, engine.ReplyInput{Request: in.ID, Actor: c.who.Actor, Text: in.Body.Text, Language: in.Body.Language, Channel: "api"})
	return c.decided(in.ID, out, err)
}

// decided shows what stands after a decision, or why it was refused and what stands instead.
func (c *call) decided(id holdshort.RequestID, out engine.Decided, err error) (Decided, error) {
	if _, again := c.replayed(err); again {
		v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor)
		if err != nil {
			return Decided{}, err
		}
		shown := Decided{Request: c.request(v)}
		if v.Request.RunID != "" {
			if run, err := c.engine.RunFor(c.ctx, c.who.Tenant, v.Request.RunID, c.who.Actor); err == nil {
				shown.Run = c.run(run)
			}
		}
		return shown, nil
	}
	shown := c.request(engine.RequestView{Request: out.Request, Decision: out.Decision, Votes: out.Votes})
	if err != nil {
		if out.Request.ID == "" {
			return Decided{}, err
		}
		return Decided{}, standing{error: err, request: &shown, decision: shown.Decision}
	}
	d := Decided{Request: shown}
	if out.Run != nil {
		d.Run = c.run(*out.Run)
	}
	if out.Next != nil {
		next := c.request(engine.RequestView{Request: *out.Next})
		d.Next = &next
	}
	return d, nil
}

const mostDecisions = 200

// Many is a list of decisions.
type Many struct {
	Items []struct {
		ID holdshort.RequestID `json:"id"`
		Choice
	} `json:"items"`
}

// Result is what became of one of them.
type Result struct {
	ID      holdshort.RequestID `json:"id"`
	Status  int                 `json:"status"`
	Request *Request            `json:"request,omitempty"`
	Run     *Run                `json:"run,omitempty"`
	Problem *Problem            `json:"problem,omitempty"`
}

// Results stand in the order of the items.
type Results struct {
	Items []Result `json:"items"`
}

func (c *call) decideMany(in struct {
	Body Many `body:""`
}) (Results, error) {
	if n := len(in.Body.Items); n == 0 || n > mostDecisions {
		return Results{}, bad("items", "1 to 200 decisions go into one call", "")
	}
	seen := map[holdshort.RequestID]bool{}
	for _, item := range in.Body.Items {
		if seen[item.ID] {
			return Results{}, bad("items", "one request stands twice in it", "decide each request once")
		}
		seen[item.ID] = true
	}
	key, err := c.key()
	if err != nil {
		return Results{}, err
	}
	results := Results{Items: make([]Result, len(in.Body.Items))}
	for i, item := range in.Body.Items {
		results.Items[i] = c.one(key, item.ID, item.Choice)
	}
	return results, nil
}

// one decides one of many: in its own transaction, and under a key of its own, so that a repeated call goes on where it was cut off.
func (c *call) one(key string, id holdshort.RequestID, choice Choice) Result {
	refused := func(err error) Result {
		p := c.problem(err)
		return Result{ID: id, Status: p.Status, Problem: &p}
	}
	input, err := choice.input(id, c.who.Actor)
	if err != nil {
		return refused(err)
	}
	ctx := c.ctx
	if key != "" {
		if ctx, err = c.onceOf(key+"/"+string(id), choice, string(id)); err != nil {
			return refused(err)
		}
	}
	out, err := c.engine.Decide(ctx, c.who.Tenant, input)
	var before *engine.Replayed
	if errors.As(err, &before) {
		v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor)
		if err != nil {
			return refused(err)
		}
		req := c.request(v)
		return Result{ID: id, Status: http.StatusOK, Request: &req}
	}
	d, err := c.decided(id, out, err)
	if err != nil {
		return refused(err)
	}
	return Result{ID: id, Status: http.StatusOK, Request: &d.Request, Run: d.Run}
}
