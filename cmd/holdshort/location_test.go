package main

import (
	"net/url"
	"strings"
	"testing"
)

func TestParseLocation(t *testing.T) {
	tests := []struct {
		text string
		want location
		hint string // of the error; empty: none
	}{
		{"", location{Driver: sqliteDriver, Path: "./holdshort.db"}, ""},
		{"sqlite:a.db", location{Driver: sqliteDriver, Path: "a.db"}, ""},
		{"sqlite:/a b/ü#1.db", location{Driver: sqliteDriver, Path: "/a b/ü#1.db"}, ""},
		{"sqlite:///var/a.db", location{Driver: sqliteDriver, Path: "/var/a.db"}, ""},
		{"SQLITE:a.db", location{Driver: sqliteDriver, Path: "a.db"}, ""},
		{"sqlite:a:b.db", location{Driver: sqliteDriver, Path: "a:b.db"}, ""},
		{"postgres://ana@db/h", location{Driver: postgresDriver, URL: "postgres://ana@db/h"}, ""},
		{"Postgresql://ana@db/h", location{Driver: postgresDriver, URL: "postgresql://ana@db/h"}, ""},
		{"postgres:///h?host=/run/postgresql", location{Driver: postgresDriver, URL: "postgres:///h?host=/run/postgresql"}, ""},

		{"sqlite", location{}, "for a SQLite file write sqlite:sqlite"},
		{"a.db", location{}, "for a SQLite file write sqlite:a.db"},
		{"../x/a.db", location{}, "for a SQLite file write sqlite:../x/a.db"},
		{`C:\a.db`, location{}, `for a SQLite file write sqlite:C:\a.db`},
		{"sqlite:", location{}, "write sqlite:PATH"},
		{"sqlite::memory:", location{}, "write sqlite:PATH"},
		{"sqlite:a.db?mode=ro", location{}, "write sqlite:a.db"},
		{"sqlite://db/a.db", location{}, "write sqlite:db/a.db for a file here, or sqlite:/PATH for one by its full path"},
		{"file:a.db", location{}, storeForms},
		{"mysql://db", location{}, storeForms},
		{"host=db user=ana", location{}, storeForms},
		{"postgres", location{}, "write postgres://USER@HOST:5432/DATABASE"},
		{"postgres:db", location{}, "write postgres://USER@HOST:5432/DATABASE"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := parseLocation(tt.text)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if tt.hint == "" || err == nil {
				if err != nil || tt.hint != "" {
					t.Fatalf("error %v, want one with hint %q", err, tt.hint)
				}
				return
			}
			if f := explain(err); f.Hint != tt.hint || f.exit != exitUsage {
				t.Errorf("got hint %q and exit %d, want %q and %d", f.Hint, f.exit, tt.hint, exitUsage)
			}
		})
	}
}

func TestLocationIsShownWithoutItsPassword(t *testing.T) {
	for text, want := range map[string]string{
		"sqlite:a.db": "sqlite:a.db",
		"postgres://ana:pw@db:5432/h?sslmode=disable": "postgres://ana@db:5432/h",
		"postgres://ana@db/h?password=pw":             "postgres://ana@db/h",
		"postgres://:pw@db/h":                         "postgres://@db/h",
		"postgres://ana:p%zz@db/h":                    "postgres://…",
		"postgres://[::1":                             "postgres://…",
	} {
		l, err := parseLocation(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.String(); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

func TestHidePasswords(t *testing.T) {
	for text, want := range map[string]string{
		"connect postgres://ana:pw@db/h: refused":   "connect postgres://ana:xxxxx@db/h: refused",
		"postgres://ana:p/w:x@y@db/h":               "postgres://ana:xxxxx@db/h",
		"postgres://:pw@db":                         "postgres://:xxxxx@db",
		"host=db password=pw user=ana":              "host=db password=xxxxx user=ana",
		"password = 'p w' user=ana":                 "password = xxxxx user=ana",
		"?sslmode=disable&password=pw&x=1":          "?sslmode=disable&password=xxxxx&x=1",
		"?sslpassword=pw":                           "?sslpassword=xxxxx",
		"open sqlite:/a/b.db: no such file":         "open sqlite:/a/b.db: no such file",
		"see https://example.org/docs:2 for more":   "see https://example.org/docs:2 for more",
		"dial tcp 127.0.0.1:5432: connect: refused": "dial tcp 127.0.0.1:5432: connect: refused",
	} {
		if got := hidePasswords(text, nil); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
}

// FuzzPasswordIsNeverShown: whatever the password, no text about the store holds it, be it as typed or as meant.
func FuzzPasswordIsNeverShown(f *testing.F) {
	for _, password := range []string{"hunter2", "p@ss/w:rd?", "100%", "with space", "päss", "a&password=b", "'quoted'", "[::1]"} {
		f.Add(password)
	}
	f.Fuzz(func(t *testing.T, password string) {
		const mark = "S3cr3t" // so that finding it means something
		password = mark + password
		for _, typed := range []string{
			"postgres://" + url.UserPassword("ana", password).String() + "@db/h",
			"postgres://ana:" + url.PathEscape(password) + "@db/h",
			"postgres://db/h?user=ana&password=" + url.QueryEscape(password),
		} {
			l, err := parseLocation(typed)
			if err != nil {
				t.Fatal(err)
			}
			c := &console{secrets: l.secrets()}
			for _, said := range []string{l.String(), typed, "password authentication: " + password + " is wrong", l.URL + "!"} {
				if shown := c.safe(said); strings.Contains(shown, mark) {
					t.Errorf("%q is shown as %q", said, shown)
				}
			}
		}
	})
}
