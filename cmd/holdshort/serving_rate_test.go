package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store/sqlite"
)

// A person whose programs have used up server.rate can still open the pages and decide there.
func TestRateOfTheAPILeavesThePagesOpen(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServing(t.Context(), servingOptions{Addr: "127.0.0.1:0", Store: store, Identity: identity.Config{Open: true}, Log: log,
		API: api.Options{Rate: 0.001, Burst: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	defer s.listener.Close()
	status := func(path string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, s.url()+path, nil)
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, tt := range []struct {
		path string
		want int
	}{{"/v1/me", http.StatusOK}, {"/v1/me", http.StatusTooManyRequests}, {"/", http.StatusOK}, {"/", http.StatusOK}} {
		if got := status(tt.path); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.path, got, tt.want)
		}
	}
}
