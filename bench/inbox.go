package bench

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/inbox"
)

// inboxGuests are people who say who they are. Only the bench believes them.
type inboxGuests struct {
	identity.Links // nobody follows one here
	of             map[string]holdshort.Actor
}

func (g inboxGuests) ResolveActor(r *http.Request) (identity.Who, error) {
	actor, ok := g.of[r.Header.Get("X-Who")]
	if !ok {
		return identity.Who{}, &holdshort.Error{Code: holdshort.Unauthenticated, Message: "nobody is called that"}
	}
	return identity.Who{Tenant: tenant, Actor: actor, Method: identity.ByLogin}, nil
}

// inboxAnswer takes a page and keeps only how it went.
type inboxAnswer struct {
	header http.Header
	status int
	bytes  int
}

func (a *inboxAnswer) Header() http.Header    { return a.header }
func (a *inboxAnswer) WriteHeader(status int) { a.status = status }
func (a *inboxAnswer) Write(raw []byte) (int, error) {
	a.bytes += len(raw)
	return len(raw), nil
}

// pages measures the pages themselves: everything that the server does for one, from who it is to the last compressed byte.
func (b *inboxBed) pages(ctx context.Context, o Options, table *Inbox) error {
	guests := inboxGuests{of: map[string]holdshort.Actor{}}
	for _, p := range inboxPeople {
		guests.of[p.actor.ID] = p.actor
	}
	pages, err := inbox.New(b.engine, guests, inbox.Options{Rate: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer pages.Close()
	var faults []error
	for _, p := range inboxPeople {
		for _, look := range []struct {
			what, path string
			target     time.Duration
			times      int
		}{
			{"the page", "/", InboxTarget, 300},
			{"the page, with a request open", "/requests/" + string(b.sample.ID), InboxTarget, 100},
			{"the page of a search, a word in all", "/?q=refund", SearchTarget, 100},
			{"the page of a search, a word in few", "/?q=A0000123", SearchTarget, 100},
		} {
			o.Progress(look.what + ": " + p.name)
			row, err := timed(ctx, look.times, func() (int, error) { return inboxGet(ctx, pages, look.path, p.actor.ID) })
			row.What, row.Who, row.Target = look.what, p.name, look.target
			table.Rows = append(table.Rows, row)
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// inboxGet asks for a page as a browser does, and gives its size. What somebody may not see is a page too.
func inboxGet(ctx context.Context, pages http.Handler, path, who string) (int, error) {
	at, err := url.Parse(path)
	if err != nil {
		return 0, err
	}
	r := (&http.Request{Method: http.MethodGet, URL: at, Host: "bench", Header: http.Header{"X-Who": {who}, "Accept": {"text/html"}, "Accept-Encoding": {"gzip"}}, Body: http.NoBody}).WithContext(ctx)
	answer := &inboxAnswer{header: http.Header{}, status: http.StatusOK}
	pages.ServeHTTP(answer, r)
	if answer.status != http.StatusOK && answer.status != http.StatusNotFound {
		return 0, errors.New("GET " + path + ": " + http.StatusText(answer.status))
	}
	return answer.bytes, nil
}
