// Package agent is the loop of a language model and its tools, written as a flow: the model says what it wants done, policy and people say
// what may be done, the kernel does exactly that. It may import the root package, flow, model, tool, repair, reply and internal/schema.
package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/schema"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/tool"
)

// Config of an agent. Name and Model are needed.
type Config struct {
	Name        string
	Description string
	Model       model.Model
	// Instructions are what the model is told first.
	Instructions string
	// Tools that it may ask for. What is not here it cannot call, whatever else the node has.
	Tools []tool.Tool
	// Delegates are flows and other agents that it may hand work to.
	Delegates []Delegate
	// AskUser lets it put questions to the session's user. Default: it can only answer.
	AskUser bool
	// Schema that its final answer must fit. Default: any text.
	Schema json.RawMessage
	// Repair says how a call is put right that was refused because of its arguments. Default: the user is asked.
	Repair Repair
	// InputTimeout is how long questions to the user stay open; flow.Never: until they are answered. Default: 10 minutes.
	InputTimeout time.Duration
	// Timeout of a whole run, pauses included. Default: none.
	Timeout time.Duration
	// Limits of one run.
	Limits Limits
	// Language of what the agent itself says to the user, where their own words do not show it. Default: en.
	Language string
	// Concurrency is how many of its runs a node executes at once. Default: no limit of its own.
	Concurrency int
	// MaxTokens of one answer, and Temperature. Default: the provider's.
	MaxTokens   int
	Temperature *float64
}

// Limits of one run of an agent. Zero fields have the defaults.
type Limits struct {
	// Iterations is how often the model is asked. Default: 50.
	Iterations int
	// Calls is how many calls one answer of the model may have. Default: 20.
	Calls int
	// Tokens of all answers, input and output. Default: no limit.
	Tokens int64
	// Cost of all answers, in millionths. Default: no limit.
	Cost int64
	// Window is how many tokens of conversation the model gets: what came earlier is summed up. Default: 60,000.
	Window int
	// Result is how many bytes of a tool's result the model gets. Default: 32 KiB.
	Result int
}

// Repair says how calls are put right.
type Repair struct {
	// Off gives the model every error of a tool. Default: the user is asked about what they can put right.
	Off bool
	// Model reads answers that the deterministic reader cannot. What it proposes is shown and confirmed. Default: the question is asked again.
	Model model.Model
	// Attempts is how often one call is put right. Default: 3, and never more.
	Attempts int
}

// Agent is a model with instructions, tools and limits.
type Agent struct {
	config    Config
	tools     map[string]tool.Tool
	delegates map[string]Delegate
	offered   []model.Tool
	schema    *schema.Schema
}

// AskUser is the tool with which a model asks the session's user.
const AskUser = "ask_user"

// New makes an agent. Invalid says what is wrong with its configuration.
func New(config Config) (*Agent, error) {
	wrong := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "make agent " + config.Name, Field: field, Message: message, Hint: hint}
	}
	if config.Name == "" || len(config.Name) > 100 || strings.ContainsAny(config.Name, "/#!\x00") {
		return nil, wrong("name", "an agent needs a name of 1 to 100 bytes without / # and !", "set Name")
	}
	if config.Model == nil {
		return nil, wrong("model", "an agent needs a model", "set Model")
	}
	a := &Agent{config: config.withDefaults(), tools: map[string]tool.Tool{}, delegates: map[string]Delegate{}}
	for _, t := range config.Tools {
		t, err := t.Prepare()
		if err != nil {
			return nil, err
		}
		if t.Name == AskUser {
			return nil, wrong("tools", "one of its tools is called "+AskUser, "give it another name")
		}
		if !a.offer(t.Name, t.Description, t.Schema) {
			return nil, wrong("tools", fmt.Sprintf("two of its tools are called %q", t.Name), "give each its own name")
		}
		a.tools[t.Name] = t
	}
	for _, d := range config.Delegates {
		if !a.offer(d.Name, d.Description, d.Schema) {
			return nil, wrong("delegates", fmt.Sprintf("two of its tools are called %q", d.Name), "give each its own name")
		}
		gate, err := d.gate().Prepare()
		if err != nil {
			return nil, err
		}
		a.tools[d.Name], a.delegates[d.Name] = gate, d
	}
	if config.AskUser && !a.offer(AskUser, askUserText, askUserSchema) {
		return nil, wrong("delegates", "one of its delegates is called "+AskUser, "give it another name")
	}
	if twice := a.ambiguous(); twice != "" {
		return nil, wrong("delegates", fmt.Sprintf("it and those that it hands work to have different tools called %q", twice), "give each its own name")
	}
	if len(config.Schema) > 0 {
		s, err := schema.Compile(config.Schema)
		if err != nil {
			return nil, wrong("schema", "the schema of its answers cannot be used", err.Error())
		}
		a.schema = s
	}
	return a, nil
}

func (c Config) withDefaults() Config {
	if c.InputTimeout != flow.Never {
		c.InputTimeout = or(c.InputTimeout, 10*time.Minute)
	}
	c.Limits.Iterations = or(c.Limits.Iterations, 50)
	c.Limits.Calls = or(c.Limits.Calls, 20)
	c.Limits.Window = or(c.Limits.Window, 60_000)
	c.Limits.Result = or(c.Limits.Result, 32<<10)
	c.Repair.Attempts = min(or(c.Repair.Attempts, 3), 3)
	return c
}

func or[T int | time.Duration](v, other T) T {
	if v <= 0 {
		return other
	}
	return v
}

// offer shows a tool to the model; false if the name is taken.
func (a *Agent) offer(name, description string, schema json.RawMessage) bool {
	if slices.ContainsFunc(a.offered, func(t model.Tool) bool { return t.Name == name }) {
		return false
	}
	a.offered = append(a.offered, model.Tool{Name: name, Description: description, Schema: schema})
	return true
}

// Name of the agent.
func (a *Agent) Name() string { return a.config.Name }

// Description says what it is for.
func (a *Agent) Description() string { return a.config.Description }

// FlowName is that of an agent's flow.
func FlowName(agent string) string { return "agent." + agent }

// Flow is the agent as a node runs it.
func (a *Agent) Flow() flow.Flow {
	f := flow.New(FlowName(a.config.Name), 1, func(c *flow.Context, in Input) (Result, error) { return a.run(c, in, false) })
	f.Concurrency = a.config.Concurrency
	for _, t := range a.Tools() {
		f.Tools = append(f.Tools, t.Name)
	}
	slices.Sort(f.Tools)
	return f
}

// ambiguous gives a name that stands for different tools of its runs, if there is one: they would be one to the engine. Functions cannot be
// compared, what they declare can.
func (a *Agent) ambiguous() string {
	declared := map[string]string{}
	for _, t := range a.all() {
		text := fmt.Sprint(t.Description, "\x00", string(t.Schema), t.Effect, t.Reversible, t.Idempotent, t.Guarded, t.Timeout, t.Hints == nil)
		if was, ok := declared[t.Name]; ok && was != text {
			return t.Name
		}
		declared[t.Name] = text
	}
	return ""
}

func (a *Agent) all() []tool.Tool {
	tools := slices.Clone(a.config.Tools)
	for _, d := range a.config.Delegates {
		tools = append(tools, d.gate())
		if d.agent != nil {
			tools = append(tools, d.agent.all()...)
		}
	}
	return tools
}

// Tools are what its runs call: register them with the engine. Those that stand for delegates are gates; the delegates' own tools are among
// them too.
func (a *Agent) Tools() []tool.Tool {
	seen := map[string]bool{}
	return slices.DeleteFunc(a.all(), func(t tool.Tool) bool {
		again := seen[t.Name]
		seen[t.Name] = true
		return again
	})
}

// Input of a run: what the user said. A JSON string is read as its text.
type Input struct {
	Text    string              `json:"text,omitempty"`
	Parts   []holdshort.Part    `json:"parts,omitempty"`
	Task    string              `json:"task,omitempty"` // what another agent hands it
	Message holdshort.MessageID `json:"message_id,omitempty"`
	Session holdshort.SessionID `json:"session_id,omitempty"`
}

// UnmarshalJSON also reads a plain string.
func (in *Input) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*in = Input{Text: text}
		return nil
	}
	type plain Input
	return json.Unmarshal(raw, (*plain)(in))
}

// said is the input as one text.
func (in Input) said() string {
	if in.Text != "" {
		return in.Text
	}
	if text := textOf(in.Parts); text != "" {
		return text
	}
	return in.Task
}

// Result of a run.
type Result struct {
	Text       string          `json:"text"`
	Data       json.RawMessage `json:"data,omitempty"` // the answer, where a schema says what it must be
	Iterations int             `json:"iterations"`
	Usage      model.Usage     `json:"usage"`
}

// modelError gives a model's error the code that programs switch on.
func modelError(err error) error {
	if err == nil || holdshort.CodeOf(err) == holdshort.ModelFailed {
		return err
	}
	return &holdshort.Error{Code: holdshort.ModelFailed, Message: clip(err.Error(), 500), Hint: "look at the model's provider, then retry the run"}
}

// generate asks a model and never lets it take the run down with it.
func generate(ctx context.Context, m model.Model, req model.Request, say func(string)) (r model.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &holdshort.Error{Code: holdshort.ModelFailed, Message: clip(fmt.Sprint("the model's client panicked: ", p), 500)}
		}
	}()
	r, err = m.Generate(ctx, req, say)
	return r, modelError(err)
}
