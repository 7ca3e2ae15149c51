package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// list reads the definitions. The caller has the turn.
func (s *Server) list(ctx context.Context, l *link) error {
	s.mu.Lock()
	s.stale = false // what the server says from here on counts again
	s.mu.Unlock()
	known, order, err := s.fetch(ctx, l)
	if err != nil {
		s.suspect(l)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.stale = true
		return err
	}
	for name, d := range known {
		if before, ok := s.known[name]; ok && before.pin != d.pin {
			s.config.Logger.Warn("an MCP server changed the definition of a tool", "tool", name, "before", before.pin, "now", d.pin)
		}
	}
	s.known, s.order, s.listed = known, order, time.Now()
	return nil
}

func (s *Server) fetch(ctx context.Context, l *link) (map[string]definition, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	known, order := map[string]definition{}, []string{}
	cursor := ""
	for range mostPages {
		page, err := within(ctx, l, func() (*mcp.ListToolsResult, error) {
			return l.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		})
		if err != nil {
			return nil, nil, fmt.Errorf("list tools: %w", err)
		}
		for _, t := range page.Tools {
			if t == nil {
				continue
			}
			if _, twice := known[t.Name]; twice {
				return nil, nil, fmt.Errorf("list tools: there are two of the name %q", t.Name)
			}
			if len(order) == mostTools {
				return nil, nil, fmt.Errorf("list tools: there are more than %d", mostTools)
			}
			known[t.Name] = definition{name: t.Name, pin: Pin(t), tool: t}
			order = append(order, t.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			return known, order, nil
		}
	}
	return nil, nil, errors.New("list tools: the list has no end")
}

// Pins gives the pin of each tool, by the server's own names, as they are now: what somebody who agrees to them writes into the configuration.
func (s *Server) Pins(ctx context.Context) (map[string]string, error) {
	if _, err := s.ready(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pins := map[string]string{}
	for name, d := range s.known {
		pins[name] = d.pin
	}
	return pins, nil
}
