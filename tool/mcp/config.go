// Package mcp makes tools of those that an MCP server offers, a program on this machine or an address, and notices when they change.
// It may import the root package, tool, what tools share, and the protocol's SDK.
package mcp

import (
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
)

// Config describes a server of tools. Name is needed, and either Command or URL.
type Config struct {
	// Name of the server: its tools are called Name/tool.
	Name string
	// Command is the program and arguments of a server that speaks over its standard input and output.
	Command []string
	// Dir that the program runs in. Default: that of this process.
	Dir string
	// Env is added to the environment of the program, as written. Default: none.
	Env map[string]string
	// Pass names the variables of this process that the program gets besides PATH. Default: none.
	Pass []string
	// URL of a server that speaks HTTP. It is written in the configuration, so it may be private. Redirects stay on its host.
	URL string
	// Headers of every request. Default: none.
	Headers map[string]string
	// Trusted believes what the server says of its tools: that one only reads, or can be repeated. Default: false.
	Trusted bool
	// Effect of all its tools, whatever the server says. Default: tool.Read for those that a trusted server says only read, tool.Write for the others.
	Effect tool.Effect
	// Pins are the definitions that somebody agreed to, by the server's own name of the tool: see Pin. A tool without one, or with another,
	// counts as changed, and every call of it is asked about. Default: none.
	Pins map[string]string
	// Definite promises that an error which a tool of this server reports means that nothing was done. Default: false, nobody knows.
	Definite bool
	// Timeout of a call. Default: 30 seconds.
	Timeout time.Duration
	// MaxAnswer is how many bytes of a result are kept; what is longer is cut and marked. Default: 256 KiB, at most 1 MiB.
	MaxAnswer int
	// Recheck is the age at which the definitions are read again before a call, for servers that do not say when they change. Default: 1 minute.
	Recheck time.Duration
	// Logger. Default: none.
	Logger *slog.Logger

	hide       answer.Secrets
	maxMessage int // bytes of one message of the server; a longer one ends the connection
}

const (
	defaultMaxAnswer = 256 << 10
	mostMaxAnswer    = 1 << 20
	mostMessage      = 16 << 20
)

func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = tool.DefaultTimeout
	}
	if c.MaxAnswer == 0 {
		c.MaxAnswer = defaultMaxAnswer
	}
	if c.maxMessage == 0 {
		c.maxMessage = mostMessage
	}
	if c.Recheck == 0 {
		c.Recheck = time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	for _, list := range []map[string]string{c.Headers, c.Env} {
		for name, value := range list {
			c.hide.Add(name, value)
		}
	}
	for _, name := range c.Pass {
		c.hide.Add(name, os.Getenv(name))
	}
	c.Logger = c.Logger.With("mcp_server", c.Name)
	return c
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// Check returns the first fault that Connect would refuse the configuration for. It connects to nothing.
func (c Config) Check() error { return c.withDefaults().validate() }

func (c Config) validate() error {
	switch {
	case !serverName.MatchString(c.Name):
		return invalid(c.Name, "name", "a server needs a name of letters, digits, dots, hyphens and underscores", "give it a short one")
	case (len(c.Command) == 0) == (c.URL == ""):
		return invalid(c.Name, "command", "a server is either a program or an address", "set one of command and url")
	case len(c.Command) > 0 && c.Command[0] == "":
		return invalid(c.Name, "command", "a server needs a program", "name the program and its arguments")
	case len(c.Command) > 0 && len(c.Headers) > 0:
		return invalid(c.Name, "headers", "a program has no headers", "use env")
	case c.URL != "" && (len(c.Env) > 0 || len(c.Pass) > 0 || c.Dir != ""):
		return invalid(c.Name, "env", "an address has no environment and no folder", "use headers")
	case c.MaxAnswer < 0 || c.MaxAnswer > mostMaxAnswer:
		return invalid(c.Name, "max_answer", "an answer of that size cannot be kept", "use 1 byte to 1 MiB")
	case c.Effect != "" && c.Effect != tool.Read && c.Effect != tool.Write:
		return invalid(c.Name, "effect", "unknown effect "+string(c.Effect), "use read or write")
	case c.Timeout < 0 || c.Recheck < 0:
		return invalid(c.Name, "timeout", "a timeout cannot be negative", "leave it out for the default")
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			return invalid(c.Name, "url", "that is no address of a server", "use https://host/path, and a header for credentials")
		}
	}
	for name, value := range c.Headers {
		if name == "" || strings.ContainsAny(name, " \t\r\n:\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return invalid(c.Name, "headers", "that is no header", "use a name, and a value of one line")
		}
	}
	for name := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(c.Env[name], 0) {
			return invalid(c.Name, "env", "that is no variable", "use a name and its value")
		}
	}
	return nil
}

func invalid(name, field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "connect to MCP server " + name, Field: field, Message: message, Hint: hint}
}
