package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

// Config is holdshort.yaml. The zero value is valid: every part has a default.
type Config struct {
	Server    Server           `yaml:"server" doc:"Where the server listens and what it answers to."`
	Stores    map[string]Store `yaml:"stores" doc:"The database, by a name that session_store refers to. A server has one."`
	Auth      Auth             `yaml:"auth" doc:"Who people and programs are, and which roles they have."`
	Models    map[string]Model `yaml:"models" doc:"Language models by name."`
	Agents    map[string]Agent `yaml:"agents" doc:"Agents by name."`
	Tools     map[string]Tool  `yaml:"tools" doc:"What agents can do, by name."`
	Policies  []Rule           `yaml:"policies" doc:"Which calls are allowed, asked about or denied; the first rule that matches counts."`
	Gate      Gate             `yaml:"gate" doc:"Agents outside this server."`
	Limits    Limits           `yaml:"limits" doc:"Limits of the server. Those of one agent, rule or tool are set there."`
	Retention Retention        `yaml:"retention" doc:"How long data is kept."`
	Channels  map[string]Free  `yaml:"channels" doc:"Chat channels by name."`
	Webhooks  []Webhook        `yaml:"webhooks" doc:"Addresses that events are sent to. They are registered at the start, and brought into line with this file."`

	origin *origin
}

// origin is the file that a configuration was read from, with the faults of its shape.
type origin struct {
	at     at
	faults Faults
	unread []string
	reset  []string
}

// Fault makes a fault of one of its keys, with the place where that stands if the configuration came from a file. Path joins the names.
func (c Config) Fault(path, message, hint string) Fault {
	if c.origin == nil {
		return Fault{Path: path, Message: message, Hint: hint}
	}
	return c.origin.at(path, message, hint)
}

// FaultInText makes a fault of a place in the text at path, such as a condition. Line and column count from 1.
func (c Config) FaultInText(path string, line, column int, message, hint string) Fault {
	if c.origin == nil {
		return c.Fault(path, message, hint)
	}
	return c.Fault(inText(path, line, column), message, hint)
}

// FaultOf makes a fault of the error that the part at path returned.
func (c Config) FaultOf(path string, err error) Fault {
	if err == nil {
		return Fault{}
	}
	message, hint := err.Error(), holdshort.HintOf(err)
	if known, ok := errors.AsType[*holdshort.Error](err); ok {
		if message = known.Message; known.Err != nil {
			cause := known.Err.Error()
			if inner, ok := known.Err.(*holdshort.Error); ok && inner.Message != "" && inner.Err == nil {
				cause = inner.Message // its hint is shown beside it
			}
			message = strings.TrimPrefix(message+": "+cause, ": ")
		}
		if known.Field != "" {
			path += "." + known.Field
		}
	}
	return c.Fault(path, message, hint)
}

// Unread reports whether the value at path, or one that contains it, could not be read from the file.
func (c Config) Unread(path string) bool {
	return c.origin != nil && (&checker{unread: c.origin.unread}).isUnread(path)
}

// Incomplete reports whether a value at path, in it or around it could not be read, so that faults which are found
// there may only follow from that one. A number out of its bounds does not count: it has its default.
func (c Config) Incomplete(path string) bool {
	return c.origin != nil && slices.ContainsFunc(c.origin.unread, func(p string) bool {
		return !slices.Contains(c.origin.reset, p) && (Within(p, path) || Within(path, p))
	})
}

// Path names a key by the names that lead to it.
func Path(names ...string) string {
	path := ""
	for _, name := range names {
		path = join(path, name)
	}
	return path
}

// Free is an object whose keys are not this file's business.
type Free map[string]any

// Server is how it is reached.
type Server struct {
	Addr      string   `yaml:"addr" doc:"Address to listen on. Default: 127.0.0.1:8080. Any other than loopback needs authentication."`
	PublicURL string   `yaml:"public_url" doc:"Address that people reach it by; links are made from it."`
	MaxBody   int      `yaml:"max_body" min:"1024" doc:"Largest request body in bytes. Default: 1048576."`
	Rate      Rate     `yaml:"rate" doc:"How many calls of the API one key or person may make. The web pages have a limit of their own, so that a limit for programs does not keep people from deciding: 50 pages a second and 200 at once."`
	Shutdown  Duration `yaml:"shutdown" min:"1s" max:"24h" doc:"How long calls under way may take when the server stops, and then those of runs. Default: 10s."`
	Outgoing  Outgoing `yaml:"outgoing" doc:"Where webhooks and callbacks may go besides public https addresses."`
	Log       string   `yaml:"log" enum:"debug,info,warn,error" doc:"Least level of what is logged. Default: info."`
}

// Outgoing opens what webhooks may not reach by default: whoever can register one reaches it too.
type Outgoing struct {
	HTTP     bool     `yaml:"http" doc:"Also addresses without TLS."`
	Private  bool     `yaml:"private" doc:"Also loopback, link-local and private addresses, all of them."`
	Networks []string `yaml:"networks" doc:"Also these private networks, such as 10.1.0.0/16."`
}

// Prefixes are the networks, read.
func (o Outgoing) Prefixes() ([]netip.Prefix, error) {
	list := make([]netip.Prefix, len(o.Networks))
	for i, text := range o.Networks {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Field: fmt.Sprintf("server.outgoing.networks[%d]", i), Message: text + " is no network", Hint: "write 10.1.0.0/16"}
		}
		list[i] = p
	}
	return list, nil
}

// Rate limits calls of the API. Zero fields have the defaults.
type Rate struct {
	PerSecond float64 `yaml:"per_second" min:"0" doc:"Calls each second. Default: 200, and 0 stands for it."`
	Burst     int     `yaml:"burst" min:"0" doc:"Calls at once. Default: 400."`
}

// Store is a database.
type Store struct {
	URL     string `yaml:"url" need:"yes" doc:"sqlite:PATH or postgres://USER@HOST:5432/DATABASE."`
	Keyring string `yaml:"keyring" doc:"File with the keys that sign decisions. Default for SQLite: PATH.keys; PostgreSQL needs one."`
}

// Durable reports whether what is committed there outlives the process.
func (s Store) Durable() bool {
	path, isSQLite := strings.CutPrefix(s.URL, "sqlite:")
	return s.URL != "" && (!isSQLite || !strings.HasPrefix(path, ":memory:"))
}

// Webhook is an address that gets events.
type Webhook struct {
	URL    string   `yaml:"url" need:"yes" doc:"http or https address that takes POST."`
	Secret string   `yaml:"secret" secret:"yes" doc:"Signs what is sent: whsec_ and base64. After a change the old one signs as well for 24 hours. Default: the one that the webhook has. A new webhook gets a random secret: rotate it to see one."`
	Events []string `yaml:"events" doc:"Names or globs such as hitl.*; none: all. A change counts from the next start."`
}
