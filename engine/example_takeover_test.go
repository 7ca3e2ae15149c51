package engine_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store/sqlite"
)

// A person takes a conversation over, speaks to the user, and hands it back with a note for the model.
func ExampleEngine_Takeover() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := sqlite.Open(ctx, filepath.Join(dir, "demo.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	e, err := engine.New(s, engine.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	session, err := e.OpenSession(ctx, "acme", engine.OpenSessionInput{User: "ben"})
	if err != nil {
		log.Fatal(err)
	}

	olga := holdshort.Actor{ID: "olga", Kind: holdshort.Person, Roles: []string{"operator"}, Assurance: holdshort.AssuranceLogin}
	if _, err := e.Takeover(ctx, "acme", engine.TakeoverInput{Session: session.ID, Actor: olga}); err != nil {
		log.Fatal(err)
	}
	got, err := e.Receive(ctx, "acme", engine.Inbound{Session: session.ID, ID: "1", Text: "Where is my parcel?"})
	fmt.Println(got.Outcome, err)
	if _, err := e.SayAs(ctx, "acme", engine.SayInput{Session: session.ID, Actor: olga, Text: "This is Olga. I send another one."}); err != nil {
		log.Fatal(err)
	}
	if _, err := e.Handback(ctx, "acme", engine.HandbackInput{Session: session.ID, Actor: olga, Note: "a second parcel, no charge"}); err != nil {
		log.Fatal(err)
	}
	history, err := e.ModelHistory(ctx, "acme", session.ID, "")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range history {
		_, text, found := strings.Cut(m.Parts[0].Text, "What was agreed: ")
		if !found {
			text = m.Parts[0].Text
		}
		fmt.Println(m.Role+":", text)
	}
	// Output:
	// person <nil>
	// user: Where is my parcel?
	// assistant: This is Olga. I send another one.
	// system: a second parcel, no charge
}
