package main

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/holdshort/holdshort/store/postgres"
)

const (
	sqliteDriver   = "sqlite"
	postgresDriver = "postgres"
	defaultStore   = "sqlite:./holdshort.db"
	storeForms     = "write sqlite:PATH or postgres://USER@HOST:5432/DATABASE"
)

// location says where a store is.
type location struct {
	Driver string
	Path   string // of the SQLite file
	URL    string // of the PostgreSQL database, with its password
}

// parseLocation reads a store URL. It shows no part of what may hold a password.
func parseLocation(text string) (location, error) {
	wrong := func(message, hint string) (location, error) {
		return location{}, &usageError{Message: "--store: " + message, Hint: hint}
	}
	if text == "" {
		text = defaultStore
	}
	scheme, rest, found := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		if !strings.HasPrefix(rest, "//") {
			return wrong("a PostgreSQL URL has two slashes behind the colon", "write postgres://USER@HOST:5432/DATABASE")
		}
		return location{Driver: postgresDriver, URL: scheme + ":" + rest}, nil
	case found && scheme == sqliteDriver:
		return parsePath(rest, wrong)
	case found && len(scheme) > 1 && isScheme(scheme):
		return wrong("the scheme "+scheme+" is not known", storeForms)
	case strings.Contains(text, "="):
		return wrong("this is no URL", storeForms) // host=… password=…
	}
	return wrong("\""+text+"\" has no scheme", "for a SQLite file write sqlite:"+text)
}

func parsePath(path string, wrong func(message, hint string) (location, error)) (location, error) {
	switch {
	case path == "":
		return wrong("sqlite: names no file", "write sqlite:PATH")
	case strings.HasPrefix(path, ":memory:"):
		return wrong("a store in memory is gone before anybody can look at it", "write sqlite:PATH")
	case strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///"):
		return wrong("sqlite: has no host", "write sqlite:"+strings.TrimLeft(path, "/")+" for a file here, or sqlite:/PATH for one by its full path")
	case strings.ContainsAny(path, "?\x00"):
		return wrong("sqlite: takes a path and no options", "write sqlite:"+path[:strings.IndexAny(path, "?\x00")])
	}
	if strings.HasPrefix(path, "///") {
		path = "/" + strings.TrimLeft(path, "/")
	}
	return location{Driver: sqliteDriver, Path: path}, nil
}

func isScheme(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// check returns the error that opening the store would begin with, as far as the URL alone tells.
func (l location) check() error {
	if l.Driver != postgresDriver {
		return nil
	}
	return postgres.CheckURL(l.URL)
}

// String is the location as it may be shown: without a password, and without anything when it cannot be read.
func (l location) String() string {
	if l.Driver == sqliteDriver {
		return "sqlite:" + l.Path
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return "postgres://…"
	}
	u.RawQuery, u.Fragment = "", ""
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// secrets are the parts that must not be shown, as they were written and as they are meant.
func (l location) secrets() []string {
	u, err := url.Parse(l.URL)
	if l.URL == "" || err != nil {
		return nil // what cannot be read is never repeated
	}
	var found []string
	keep := func(s string) {
		if len(s) > 3 { // shorter ones would make holes in ordinary words; the patterns below find them in their places
			found = append(found, s, url.QueryEscape(s), url.PathEscape(s))
		}
	}
	if password, ok := u.User.Password(); ok {
		keep(password)
		keep(strings.TrimPrefix(u.User.String(), url.User(u.User.Username()).String()+":"))
	}
	for name, values := range u.Query() {
		if strings.Contains(strings.ToLower(name), "password") {
			for _, v := range values {
				keep(v)
			}
		}
	}
	return found
}

var (
	passwordInURL   = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^\s:/@]*):[^\s]*@`)
	passwordSetting = regexp.MustCompile(`(?i)(pass(?:word|wd|file)?\s*=\s*)('[^']*'|[^\s&]+)`)
)

// hidePasswords takes passwords out of a text: those that are known, and whatever stands where passwords do.
func hidePasswords(text string, known []string) string {
	for _, s := range known {
		text = strings.ReplaceAll(text, s, "xxxxx")
	}
	text = passwordInURL.ReplaceAllString(text, "${1}:xxxxx@")
	return passwordSetting.ReplaceAllString(text, "${1}xxxxx")
}
