package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort"
)

// Server is a server of tools. It is connected again, with growing pauses, when a call finds it gone.
type Server struct {
	config Config
	turn   chan struct{} // held by whoever connects or reads definitions
	stop   context.CancelFunc
	life   context.Context
	tasks  sync.WaitGroup

	closing sync.Once

	mu       sync.Mutex
	link     *link
	known    map[string]definition // by the server's own name
	order    []string              // in which the server lists them
	listed   time.Time
	stale    bool // the server says that its tools changed, and nobody has read them since
	failures int  // in a row
	next     time.Time
	closed   bool
	probing  bool

	patience time.Duration // with a program that let a call time out
}

// Pauses between attempts to connect.
const (
	firstPause = 200 * time.Millisecond
	mostPause  = 30 * time.Second
)

// Connect starts or calls the server and reads its tools.
func Connect(ctx context.Context, c Config) (*Server, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &Server{config: c, turn: make(chan struct{}, 1), patience: 10 * time.Second}
	s.life, s.stop = context.WithCancel(context.Background())
	if _, err := s.ready(ctx); err != nil {
		_ = s.Close()
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "connect to MCP server " + c.Name, Message: "it does not answer as such a server does", Err: err,
			Hint: "start it by hand and look at what it says"}
	}
	return s, nil
}

// Close ends the connection, and the program with everything that it started.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		l := s.link
		s.link, s.closed = nil, true
		s.mu.Unlock()
		s.stop()
		if l != nil {
			l.end()
		}
		s.turn <- struct{}{} // for good: nobody connects any more
		s.tasks.Wait()
	})
	return nil
}

var errClosed = errors.New("the connection to the server was closed")

// ready gives a connection whose definitions are known as they are now.
func (s *Server) ready(ctx context.Context) (*link, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.life.Done():
		return nil, errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	var last error
	for range 2 { // a connection may turn out to be dead when the tools are read
		l, err := s.connect(ctx)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		fresh := !s.stale && !s.listed.IsZero() && time.Since(s.listed) < s.config.Recheck
		s.mu.Unlock()
		if fresh {
			return l, nil
		}
		if last = s.list(ctx, l); last == nil {
			return l, nil
		}
		if ctx.Err() != nil || l.alive() {
			return nil, last
		}
	}
	return nil, last
}

// connect gives the connection that there is, or makes one. The caller has the turn.
func (s *Server) connect(ctx context.Context) (*link, error) {
	s.mu.Lock()
	l, pause, closed := s.link, time.Until(s.next), s.closed
	s.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	if l != nil && l.alive() {
		return l, nil
	}
	if deadline, ok := ctx.Deadline(); ok && pause > time.Until(deadline) {
		return nil, fmt.Errorf("the server went away again and again: it is tried once more in %v", pause.Round(time.Second))
	}
	if pause > 0 {
		wait := time.NewTimer(pause)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("the server is not up again yet: %w", ctx.Err())
		case <-s.life.Done():
			return nil, errClosed
		}
	}
	l, err := s.open(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.setback()
		return nil, err
	}
	if s.closed {
		s.tasks.Go(l.end)
		return nil, errClosed
	}
	s.link, s.stale = l, true
	return l, nil
}

// setback makes the next attempt wait. The caller holds mu.
func (s *Server) setback() {
	pause := min(firstPause<<min(s.failures, 10), mostPause)
	s.failures++
	s.next = time.Now().Add(pause)
}

// suspect makes the next attempt to connect wait if a call found the connection dead.
func (s *Server) suspect(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.alive() && !l.blamed {
		l.blamed = true
		s.setback()
	}
}

// drop gives up a connection that takes no more calls.
func (s *Server) drop(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != l || s.closed {
		return
	}
	s.link = nil
	if l.process != nil {
		l.process.kill()
	}
	s.tasks.Go(func() { _ = l.session.Close() })
}

// probe asks a program that let a call time out for its tools. One that does not even answer that is stuck for good, and is started again.
func (s *Server) probe(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.process == nil || s.link != l || s.closed || s.probing || !l.alive() {
		return
	}
	s.probing = true
	s.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(s.life, s.patience)
		defer cancel()
		_, err := within(ctx, l, func() (*mcp.ListToolsResult, error) { return l.session.ListTools(ctx, nil) })
		s.mu.Lock()
		s.probing = false
		s.mu.Unlock()
		if err != nil && ctx.Err() != nil && s.life.Err() == nil {
			s.config.Logger.Warn("the MCP server does not answer at all: it is started again")
			s.drop(l)
		}
	})
}

// trust forgets past failures: a call came through.
func (s *Server) trust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.next = 0, time.Time{}
}

func (s *Server) open(ctx context.Context) (*link, error) {
	l := &link{gone: make(chan struct{})}
	client := mcp.NewClient(&mcp.Implementation{Name: "holdshort", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{}, // a server gets neither files, nor a model, nor a person to ask
		Logger:         s.config.Logger,
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			s.mu.Lock()
			ours := !s.closed && (s.link == nil || s.link == l)
			s.stale = s.stale || ours
			if ours {
				s.tasks.Go(s.refresh)
			}
			s.mu.Unlock()
		},
	})
	var transport mcp.Transport
	if len(s.config.Command) > 0 {
		p, err := s.config.start()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", s.config.Command[0], err)
		}
		l.process, transport = p, p
	} else {
		transport, l.transport = s.config.remote()
	}
	within, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	session, err := client.Connect(within, transport, nil)
	if err != nil {
		if l.process != nil {
			l.process.kill()
			l.process.end()
		}
		return nil, err
	}
	l.session = session
	s.tasks.Go(func() {
		err := session.Wait()
		close(l.gone)
		l.end()
		if s.life.Err() == nil {
			s.config.Logger.Warn("the connection to the MCP server has ended", "error", err)
		}
	})
	return l, nil
}

// refresh reads the tools again after the server said that they changed.
func (s *Server) refresh() {
	ctx, cancel := context.WithTimeout(s.life, s.config.Timeout)
	defer cancel()
	if _, err := s.ready(ctx); err != nil && s.life.Err() == nil {
		s.config.Logger.Warn("the tools of the MCP server cannot be read again", "error", err)
	}
}
