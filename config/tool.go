package config

// Tool is something that an agent can do: over HTTP, as a command, or of an MCP server.
type Tool struct {
	HTTP              *HTTPTool    `yaml:"http" doc:"A call to an address."`
	Command           *CommandTool `yaml:"command" doc:"A program on this machine; {} is a shell."`
	MCP               *MCPTool     `yaml:"mcp" doc:"The tools of an MCP server."`
	Description       string       `yaml:"description" doc:"What it does, for the model and for people."`
	Effect            string       `yaml:"effect" enum:"read,write" doc:"Whether it changes anything. Default: write."`
	Reversible        string       `yaml:"reversible" enum:"yes,no,external" doc:"Whether what it did can be undone. Default: no."`
	Idempotent        bool         `yaml:"idempotent" doc:"Calls under one operation id take effect once, however often they are made."`
	IdempotencyHeader string       `yaml:"idempotency_header" doc:"Header that carries the operation id."`
	RequiresApproval  bool         `yaml:"requires_approval" doc:"A person is asked unless a policy says otherwise."`
	Trusted           bool         `yaml:"trusted" doc:"What an MCP server says about its tools is believed."`
	Timeout           Duration     `yaml:"timeout" doc:"Of one call. Default: 30s."`
	Schema            Free         `yaml:"schema" doc:"JSON Schema of the arguments."`
}

// HTTPTool is a call to an address.
type HTTPTool struct {
	Method  string            `yaml:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE" doc:"Default: POST."`
	URL     string            `yaml:"url" need:"yes" doc:"Address."`
	Headers map[string]string `yaml:"headers" secret:"yes" doc:"Sent with each call."`
}

// CommandTool is a program.
type CommandTool struct {
	Command []string          `yaml:"command" doc:"Program and arguments. Default: the call's own command line in a shell."`
	Dir     string            `yaml:"dir" doc:"Folder that it runs in."`
	Env     map[string]string `yaml:"env" secret:"yes" doc:"Its environment besides PATH."`
}

// MCPTool is a server of tools.
type MCPTool struct {
	Command []string          `yaml:"command" doc:"Program and arguments of a server that speaks over its standard input."`
	URL     string            `yaml:"url" doc:"Address of a server that speaks HTTP."`
	Headers map[string]string `yaml:"headers" secret:"yes" doc:"Sent with each call."`
}
