package inbox

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// whyView says why a request was made, and what is to happen with it.
type whyView struct {
	Rule, Condition, Place string
	Link                   string // to the rule
	Reason                 string // where no rule asked
	Source                 string // what kind of policy asked
	Version                string // of the policy, short
	Decides                string // who, how many
	Expires                time.Time
	OnTimeout              string // what happens then, in words
}

func (v *visit) whyOf(req holdshort.Request) whyView {
	w := whyView{Rule: req.Rule, Source: strings.ReplaceAll(req.PolicySource, "_", " "), Version: short(req.PolicyVersion), Decides: decidesOf(req.Audience)}
	if req.Status == holdshort.RequestOpen {
		w.Expires = req.Due()
	}
	if req.Rule == "" && req.Reason != "" {
		w.Reason = capitalized(strings.ReplaceAll(req.Reason, "_", " "))
	}
	w.Condition, w.Place = v.conditionOf(req)
	if w.Condition != "" {
		w.Link = ruleLink(req.Rule)
	}
	if !w.Expires.IsZero() {
		w.OnTimeout = map[holdshort.OnTimeout]string{holdshort.TimeoutFail: "then nothing runs", holdshort.TimeoutResume: "then the run goes on without an answer", holdshort.TimeoutClear: "then it is dropped",
			holdshort.TimeoutEscalate: "then it is escalated", holdshort.TimeoutApprove: "then it is approved by the clock"}[req.OnTimeout]
	}
	return w
}

// conditionOf is what the rule says that stopped a request, and where it stands. What another version of the rules said is not known.
func (v *visit) conditionOf(req holdshort.Request) (condition, place string) {
	if v.options.Rules == nil || req.Rule == "" || v.options.Rules.Version() != req.PolicyVersion {
		return "", ""
	}
	rules, _ := v.options.Rules.Rules()
	for _, r := range rules {
		if r.Name == req.Rule {
			return r.When, r.Place
		}
	}
	return "", ""
}

func short(version string) string {
	if len(version) > 12 {
		return version[:12]
	}
	return version
}

// decidesOf says who decides, and how many of them it takes.
func decidesOf(a holdshort.Audience) string {
	who := audienceOf(a)
	switch n := a.Needed(); {
	case who == "":
		return "nobody may decide this"
	case n > 1:
		who = fewWords(n) + " of " + who + " decide"
	case len(a.Roles) == 1 && len(a.Users) == 0 && !a.Owner && rolePlurals[a.Roles[0]] != "":
		who = "one of " + who + " decides"
	default:
		who += " decides"
	}
	if a.Separate {
		who += ", not who asked"
	}
	return who
}

func audienceOf(a holdshort.Audience) string {
	var who []string
	for _, role := range a.Roles {
		who = append(who, cmp.Or(rolePlurals[role], role))
	}
	who = append(who, a.Users...)
	if a.Owner {
		who = append(who, "the user of the session")
	}
	return strings.Join(who, " or ")
}

// rolePlurals of the roles that everybody knows; what others are called is up to those who named them.
var rolePlurals = map[string]string{policy.Admin: "the administrators", policy.Operator: "the operators", policy.Auditor: "the auditors", policy.Reviewer: "the reviewers"}

// fewWords is a small number as people write it.
func fewWords(n int) string {
	if words := []string{"none", "one", "two", "three", "four", "five", "six"}; n >= 0 && n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// headline is the first line of a question, and what follows it. Where a question is made of the arguments, those stand below it anyway.
func headline(req holdshort.Request) (first, rest string) {
	first, rest, _ = strings.Cut(req.Question, "\n")
	if len(req.Actions) > 0 && strings.HasPrefix(first, "Run "+req.Actions[0].Tool+" {") {
		return "Run " + req.Actions[0].Tool + "?", req.Question
	}
	return first, strings.TrimSpace(rest)
}

// askerOf says by whom a request was made, and for whom.
func askerOf(req holdshort.Request, run *holdshort.Run) string {
	var by, to string
	switch r := req.Requester; {
	case r.RaisedBy != "":
		by, to = cmp.Or(r.RaisedName, r.RaisedBy), r.User
	case run != nil && run.Agent != "":
		by, to = "agent “"+run.Agent+"”", r.User
	case run != nil && run.Flow != "":
		by, to = "flow “"+run.Flow+"”", r.User
	default:
		to = r.User
	}
	var parts []string
	if by != "" {
		parts = append(parts, "by "+by)
	}
	if to != "" && to != by {
		parts = append(parts, "for "+to)
	}
	return strings.Join(parts, " ")
}

// around adds what there is besides the request, as far as they may look.
func (v *visit) around(c *cardView, s sight) {
	req := s.Request
	if s.seesRun {
		c.Run = string(req.RunID)
	}
	resource := policy.Resource{Audience: req.Audience, Owner: req.Requester.User, Requester: req.Requester}
	if s.run != nil {
		resource.Owner = s.run.User
	}
	may := func(a policy.Action) bool {
		ok, _ := policy.Can(a, v.actor(), resource)
		return ok && v.who.Allows(a) && !c.Link()
	}
	open := req.Status == holdshort.RequestOpen
	c.MayComment, c.MayAssign, c.MayCancel = may(policy.Comment), open && may(policy.Assign), open && may(policy.CancelRequest) && req.Kind != holdshort.Reconcile
}

// history adds what was before: requests that were alike, what was said, and how the run came here.
func (v *visit) history(c *cardView, s sight) (err error) {
	lost := func(what string, err error) { // the card is worth showing without it
		if err != nil && v.ctx.Err() == nil {
			v.log.Error("a part of a card could not be shown", "part", what, "request_id", s.Request.ID, "error", err)
		}
	}
	c.Talk, err = v.talkOf(s.Request)
	lost("conversation", err)
	if c.Link() {
		c.Talk.Session, c.Timeline.Empty = "", true
		return nil
	}
	similar, err := v.engine.Similar(v.ctx, v.tenant(), s.Request, v.actor())
	lost("similar requests", err)
	c.Similar, c.Compare = similarOf(similar), compareOf(s, similar.Last)
	c.Session, c.SessionAbout = c.Talk.Session, c.Talk.About
	if c.Timeline, err = v.miniTimeline(s.Request); err != nil {
		lost("run", err)
		c.Timeline = timelineView{Empty: true}
	}
	comments, err := v.engine.Comments(v.ctx, v.tenant(), s.Request.ID)
	for _, said := range comments {
		c.Comments = append(c.Comments, commentView{Who: said.Actor, Text: said.Text, At: said.At, Erased: said.Erased})
	}
	return err
}

// similarView is what became of requests like this one.
type similarView struct {
	Text string // "11 approved, 1 rejected"
	Days int
}

func similarOf(s engine.Similar) similarView {
	var parts []string
	add := func(n int, word string) {
		if n > 0 {
			text := number(n)
			if s.More {
				text += "+"
			}
			parts = append(parts, text+" "+word)
		}
	}
	add(s.Approved, "approved")
	add(s.Edited, "edited")
	add(s.Rejected, "rejected")
	add(s.Answered, "answered")
	add(s.Expired, "expired")
	out := similarView{Text: strings.Join(parts, ", "), Days: 30}
	if !s.Since.IsZero() {
		out.Days = int((time.Since(s.Since) + 12*time.Hour) / (24 * time.Hour))
	}
	return out
}

// contextOf is what goes with a request, as its maker gave it.
func contextOf(req holdshort.Request) []argNode {
	if raw := strings.TrimSpace(string(req.Context)); raw == "" || raw == "null" || raw == "{}" || req.Kind == holdshort.ErrorRecovery && repairOf(req) != nil {
		return nil
	}
	return nodesOf(req.Context, nil, "ctx")
}

// repairView is a call that was refused because of its arguments.
type repairView struct {
	Tool, Field, Value string
	Allowed            []string
	Attempt, Most      int
}

// repairOf reads what is wrong with a call from the context of its request. What is not written that way is shown as it is.
func repairOf(req holdshort.Request) *repairView {
	if req.Kind != holdshort.ErrorRecovery {
		return nil
	}
	var said struct {
		Tool    string            `json:"tool"`
		Field   string            `json:"field"`
		Value   json.RawMessage   `json:"current_value"`
		Allowed []json.RawMessage `json:"valid_values"`
		Attempt int               `json:"attempt"`
		Most    int               `json:"of"`
	}
	if json.Unmarshal(req.Context, &said) != nil || said.Tool == "" && said.Field == "" {
		return nil
	}
	out := &repairView{Tool: said.Tool, Field: said.Field, Attempt: said.Attempt, Most: said.Most}
	if len(said.Value) > 0 {
		out.Value = leafText(said.Value)
	}
	for _, raw := range said.Allowed {
		out.Allowed = append(out.Allowed, plainLeaf(raw))
	}
	return out
}
