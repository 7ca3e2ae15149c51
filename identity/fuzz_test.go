package identity

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
)

// FuzzBearer: whatever the header says, it is one clean token, no header, or a refusal with a hint.
func FuzzBearer(f *testing.F) {
	for _, seed := range []string{"", "Bearer x", "bearer  hs_abc", "Basic YTpi", "Bearer a b", "Bearer \x00", "hs_x", "Bearer a.b.c", "Bearer =", " Bearer\tx", "BEARER é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, ok, err := bearer(http.Header{"Authorization": {value}})
		switch {
		case ok == (err != nil), ok && token == "", !ok && token != "":
			t.Errorf("%q: %q %v %v", value, token, ok, err)
		case ok && (strings.ContainsAny(token, " \t\r\n,\"") || !strings.Contains(value, token)):
			t.Errorf("%q: %q", value, token)
		case err != nil && (holdshort.CodeOf(err) != holdshort.Unauthenticated || holdshort.HintOf(err) == ""):
			t.Errorf("%q: %v", value, err)
		}
	})
}

// FuzzLink: no text but the link itself is the link, and none takes the server down.
func FuzzLink(f *testing.F) {
	b := newBed(f)
	i := b.identity(Config{})
	req := holdshort.Request{ID: holdshort.NewRequestID(b.clock.now()), Fingerprint: "f"}
	good := string(i.LinkFor(tenant, req, ana, time.Hour))
	for _, seed := range []string{"", ".", "..", "e30.k.00", good, good[:len(good)-1], good + "0", strings.ToUpper(good), strings.Replace(good, ".", ":", 1), "bnVsbA." + good} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		said, err := i.readLink(req.ID, Token(text))
		if (err == nil) != (text == good) && !strings.EqualFold(text, good) { // the signature is hexadecimal in either case
			t.Errorf("%q: %+v %v", text, said, err)
		}
		if err != nil && (said.Person != "" || holdshort.CodeOf(err) != holdshort.Unauthenticated) {
			t.Errorf("%q: %+v %v", text, said, err)
		}
	})
}

// FuzzToken: no text is a good token by itself, and none takes the server down.
func FuzzToken(f *testing.F) {
	i := &issuer{name: "https://id.example", audience: []string{clientID}, clock: time.Now, keys: fixedKeys{{Key: []byte("0123456789abcdef0123456789abcdef")}}, claims: Claims{}.withDefaults()}
	i.algorithms = anyAlgorithm
	for _, seed := range []string{"", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJIUzI1NiJ9.e30.AAAA", "eyJhbGciOiJIUzI1NiIsImNyaXQiOlsiYjY0Il19.e30.AAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := issuerOf(text); err != nil && err.Error() == "" {
			t.Error("no cause")
		}
		if said, err := i.verify(t.Context(), text); err == nil {
			t.Errorf("%q: %v", text, said)
		}
	})
}

// FuzzNext: where people are sent after a login is always a path of this server.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{"", "/", "/inbox", "//x", `/\x`, "https://x", "/\t/x", "/%2f/x", "/login", "/a?b#c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, next string) {
		got := safeNext(next)
		if !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\r\n\t\x00") || !utf8.ValidString(got) {
			t.Errorf("%q: %q", next, got)
		}
	})
}
