package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/telemetry"
)

type demoCommand struct {
	Addr  string        `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Address to listen on."`
	Data  string        `placeholder:"DIR" type:"path" help:"Folder to keep it in. Default: a temporary one, removed at the end."`
	Story bool          `help:"Tell a story: an agent asks, somebody decides, the machine dies twice, and the money is paid back once."`
	Pace  time.Duration `default:"2s" hidden:"" help:"Between the lines of the story."`
	Child bool          `hidden:"" help:"Be the machine that dies in the story."`
	Slow  time.Duration `hidden:"" help:"How long a refund takes."`
	Once  bool          `hidden:"" help:"End when the story is told."`
}

func (demoCommand) Help() string {
	return `Everything at once, offline, with no keys and no configuration: a server, an agent on a scripted model that looks up, refunds, cancels, wraps and writes to customers of a small shop, rules about what it may do alone, and some requests that wait for you. It prints the address and a login link that works once. Other commands find it by themselves: try holdshort chat and holdshort inbox in another terminal.

Examples:

    holdshort demo
    holdshort demo --story
    holdshort demo --addr 127.0.0.1:9000 --data ./demo`
}

// Grace: what is under way, and the folder.
func (demoCommand) Grace() time.Duration { return 20 * time.Second }

func (c *demoCommand) Run(ctx context.Context, out *console) (err error) {
	dir := c.Data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "holdshort-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if c.Story && !c.Child {
		return c.tell(ctx, out, dir)
	}
	if c.Child {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		go func() { // without its parent it ends too
			io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	s, err := c.desk(ctx, out, dir)
	if err != nil {
		return err
	}
	var local profile
	defer func() { local.forget(c.Data == "") }()
	return s.run(ctx, func() (err error) {
		if c.Child {
			return c.handOver(ctx, out, s)
		}
		out.printf("The order desk is open at %s\n", s.url())
		s.home = "/playground"
		if local, err = s.welcome(ctx, out, demo.Tenant, demo.Visitor()); err != nil {
			return err
		}
		second, err := personalKey(ctx, s.engine, demo.Tenant, "second person", demo.Colleague())
		if err != nil {
			return err
		}
		out.printf("\nTry in another terminal:\n    %s chat     talk to the agent: say help\n    %s inbox    decide what waits\n    %s runs\n", calledAs(), calledAs(), calledAs())
		s.home = ""
		link, err := s.loginLink(ctx, demo.Tenant, demo.Colleague())
		if err != nil {
			return err
		}
		out.printf("Large refunds take two of finance. This is the second, Ben, in another browser or a private window, or in a terminal:\n    %s\n    HOLDSHORT_TOKEN=%s %s inbox\nCtrl-C closes it", link, second, calledAs())
		if c.Data == "" {
			out.printf(" and removes everything")
		}
		out.printf(".\n")
		return nil
	})
}

// desk is the demo's server over its folder.
func (c *demoCommand) desk(ctx context.Context, out *console, dir string) (*serving, error) {
	log := telemetry.Logger(io.Discard, nil)
	if c.Data != "" && !c.Child {
		file, err := os.OpenFile(filepath.Join(dir, "demo.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the demo's log: %w", err)
		}
		context.AfterFunc(ctx, func() { file.Sync() })
		log = telemetry.Logger(file, nil)
	}
	shop, err := demo.OpenShop(dir)
	if err != nil {
		return nil, err
	}
	desk := &demo.Desk{Shop: shop, Slow: c.Slow}
	clock := &demo.Clock{}
	store, err := sqlite.Open(ctx, filepath.Join(dir, "holdshort.db"), sqlite.Options{Clock: clock.Now, Logger: log})
	if err != nil {
		return nil, err
	}
	parts, err := desk.Parts(ctx, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s, err := newServing(ctx, servingOptions{Addr: c.Addr, Store: store, Parts: parts, Engine: engine.Config{Flows: demo.Flows(), Clock: clock.Now, Drain: 2 * time.Second},
		Identity: identity.Config{Tenant: demo.Tenant}, Log: log, Shutdown: 2 * time.Second})
	if err != nil {
		return nil, err
	}
	if err := demo.Seed(ctx, s.engine, clock); err != nil {
		s.listener.Close()
		store.Close()
		return nil, err
	}
	return s, nil
}

// handover is what the machine of the story tells its parent: where it is, and the keys of those who act in it.
type handover struct {
	URL      string `json:"url"`
	Token    string `json:"token"`
	Second   string `json:"second"`
	Customer string `json:"customer"`
	Link     string `json:"link"`
}

func (c *demoCommand) handOver(ctx context.Context, out *console, s *serving) error {
	link, err := s.loginLink(ctx, demo.Tenant, demo.Visitor())
	if err != nil {
		return err
	}
	keys := handover{URL: s.url(), Link: link}
	if keys.Token, err = personalKey(ctx, s.engine, demo.Tenant, "story", demo.Visitor()); err != nil {
		return err
	}
	if keys.Second, err = personalKey(ctx, s.engine, demo.Tenant, "story, the second person", demo.Colleague()); err != nil {
		return err
	}
	_, keys.Customer, err = s.engine.CreateKey(ctx, demo.Tenant, engine.CreateKeyInput{Name: "web site", Scopes: []string{holdshort.ScopeActAsUser, holdshort.ScopeStart, holdshort.ScopePost, holdshort.ScopeView},
		ExpiresIn: 24 * time.Hour, Actor: holdshort.SystemActor("demo")})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(keys)
}

// calledAs is how people call this program: somebody who came by go run has none of its name.
func calledAs() string {
	self, err := os.Executable()
	if err == nil && strings.Contains(self, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/holdshort"
	}
	return "holdshort"
}
