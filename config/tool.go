package config

import (
	"regexp"
	"strings"
)

// Tool is something that an agent can do: over HTTP, as a command, or of an MCP server.
type Tool struct {
	HTTP              *HTTPTool    `yaml:"http" doc:"A call to an address."`
	Command           *CommandTool `yaml:"command" doc:"A program on this machine; {} is a shell."`
	MCP               *MCPTool     `yaml:"mcp" doc:"The tools of an MCP server."`
	Builtin           bool         `yaml:"builtin" doc:"A tool that the program brings itself, by this name."`
	Description       string       `yaml:"description" doc:"What it does, for the model and for people."`
	Effect            string       `yaml:"effect" enum:"read,write" doc:"Whether it changes anything. Default: write."`
	Reversible        string       `yaml:"reversible" enum:"yes,no,external" doc:"Whether what it did can be undone. Default: no."`
	Idempotent        bool         `yaml:"idempotent" doc:"Calls under one operation id take effect once, however often they are made."`
	IdempotencyHeader string       `yaml:"idempotency_header" doc:"Header that carries the operation id. What takes it is not thereby idempotent: say so too."`
	RequiresApproval  bool         `yaml:"requires_approval" doc:"A person is asked about every call, whatever a policy allows."`
	Trusted           bool         `yaml:"trusted" doc:"What an MCP server says about its tools is believed."`
	Timeout           Duration     `yaml:"timeout" doc:"Of one call. Default: 30s."`
	Retries           int          `yaml:"retries" min:"0" doc:"How often a call that provably did nothing is made again. Default: 0."`
	Concurrency       int          `yaml:"concurrency" min:"0" doc:"How many calls at once. Default: no limit."`
	Cost              int          `yaml:"cost" min:"0" doc:"Of one call, for limits on spending. Default: 0."`
	CostArg           string       `yaml:"cost_arg" doc:"Argument that is the cost of a call, such as amount, rounded up. Default: none."`
	Schema            Free         `yaml:"schema" doc:"JSON Schema of the arguments."`
}

// HTTPTool is a call to an address.
type HTTPTool struct {
	Method      string            `yaml:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE" doc:"Default: POST."`
	URL         string            `yaml:"url" need:"yes" doc:"Address; {order} is filled with an argument, escaped. Only a host that is written out may be private."`
	Query       map[string]string `yaml:"query" doc:"Parameters of the address; values may have {order} in them. Default: none."`
	Headers     map[string]string `yaml:"headers" secret:"yes" doc:"Sent with each call."`
	Body        any               `yaml:"body" doc:"What is sent; texts may have {order} in them. Default: the arguments as JSON, for POST, PUT and PATCH."`
	Form        map[string]string `yaml:"form" doc:"Sent as a form instead of a body. Default: none."`
	Response    string            `yaml:"response" doc:"Part of the answer that is the result, such as order.status. Default: all of it."`
	ExternalIDs map[string]string `yaml:"external_ids" doc:"Name to the part of the answer that names what was made, for the ledger: ids, nothing personal."`
	Definite    []int             `yaml:"definite" doc:"Statuses that prove that nothing happened. Default: 400, 401, 403, 404, 405, 410, 422, 429."`
	MaxAnswer   int               `yaml:"max_answer" min:"1" max:"1048576" doc:"Largest answer in bytes. Default: 262144."`
	Outgoing    []string          `yaml:"outgoing" doc:"Hosts that a host with {place} in it may be, such as *.example.org, and private networks that it may be in. Default: any public host."`
	Reconcile   *Reconcile        `yaml:"reconcile" doc:"Call that says what became of one whose answer was lost. Default: a person is asked."`
}

// Reconcile is a call whose answer says whether a lost one took effect: 404 and 410 say that it did not.
type Reconcile struct {
	Method      string            `yaml:"method" enum:"GET,HEAD,POST" doc:"Default: GET."`
	URL         string            `yaml:"url" need:"yes" doc:"Address; {@operation_id} is the id of the lost call, {order} one of its arguments."`
	Query       map[string]string `yaml:"query" doc:"Parameters of the address. Default: none."`
	Headers     map[string]string `yaml:"headers" secret:"yes" doc:"Sent with it."`
	Body        any               `yaml:"body" doc:"What is sent. Default: nothing."`
	Part        string            `yaml:"part" doc:"Part of the answer that says it. Default: the status does."`
	Happened    []string          `yaml:"happened" doc:"Values of part that say that it happened."`
	NotHappened []string          `yaml:"not_happened" doc:"Values of part that say that it did not; any other is left to a person."`
	Response    string            `yaml:"response" doc:"Part of the answer that is the result. Default: as of the tool."`
	ExternalIDs map[string]string `yaml:"external_ids" doc:"As of the tool, which is the default."`
}

// CommandTool is a program.
type CommandTool struct {
	Command      []string          `yaml:"command" doc:"Program and arguments; {path} fills one of them. Default: the call's own command line in a shell."`
	Dir          string            `yaml:"dir" doc:"Folder that it runs in, relative to that of the configuration, which is the default."`
	Env          map[string]string `yaml:"env" secret:"yes" doc:"Its environment besides PATH."`
	Pass         []string          `yaml:"pass" doc:"Variables of the server's environment that it gets too. Default: none but PATH."`
	Stdin        string            `yaml:"stdin" doc:"What it reads from its standard input; may have {text} in it. Default: nothing."`
	MaxOutput    int               `yaml:"max_output" min:"1" max:"131072" doc:"Bytes of each of its outputs that are kept. Default: 65536."`
	Success      []int             `yaml:"success" doc:"Exit codes with which it did what it should. Default: 0."`
	DefiniteExit []int             `yaml:"definite_exit" doc:"Exit codes that prove that nothing happened. Default: none."`
}

// MCPTool is a server of tools.
type MCPTool struct {
	Command   []string          `yaml:"command" doc:"Program and arguments of a server that speaks over its standard input."`
	Dir       string            `yaml:"dir" doc:"Folder that it runs in, relative to that of the configuration, which is the default."`
	Env       map[string]string `yaml:"env" secret:"yes" doc:"Its environment besides PATH."`
	Pass      []string          `yaml:"pass" doc:"Variables of the server's environment that it gets too. Default: none but PATH."`
	URL       string            `yaml:"url" doc:"Address of a server that speaks HTTP."`
	Headers   map[string]string `yaml:"headers" secret:"yes" doc:"Sent with each call."`
	Definite  bool              `yaml:"definite" doc:"An error that a tool of this server reports means that nothing was done. Default: nobody knows."`
	MaxAnswer int               `yaml:"max_answer" min:"1" max:"1048576" doc:"Largest result in bytes. Default: 262144."`
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// template must be an address once its places are filled. One that is nothing but a place gets all of it from the call.
func (c *checker) template(path, text string) {
	if filled := placeholder.ReplaceAllString(text, "x"); filled != "x" {
		c.address(path, filled)
	}
}

func (c *checker) tool(path, name string, t Tool) {
	if name == AskUser || strings.HasPrefix(name, AgentPrefix) || strings.HasPrefix(name, FlowPrefix) || strings.Contains(name, "/") {
		c.wrong(path, "give it another name", "%q means something else among an agent's tools", name)
	}
	kinds := 0
	for _, there := range []bool{t.HTTP != nil, t.Command != nil, t.MCP != nil, t.Builtin} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		c.wrong(path, "give it one of http, command, mcp and builtin", "a tool is one thing, this is %d", kinds)
	}
	if t.HTTP != nil {
		c.template(path+".http.url", t.HTTP.URL)
		if t.HTTP.Reconcile != nil {
			c.template(path+".http.reconcile.url", t.HTTP.Reconcile.URL)
		}
	}
	if t.HTTP == nil && t.IdempotencyHeader != "" {
		c.wrong(path+".idempotency_header", "take it away", "only a call over HTTP has headers")
	}
	if t.MCP != nil && (len(t.MCP.Command) > 0) == (t.MCP.URL != "") {
		c.wrong(path+".mcp.command", "give it one of command and url", "an MCP server is a program or an address")
	}
	if t.MCP != nil {
		c.address(path+".mcp.url", t.MCP.URL)
		if len(t.Schema) > 0 {
			c.wrong(path+".schema", "take it away", "the tools of an MCP server bring their own schemas")
		}
		if t.Description != "" {
			c.wrong(path+".description", "take it away", "the tools of an MCP server bring their own descriptions")
		}
	}
	if t.Trusted && t.MCP == nil {
		c.wrong(path+".trusted", "take it away", "only an MCP server can be trusted: other tools are declared here")
	}
	if t.Cost != 0 && t.CostArg != "" {
		c.wrong(path+".cost_arg", "keep one of cost and cost_arg", "a call costs one thing")
	}
}
