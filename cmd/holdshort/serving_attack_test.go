package main

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store/sqlite"
)

// What is wrong with the configuration is said, also when the address is taken already.
func TestServingRefusesPlaceholders(t *testing.T) {
	for name, known := range map[string]identity.Config{
		"a placeholder as key": {AdminKey: strings.Repeat("a", 32)},
		"a short key":          {AdminKey: "abcdefgh"},
		"a tenant of no name":  {Tenant: "no/name", AdminKey: "abcdefghijklmnopqrstuvwxyz"},
		"an issuer alone":      {JWT: &identity.JWT{Issuer: "https://example.org"}},
	} {
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newServing(t.Context(), servingOptions{Addr: "127.0.0.1:0", Store: store, Identity: known, Log: slog.New(slog.DiscardHandler)})
		if s != nil || holdshort.CodeOf(err) != holdshort.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
