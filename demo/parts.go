package demo

import (
	"context"
	_ "embed"
	"log/slog"
	"path/filepath"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/setup"
)

// Config is the desk's configuration: its agent, and the rules worth reading.
//
//go:embed holdshort.yaml
var Config []byte

// Agent is the one that answers at the desk.
const Agent = "desk"

// durable is the demo's store: a file.
type durable struct{}

func (durable) Durable() bool { return true }

// Parts are what the desk's engine runs besides its flows: the agent with its tools, and the rules.
func (d *Desk) Parts(ctx context.Context, log *slog.Logger) (*setup.Parts, error) {
	read, err := config.Parse("demo/holdshort.yaml", Config, func(string) (string, bool) { return "", false })
	if err != nil {
		return nil, err
	}
	o := setup.Options{Store: durable{}, Tools: d.Tools(), Logger: log}
	if d.Shop != nil {
		o.Dir = filepath.Dir(d.Shop.file)
	}
	return setup.Build(ctx, read, o)
}
