package identity

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// site is the login pages on loopback, and one browser.
type site struct {
	*bed
	*httptest.Server
	id      *Identity
	browser *http.Client
}

func newSite(t *testing.T, b *bed, change func(*Config)) *site {
	t.Helper()
	s := &site{bed: b}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/logout":
			s.id.LogoutHandler().ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/login"):
			s.id.LoginHandler().ServeHTTP(w, r)
		default:
			who, err := s.id.ResolveActor(r)
			if err != nil {
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, err.Error())
				return
			}
			io.WriteString(w, who.Actor.ID+" "+string(who.Tenant)+" "+who.Method+" "+string(who.Actor.Assurance)+" "+strings.Join(who.Actor.Roles, ","))
		}
	}))
	t.Cleanup(s.Server.Close)
	c := Config{PublicURL: s.URL}
	if change != nil {
		change(&c)
	}
	s.id = b.identity(c)
	s.forget()
	return s
}

// forget is a new browser.
func (s *site) forget() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.bed.Fatal(err)
	}
	s.browser = &http.Client{Jar: jar}
}

func (s *site) get(path string) (int, string) {
	s.bed.Helper()
	res, err := s.browser.Get(s.URL + path)
	return s.read(res, err)
}

func (s *site) post(path string, form url.Values, header ...string) (int, string) {
	s.bed.Helper()
	r, err := http.NewRequest("POST", s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.bed.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	res, err := s.browser.Do(r)
	return s.read(res, err)
}

func (s *site) read(res *http.Response, err error) (int, string) {
	s.bed.Helper()
	if err != nil {
		s.bed.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.bed.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestLoginAtProvider: from the login page to the provider and back, into a session with the person's roles; then out again.
func TestLoginAtProvider(t *testing.T) {
	b := newBed(t)
	p := newProvider(t, b.clock, newRSA("r"))
	p.claims["groups"] = []string{"desk", "staff"}
	s := newSite(t, b, func(c *Config) {
		c.OIDC = &OIDC{Issuer: p.URL, ClientID: clientID}
		c.Roles = map[string][]string{"reviewer": {"group:desk"}, "finance": {"ana@example.org"}}
	})
	if status, _ := s.get("/inbox"); status != http.StatusUnauthorized {
		t.Fatalf("before: %d", status)
	}
	status, text := s.get("/login?next=" + url.QueryEscape("/inbox?x=1"))
	if status != http.StatusOK || text != "ana@example.org acme login login finance,reviewer" {
		t.Fatalf("%d %s\n%s", status, text, b.log)
	}
	if _, again := s.get("/login"); again != text {
		t.Errorf("logged in already: %s", again)
	}
	s.id = b.identity(Config{PublicURL: s.URL, Roles: map[string][]string{"auditor": {"group:desk"}}}) // a table that was changed counts at once
	if _, now := s.get("/"); now != "ana@example.org acme login login auditor" {
		t.Errorf("with another table: %s", now)
	}
	old := s.browser.Jar.Cookies(mustURL(t, s.URL))
	if status, _ := s.post("/logout", nil); status != http.StatusOK {
		t.Errorf("log out: %d", status)
	}
	if status, _ := s.get("/"); status != http.StatusUnauthorized {
		t.Errorf("after: %d", status)
	}
	s.browser.Jar.SetCookies(mustURL(t, s.URL), old)
	if status, _ := s.get("/"); status != http.StatusUnauthorized {
		t.Error("a cookie that was kept still counts")
	}
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestLoginEnds: a session ends after twelve hours, whatever the browser keeps.
func TestLoginEnds(t *testing.T) {
	b := newBed(t)
	p := newProvider(t, b.clock, newRSA("r"))
	s := newSite(t, b, func(c *Config) { c.OIDC = &OIDC{Issuer: p.URL, ClientID: clientID} })
	if status, text := s.get("/login"); status != http.StatusOK {
		t.Fatal(status, text)
	}
	b.clock.move(12*time.Hour - time.Minute)
	if status, _ := s.get("/"); status != http.StatusOK {
		t.Error("too early")
	}
	b.clock.move(time.Minute)
	if status, _ := s.get("/"); status != http.StatusUnauthorized {
		t.Error("it goes on")
	}
}

// TestLoginRefused: what comes back from the provider must belong to what this browser began.
func TestLoginRefused(t *testing.T) {
	b := newBed(t)
	p := newProvider(t, b.clock, newRSA("r"))
	s := newSite(t, b, func(c *Config) { c.OIDC = &OIDC{Issuer: p.URL, ClientID: clientID} })
	stop := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// begin goes to the provider and stops with the address that it sends back to
	begin := func() *url.URL {
		s.browser.CheckRedirect = stop
		res, err := s.browser.Get(s.URL + "/login")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res, err = s.browser.Get(res.Header.Get("Location")); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return mustURL(t, res.Header.Get("Location"))
	}
	with := func(u *url.URL, key, value string) *url.URL {
		q := u.Query()
		q.Set(key, value)
		if value == "" {
			q.Del(key)
		}
		u.RawQuery = q.Encode()
		return u
	}
	for name, run := range map[string]func() *url.URL{
		"another state":    func() *url.URL { return with(begin(), "state", "x") },
		"no state":         func() *url.URL { return with(begin(), "state", "") },
		"another code":     func() *url.URL { return with(begin(), "code", "x") },
		"no code":          func() *url.URL { return with(begin(), "code", "") },
		"another provider": func() *url.URL { return with(begin(), "iss", "https://evil.example") },
		"an error":         func() *url.URL { return with(begin(), "error", "access_denied") },
		"another browser": func() *url.URL {
			u := begin()
			s.forget()
			return u
		},
		"too late": func() *url.URL {
			u := begin()
			b.clock.move(stateLife)
			return u
		},
		"a cookie that was changed": func() *url.URL {
			u := begin()
			jar := s.browser.Jar
			for _, c := range jar.Cookies(mustURL(t, s.URL)) {
				jar.SetCookies(mustURL(t, s.URL), []*http.Cookie{{Name: c.Name, Value: "x" + c.Value, Path: "/"}})
			}
			return u
		},
	} {
		s.forget()
		u := run()
		s.browser.CheckRedirect = stop
		status, text := s.read(s.browser.Get(u.String()))
		if status < 400 || status >= 500 || !strings.Contains(text, "Not logged in") {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if status, _ := s.get("/"); status != http.StatusUnauthorized {
			t.Errorf("%s: logged in", name)
		}
	}
	for name, spoil := range map[string]func(map[string]any){
		"another nonce":    func(c map[string]any) { c["nonce"] = "x" },
		"no nonce":         func(c map[string]any) { delete(c, "nonce") },
		"another audience": func(c map[string]any) { c["aud"] = "else" },
		"another client":   func(c map[string]any) { c["aud"], c["azp"] = []string{clientID, "else"}, "else" },
		"another issuer":   func(c map[string]any) { c["iss"] = "https://evil.example" },
		"expired":          func(c map[string]any) { c["exp"] = b.clock.now().Add(-time.Hour).Unix() },
		"nobody":           func(c map[string]any) { delete(c, "sub") },
		"the kernel":       func(c map[string]any) { c["sub"], c["email"] = "system:x", nil },
	} {
		s.forget()
		p.mu.Lock()
		p.spoil = spoil
		p.mu.Unlock()
		if status, text := s.get("/login"); status != http.StatusForbidden || !strings.Contains(text, "Not logged in") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	p.mu.Lock()
	p.spoil = nil
	p.mu.Unlock()
	s.forget()
	u := begin()
	s.browser.CheckRedirect = nil
	if status, text := s.read(s.browser.Get(u.String())); status != http.StatusOK || !strings.HasPrefix(text, "ana@") {
		t.Errorf("the good one: %d %s", status, text)
	}
	s.forget()
	if status, text := s.read(s.browser.Get(u.String())); status != http.StatusBadRequest {
		t.Errorf("once more: %d %s", status, text)
	}
	if log := b.log.String(); strings.Contains(log, u.Query().Get("code")) || strings.Contains(log, u.Query().Get("state")) {
		t.Error("the log has what a login is made of")
	}
}

// TestProviderAway: the page says so, and the login works when the provider is back.
func TestProviderAway(t *testing.T) {
	b := newBed(t)
	p := newProvider(t, b.clock, newRSA("r"))
	s := newSite(t, b, func(c *Config) { c.OIDC = &OIDC{Issuer: p.URL, ClientID: clientID} })
	p.down.Store(true)
	for range 20 {
		if status, text := s.get("/login?next=/x"); status != http.StatusBadGateway || !strings.Contains(text, "/login?next=%2fx") {
			t.Fatalf("%d %s", status, text)
		}
	}
	p.down.Store(false)
	b.clock.move(time.Minute)
	if status, text := s.get("/login"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

// TestOneTimeLink: looking does not use it up, the button does, once.
func TestOneTimeLink(t *testing.T) {
	b := newBed(t)
	s := newSite(t, b, nil)
	path, err := s.id.LoginLink(t.Context(), tenant, root, "/inbox")
	if err != nil {
		t.Fatal(err)
	}
	token := mustURL(t, path).Query().Get("token")
	for range 3 { // a mail scanner, a preview, the person
		status, text := s.get(path)
		if status != http.StatusOK || !strings.Contains(text, `method="post"`) || !strings.Contains(text, token) || !strings.Contains(text, `value="/inbox"`) {
			t.Fatalf("%d %s", status, text)
		}
	}
	if status, _ := s.get("/"); status != http.StatusUnauthorized {
		t.Fatal("looking logged in")
	}
	if status, _ := s.post("/login", url.Values{"token": {token}}, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("another site redeemed it: %d", status)
	}
	status, text := s.post("/login", url.Values{"token": {token}, "next": {"/inbox"}}, "Sec-Fetch-Site", "same-origin")
	if status != http.StatusOK || text != "root acme login login "+policy.Admin {
		t.Fatalf("%d %s", status, text)
	}
	s.forget()
	for name, again := range map[string]string{"used": token, "made up": strings.Repeat("x", len(token)), "empty": ""} {
		if status, _ := s.post("/login", url.Values{"token": {again}}); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	if path, err = s.id.LoginLink(t.Context(), tenant, root, ""); err != nil {
		t.Fatal(err)
	}
	b.clock.move(15 * time.Minute)
	if status, _ := s.post("/login", mustURL(t, path).Query()); status != http.StatusUnauthorized {
		t.Errorf("too old: %d", status)
	}
}

// TestLoginAgain: a login takes the place of the one before it, and a store that is away is said to be.
func TestLoginAgain(t *testing.T) {
	b := newBed(t)
	s := newSite(t, b, nil)
	enter := func(a holdshort.Actor) (int, string) {
		t.Helper()
		path, err := s.id.LoginLink(t.Context(), tenant, a, "//evil.example")
		if err != nil {
			t.Fatal(err)
		}
		return s.post("/login", mustURL(t, path).Query())
	}
	if status, text := enter(ana); status != http.StatusOK || !strings.HasPrefix(text, "ana ") {
		t.Fatalf("%d %s", status, text)
	}
	old := s.browser.Jar.Cookies(mustURL(t, s.URL))
	if status, text := enter(root); status != http.StatusOK || !strings.HasPrefix(text, "root ") {
		t.Fatalf("%d %s", status, text)
	}
	mine := s.browser.Jar
	s.forget()
	s.browser.Jar.SetCookies(mustURL(t, s.URL), old)
	if status, text := s.get("/"); status != http.StatusUnauthorized {
		t.Errorf("the login before it still counts: %s", text)
	}
	if _, err := s.id.LoginLink(t.Context(), tenant, bot, ""); holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("a service logs in: %v", err)
	}
	if status, _ := s.post("/login", url.Values{"token": {strings.Repeat("a", 20<<10)}}); status != http.StatusBadRequest {
		t.Errorf("a long form: %d", status)
	}
	if status, text := s.get("/login"); status != http.StatusOK || !strings.Contains(text, "login link") {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := s.get("/logout"); status != http.StatusMethodNotAllowed {
		t.Errorf("looking logs out: %d", status)
	}
	s.browser.Jar = mine
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/logout", "/login"} {
		if status, text := s.post(path, url.Values{"token": {"x"}}); status != http.StatusServiceUnavailable {
			t.Errorf("%s without a store: %d %s", path, status, text)
		}
	}
}

// TestCookie: it is out of the reach of scripts, of other sites, and of plain HTTP where there is HTTPS.
func TestCookie(t *testing.T) {
	b := newBed(t)
	for public, want := range map[string]struct {
		name   string
		secure bool
	}{"https://hold.example": {"__Host-holdshort", true}, "http://localhost:8080": {"holdshort", false}, "": {"holdshort", false}} {
		i := b.identity(Config{PublicURL: public})
		path, err := i.LoginLink(t.Context(), tenant, root, "")
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/login", strings.NewReader(mustURL(t, path).RawQuery))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		i.LoginHandler().ServeHTTP(w, r)
		var set []*http.Cookie
		for _, c := range w.Result().Cookies() {
			if c.Name == want.name {
				set = append(set, c)
			}
		}
		if len(set) != 1 {
			t.Fatalf("%s: %v", public, w.Result().Cookies())
		}
		c := set[0]
		if c.Secure != want.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != int(12*time.Hour/time.Second) || len(c.Value) < 43 {
			t.Errorf("%s: %+v", public, c)
		}
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", public, w.Code, w.Header())
		}
	}
	w := httptest.NewRecorder()
	b.identity(Config{}).LoginHandler().ServeHTTP(w, httptest.NewRequest("GET", "/login?token=x", nil))
	if h := w.Header(); h.Get("Referrer-Policy") != "same-origin" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
}

// TestOtherSites: a page elsewhere cannot act with the cookie of somebody who looks at it.
func TestOtherSites(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{PublicURL: "https://hold.example", AdminKey: adminKey})
	session, err := b.CreateLogin(t.Context(), tenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: root})
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	handler := i.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached = true }))
	for name, c := range map[string]struct {
		method string
		header []string
		code   holdshort.Code
	}{
		"looking":                      {"GET", []string{"Sec-Fetch-Site", "cross-site"}, ""},
		"our own page":                 {"POST", []string{"Sec-Fetch-Site", "same-origin"}, ""},
		"no browser":                   {"POST", nil, ""},
		"our origin behind a proxy":    {"POST", []string{"Origin", "https://hold.example"}, ""},
		"another site":                 {"POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, holdshort.Forbidden},
		"a neighbour":                  {"POST", []string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.hold.example"}, holdshort.Forbidden},
		"another site, an old browser": {"DELETE", []string{"Origin", "https://evil.example"}, holdshort.Forbidden},
		"a page without origin":        {"POST", []string{"Origin", "null"}, holdshort.Forbidden},
	} {
		r := call(c.method, "http://internal:8080/v1/requests/x/decision", c.header...)
		r.AddCookie(&http.Cookie{Name: secureCookieName, Value: session})
		who, err := i.ResolveActor(r)
		if wantCode(t, err, c.code); holdshort.CodeOf(err) != c.code || err == nil && !who.CSRF {
			t.Errorf("%s: %+v", name, who)
		}
		reached = false
		if handler.ServeHTTP(httptest.NewRecorder(), r); reached != (c.code == "") {
			t.Errorf("%s: reached %v", name, reached)
		}
		key := call(c.method, "http://internal:8080/v1/requests/x/decision", append(c.header, "Authorization", "Bearer "+adminKey)...)
		if who, err := i.ResolveActor(key); err != nil || who.CSRF {
			t.Errorf("%s, with a key: %v", name, err)
		}
		reached = false
		if handler.ServeHTTP(httptest.NewRecorder(), key); !reached {
			t.Errorf("%s, with a key: stopped", name)
		}
	}
}

// TestNext: after a login people stay on this server.
func TestNext(t *testing.T) {
	for next, want := range map[string]string{
		"/inbox": "/inbox", "/r/req_1?a=b&c=d#e": "/r/req_1?a=b&c=d#e", "/a//b": "/a//b", "/ä": "/ä",
		"": "/", "inbox": "/", "https://evil.example": "/", "//evil.example": "/", "///evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", "/\t/evil.example": "/", "/\n/evil.example": "/",
		"javascript:alert(1)": "/", "data:text/html,x": "/", "http:evil.example": "/", "/%0a/evil.example": "/%0a/evil.example", "/login": "/", "/login?next=/x": "/", "/login/callback": "/", "/logout": "/",
		"/" + strings.Repeat("a", 2000): "/", "/\u202eevil": "/", " /inbox": "/", "?x": "/", "/%zz": "/",
	} {
		if got := safeNext(next); got != want {
			t.Errorf("%q: %q, want %q", next, got, want)
		}
	}
}
