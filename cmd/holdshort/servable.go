package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/channel/webhook"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/tool"
)

// servable checks a configuration as serve needs it. It is the one check of serve, config check and doctor, so that
// they refuse the same files.
// It connects to nothing and opens no store.
type servable struct {
	config.Config
	file     string
	leaveOut []string // sections that serve starts without
	embedded bool     // for a Go program, which brings its own tools, flows, store and identity
	ownStore bool     // serve was told its store by a flag
	faults   config.Faults
}

// check returns the warnings, and every fault as config.Faults.
func (s *servable) check(ctx context.Context) (config.Faults, error) {
	options := setup.Options{Dir: filepath.Dir(s.file), Offline: true, Logger: slog.New(slog.DiscardHandler)}
	if s.embedded {
		options.Tools, options.Flows = standIns(s.Config)
	}
	parts, err := setup.Build(ctx, s.Config, options)
	defer parts.Close()
	if s.faults = config.FaultsOf(err); err != nil && s.faults == nil {
		return nil, err
	}
	if !s.embedded {
		s.checkStores()
		s.checkSections()
		s.checkIdentity()
		s.checkWebhooks()
	}
	if len(s.faults) > 0 {
		return nil, s.faults.Sorted()
	}
	return parts.Warnings.Sorted(), nil
}

// add makes a fault of err, unless the value at path could not be read or has a fault already.
func (s *servable) add(path string, err error) {
	if err == nil || s.Unread(path) || s.faulty(path) {
		return
	}
	s.faults = append(s.faults, s.FaultOf(path, err))
}

// faulty reports whether a fault was found at path or below it.
func (s *servable) faulty(path string) bool {
	return slices.ContainsFunc(s.faults, func(f config.Fault) bool { return config.Within(f.Path, path) })
}

func (s *servable) checkStores() {
	if s.ownStore {
		return
	}
	for name, store := range s.Stores {
		path := config.Path("stores", name, "url")
		l, err := parseLocation(store.URL)
		if wrong, ok := errors.AsType[*usageError](err); ok {
			s.add(path, &holdshort.Error{Code: holdshort.Invalid,
				Message: strings.TrimPrefix(wrong.Message, "--store: "), Hint: wrong.Hint})
		} else if known, ok := errors.AsType[*holdshort.Error](l.check()); ok {
			s.add(path, withoutField(known))
		}
	}
}

func (s *servable) checkSections() {
	for _, section := range s.Unbuilt() {
		if !slices.Contains(s.leaveOut, section) {
			s.add(section, &holdshort.Error{Code: holdshort.Invalid, Message: section + " are not part of this build",
				Hint: "take them out of the configuration, or start without them: --leave-out " + section})
		}
	}
}

// checkIdentity asks package identity about each part of it alone and about all together, because it reports one
// fault at a time.
func (s *servable) checkIdentity() {
	all, err := identityOf(s.Config, "", false)
	if s.add("auth.jwt.keys_file", err); s.faulty("auth.jwt") {
		all.JWT = nil
	}
	if s.faulty("auth.oidc") {
		all.OIDC = nil
	}
	s.addIdentity(identity.Config{Tenant: all.Tenant})
	s.addIdentity(identity.Config{PublicURL: all.PublicURL})
	if all.Tenant = "default"; s.faulty("server.public_url") {
		all.PublicURL = "https://localhost"
	}
	s.addIdentity(identity.Config{OIDC: all.OIDC, PublicURL: all.PublicURL})
	s.addIdentity(identity.Config{JWT: all.JWT})
	s.addIdentity(all)
}

func (s *servable) addIdentity(c identity.Config) {
	err := c.Check()
	known, ok := errors.AsType[*holdshort.Error](err)
	if !ok {
		return
	}
	path := "auth." + known.Field
	switch role, ofRole := strings.CutPrefix(known.Field, "roles/"); {
	case ofRole:
		path = config.Path("auth", "roles", role)
	case known.Field == "public_url":
		path = "server.public_url"
	case known.Field == "jwt.keys":
		path = "auth.jwt.keys_file"
	}
	s.add(path, withoutField(known))
}

func (s *servable) checkWebhooks() {
	if n := len(s.Webhooks); n > engine.MaxWebhooks {
		s.add("webhooks", &holdshort.Error{Code: holdshort.Invalid,
			Message: fmt.Sprintf("a tenant has %d webhooks at most, these are %d", engine.MaxWebhooks, n),
			Hint:    "send the events of several to one address"})
	}
	outgoing := s.Server.Outgoing
	networks, err := outgoing.Prefixes()
	if err != nil {
		return // a fault of the file already
	}
	sender := webhook.New(webhook.Options{AllowHTTP: outgoing.HTTP, AllowPrivate: outgoing.Private,
		AllowNetworks: networks})
	first := map[string]bool{}
	for i, w := range s.Webhooks {
		path := fmt.Sprintf("webhooks[%d]", i)
		if first[w.URL] && w.URL != "" {
			s.add(path+".url", &holdshort.Error{Code: holdshort.Invalid, Message: "another webhook has this address",
				Hint: "write all events into one of them"})
		}
		first[w.URL] = true
		if err := engine.CheckWebhook(engine.CreateWebhookInput{URL: w.URL, Events: w.Events, Secret: w.Secret},
			sender); err != nil {
			known, _ := errors.AsType[*holdshort.Error](err)
			s.add(path+"."+cmp.Or(known.Field, "url"), withoutField(known))
		}
	}
}

// withoutField leaves the field to the path of a fault.
func withoutField(e *holdshort.Error) error {
	out := *e
	out.Field = ""
	return &out
}

// standIns returns tools and flows in the names of those that a Go program brings.
func standIns(c config.Config) (tools []tool.Tool, flows []agent.Delegate) {
	for name, t := range c.Tools {
		if t.Builtin {
			nothing := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
			tools = append(tools, tool.Tool{Name: name, Call: nothing})
		}
	}
	for _, a := range c.Agents {
		_, _, names, _ := a.Uses()
		for _, name := range names {
			nothing := flow.New(name, 1, func(*flow.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
			if !slices.ContainsFunc(flows, func(d agent.Delegate) bool { return d.Name == name }) {
				flows = append(flows, agent.Delegate{Name: name, Flow: nothing})
			}
		}
	}
	return tools, flows
}
