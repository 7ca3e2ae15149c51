package rulebook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cel.dev/cel-go/cel"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// compiled is a rule that is ready to be asked.
type compiled struct {
	name     string
	when     string
	program  cel.Program
	metered  cel.Program // counts what it costs; only where that depends on the call
	shape    shape
	guards   []guard
	mentions []Mention
	tools    []ToolName
	then     policy.Verdict
	question template
	limits   []Limit
}

// Compile checks rules and makes a policy of them. What is wrong is Faults.
func Compile(rules []Rule, opts Options) (*Book, error) {
	if opts.Budget == 0 {
		opts.Budget = defaultBudget
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("prepare conditions: %w", err)
	}
	book := &Book{opts: opts, version: versionOf(rules)}
	var faults Faults
	names := map[string]bool{}
	for i, r := range rules {
		c := compiler{env: env, opts: opts, index: i, rule: r, name: r.Name}
		if c.name == "" {
			c.name = "rule " + strconv.Itoa(i+1)
		}
		if names[c.name] {
			c.wrong("name", 0, 0, "give it a name of its own", "another rule is called %q too", c.name)
		}
		names[c.name] = true
		c.nameable("name", c.name)
		rule := c.compile(book.version)
		faults = append(faults, c.faults...)
		book.rules = append(book.rules, rule)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	book.index()
	return book, nil
}

// versionOf names the rules by what they say: the same rules have the same version on every node.
func versionOf(rules []Rule) string {
	text, err := json.Marshal(rules)
	if err != nil { // names, numbers and texts: it cannot be
		text = fmt.Appendf(nil, "%+v", rules)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// environment declares what a condition may speak of, and how long it may be.
func environment() (*cel.Env, error) {
	types := map[string]*cel.Type{"string": cel.StringType, "bool": cel.BoolType, "int": cel.IntType, "timestamp": cel.TimestampType,
		"map(string, dyn)": cel.MapType(cel.StringType, cel.DynType)}
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(20_000),
		cel.ExpressionNestingDepthLimit(100),
		cel.RegexProgramSizeLimit(5_000),
		cel.EnableErrorOnBadPresenceTest(true),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(), cel.ValidateComprehensionNestingLimit(4)),
	}
	for _, v := range Variables {
		options = append(options, cel.VariableWithDoc(v.Name, types[v.Type], v.Doc))
	}
	return cel.NewEnv(options...)
}

// compiler is one rule on its way.
type compiler struct {
	env    *cel.Env
	opts   Options
	index  int
	rule   Rule
	name   string
	faults Faults
}

func (c *compiler) wrong(field string, line, column int, hint, format string, args ...any) {
	c.faults = append(c.faults, Fault{Rule: c.index, Name: c.name, Field: field, Line: line, Column: column, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *compiler) compile(version string) compiled {
	out := compiled{name: c.name, when: c.rule.When, then: c.rule.Then, limits: slices.Clone(c.rule.Limits)}
	out.then.Rule, out.then.Version = c.name, version
	out.then.Limits = nil
	for _, list := range []*[]string{&out.then.Audience.Users, &out.then.Audience.Roles, &out.then.Editable, &out.then.Redacted, &out.then.Blind} {
		*list = slices.Clip(slices.Clone(*list)) // every verdict has them in common
	}
	c.condition(&out)
	c.verdict(&out)
	var err error
	if out.question, err = parseTemplate(c.rule.Then.Question); err != nil {
		c.wrong("question", 0, 0, "write {tool}, {args.NAME}, {agent} or {actor}; a brace is written {{ or }}", "%s", err)
	}
	return out
}

func (c *compiler) condition(out *compiled) {
	if strings.TrimSpace(c.rule.When) == "" {
		c.wrong("when", 0, 0, `write "true" for every call`, "the condition is missing")
		return
	}
	checked, issues := c.env.Compile(c.rule.When)
	if issues.Err() != nil {
		c.issues(issues)
		return
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		c.wrong("when", 1, 1, "compare it with something", "a condition is true or false, this is %s", cel.FormatCELType(t))
		return
	}
	native := checked.NativeRep()
	for _, h := range hopelessIn(native.Expr()) {
		place := native.SourceInfo().GetStartLocation(h.id)
		c.wrong("when", place.Line(), place.Column()+1, h.hint, "%s", h.message)
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize), cel.CustomDecoratorV2(arithmetic)}
	var err error
	out.shape, out.guards = shapeOf(native.Expr()), guardsOf(native.Expr())
	out.mentions, out.tools = mentionsOf(native, out.guards), toolNamesOf(native)
	if out.program, err = c.env.Program(checked, options...); err == nil && (out.shape.depth > 0 || out.shape.grows) {
		out.metered, err = c.env.Program(checked, append(options, cel.CostTracking(meter{}), cel.CostLimit(c.opts.Budget))...)
	}
	if err != nil {
		c.wrong("when", 1, 1, "", "%s", err)
	}
}

// issues says what CEL found. After the first thing that cannot be read, the rest is noise.
func (c *compiler) issues(issues *cel.Issues) {
	for _, e := range issues.Errors() {
		message, hint := explain(e.Message)
		c.wrong("when", e.Location.Line(), e.Location.Column()+1, hint, "%s", message)
		if strings.HasPrefix(e.Message, "Syntax error: ") {
			return
		}
	}
}

// verdict checks the words of what the rule says.
func (c *compiler) verdict(out *compiled) {
	v := &out.then
	word := func(field, is string, known ...string) {
		if is != "" && !slices.Contains(known, is) {
			c.wrong(field, 0, 0, "", "%q is not one of %s", is, strings.Join(known, ", "))
		}
	}
	word("decision", string(v.Decision), string(policy.Ask), string(policy.Allow), string(policy.Deny))
	word("on_timeout", string(v.OnTimeout), string(holdshort.TimeoutFail), string(holdshort.TimeoutResume), string(holdshort.TimeoutClear), string(holdshort.TimeoutEscalate), string(holdshort.TimeoutApprove))
	word("on_reject", string(v.OnReject), string(holdshort.RejectContinue), string(holdshort.RejectCancel), string(holdshort.RejectReturn))
	word("priority", string(v.Priority), string(holdshort.PriorityLow), string(holdshort.PriorityNormal), string(holdshort.PriorityHigh), string(holdshort.PriorityCritical))
	if v.Decision == "" {
		v.Decision = policy.Ask
	}
	if v.Audience.Quorum < 0 {
		c.wrong("quorum", 0, 0, "write 1 or more", "%d approvals are no quorum", v.Audience.Quorum)
	}
	for i, name := range v.Blind {
		if !slices.Contains(v.Redacted, name) {
			c.wrong(fmt.Sprintf("blind[%d]", i), 0, 0, "add it to redacted, or take it away", "%q is not redacted", name)
		}
	}
	if len(c.rule.Then.Limits) > 0 {
		c.wrong("limits", 0, 0, "use Rule.Limits", "the limits of a rule stand beside its verdict")
	}
	for i := range out.limits {
		c.limit(fmt.Sprintf("limits[%d]", i), &out.limits[i])
	}
}

func (c *compiler) limit(field string, l *Limit) {
	if l.Unit == "" {
		l.Unit = Calls
	}
	switch {
	case c.rule.Then.Decision == policy.Deny:
		c.wrong(field, 0, 0, "take it away", "a rule that denies has nothing to count")
	case l.Unit != Calls && l.Unit != Repeats && l.Unit != Spend:
		c.wrong(field, 0, 0, "write calls, repeats or spend", "%q cannot be counted", l.Unit)
	case l.Scope != policy.PerRun && l.Scope != policy.PerSession && l.Scope != policy.PerDay:
		c.wrong(field+".per", 0, 0, "write run, session or day", "%q is no time to count over", l.Scope)
	case l.Max < 1:
		c.wrong(field, 0, 0, "write a number from 1; deny: true is for none at all", "a limit of %d", l.Max)
	}
	if l.Name == "" {
		l.Name = c.name
	}
	c.nameable(field+".name", l.Name)
}

// nameable: a name goes into the log, into the names of counters and before people.
func (c *compiler) nameable(field, name string) {
	if len(name) > 200 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		c.wrong(field, 0, 0, "use 200 bytes of plain text at most", "this is no name")
	}
}
