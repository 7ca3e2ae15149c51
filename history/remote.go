package history

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

const (
	// DefaultBaseURL is where the other system is if neither the Remote nor CORE_API_URL says so.
	DefaultBaseURL = "http://127.0.0.1:3000"
	// DefaultPath is where it keeps the messages of a session.
	DefaultPath = "/api/sessions/{session}/messages"

	defaultTimeout = 10 * time.Second
	mostBytes      = 16 << 20
)

// Remote is another system's message endpoint. The zero value works, and asks CORE_API_URL. It may be used by many at once; it must not be
// copied after its first use.
type Remote struct {
	// BaseURL of the other system. Default: the environment's CORE_API_URL, else DefaultBaseURL.
	BaseURL string
	// Path with {session} in place of the session's id. Default: DefaultPath.
	Path string
	// Header is sent with each request: a token, for instance. It never follows a redirect.
	Header http.Header
	// Timeout of a whole request. Default: 10 seconds.
	Timeout time.Duration
	// Logger gets failures. Default: slog.Default().
	Logger *slog.Logger

	once   sync.Once
	client *http.Client
	mu     sync.Mutex
	closed bool
}

// Messages gives what the other system has of a session, oldest first. Whatever goes wrong is logged and gives an empty list: a conversation
// goes on without its past rather than not at all. A session that the other system does not know is empty too.
func (r *Remote) Messages(ctx context.Context, session string, includeSystem bool) []holdshort.Message {
	list, err := r.fetch(ctx, session)
	if err != nil {
		r.log().Warn("read remote history", "session_id", session, "error", err)
		return []holdshort.Message{}
	}
	kept := make([]holdshort.Message, 0, len(list))
	for _, m := range list {
		if includeSystem || m.Role != holdshort.RoleSystem {
			kept = append(kept, m)
		}
	}
	return Merge(nil, kept)
}

// Close ends idle connections. From then on the Remote gives nothing.
func (r *Remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.http().CloseIdleConnections()
	return nil
}

func (r *Remote) fetch(ctx context.Context, session string) ([]holdshort.Message, error) {
	r.mu.Lock()
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("the remote history is closed")
	}
	if session == "" {
		return nil, fmt.Errorf("no session is named")
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url(session), nil)
	if err != nil {
		return nil, err
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Accept", "application/json")
	resp, err := r.http().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the other system answered %s", resp.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > mostBytes:
		return nil, fmt.Errorf("the answer has more than %d bytes", mostBytes)
	}
	return parse(raw)
}

func (r *Remote) url(session string) string {
	base, path := r.BaseURL, r.Path
	if base == "" {
		base = os.Getenv("CORE_API_URL")
	}
	if base == "" {
		base = DefaultBaseURL
	}
	if path == "" {
		path = DefaultPath
	}
	return strings.TrimRight(base, "/") + "/" + strings.TrimLeft(strings.ReplaceAll(path, "{session}", url.PathEscape(session)), "/")
}

func (r *Remote) timeout() time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return defaultTimeout
}

// http gives a client of its own, so that closing it closes nobody else's connections. It follows no redirect: the header is for one host.
func (r *Remote) http() *http.Client {
	r.once.Do(func() {
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}
		r.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	})
	return r.client
}

func (r *Remote) log() *slog.Logger {
	if r.Logger != nil {
		return r.Logger
	}
	return slog.Default()
}
