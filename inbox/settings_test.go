package inbox_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/inbox"
	"github.com/holdshort/holdshort/policy"
)

// TestSettingsRights: every page under settings is for whom it is for, and nobody else learns what is on it.
func TestSettingsRights(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	key, secret, hook := d.furnish(t)
	everybody := []holdshort.Actor{ana, ben, ada, olga, ida, none}
	for path, may := range map[string][]string{
		"/settings":                      {"ana", "ben", "ada", "olga", "ida"},
		"/settings/keys":                 {"ada"},
		"/settings/people":               {"ada", "olga", "ida"},
		"/settings/webhooks":             {"ada", "olga"},
		"/settings/webhooks/" + hook:     {"ada", "olga"},
		"/audit":                         {"ada", "olga", "ida"},
		"/audit/chain":                   {"ada", "olga", "ida"},
		"/audit/export?format=csv":       {"ada", "olga", "ida"},
		"/audit/export?format=ndjson":    {"ada", "olga", "ida"},
		"/settings/webhooks/whk_unknown": nil,
	} {
		for _, who := range everybody {
			a := d.page(t, who, path, nil)
			want := http.StatusForbidden
			switch {
			case who.ID == "":
				want = http.StatusUnauthorized
			case slices.Contains(may, who.ID):
				want = http.StatusOK
			case strings.HasSuffix(path, "unknown") && (who.ID == "ada" || who.ID == "olga"):
				want = http.StatusNotFound
			}
			if a.status != want {
				t.Errorf("%s sees %s: %d, want %d", who.ID, path, a.status, want)
			}
			if want != http.StatusOK && (strings.Contains(a.body, "till") || strings.Contains(a.body, "hooks.example.org")) {
				t.Errorf("%s learns from %s what is there", who.ID, path)
			}
			if strings.Contains(a.body, secret) || strings.Contains(a.body, "whsec_") {
				t.Errorf("%s reads a secret on %s", who.ID, path)
			}
		}
	}
	for path, form := range map[string]url.Values{
		"/settings/keys":                                                   {"name": {"mine"}, "once": {"a"}, "expires": {""}},
		"/settings/keys/" + key + "/revoke":                                {"sure": {key}},
		"/settings/webhooks":                                               {"url": {"https://hooks.example.org/two"}, "once": {"b"}},
		"/settings/webhooks/" + hook + "/rotate":                           {"once": {"c"}},
		"/settings/webhooks/" + hook + "/test":                             {"once": {"d"}},
		"/settings/webhooks/" + hook + "/disable":                          {"once": {"e"}},
		"/settings/webhooks/" + hook + "/enable":                           {"once": {"f"}},
		"/settings/webhooks/" + hook + "/delete":                           {"once": {"g"}, "sure": {hook}},
		"/settings/webhooks/" + hook + "/deliveries/dlv_unknown/redeliver": {"once": {"h"}},
	} {
		for _, who := range []holdshort.Actor{ana, ben, ida, none} {
			want := http.StatusForbidden
			if who.ID == "" {
				want = http.StatusUnauthorized
			}
			if a := d.page(t, who, path, form); a.status != want {
				t.Errorf("%s posts to %s: %d, want %d", who.ID, path, a.status, want)
			}
		}
		if a := d.page(t, ada, path, form, "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
			t.Errorf("another site posts to %s: %d", path, a.status)
		}
		if a := d.page(t, ada, path, form, "Origin", "https://elsewhere.example"); a.status != http.StatusForbidden {
			t.Errorf("another origin posts to %s: %d", path, a.status)
		}
	}
	keys, err := d.engine.Keys(t.Context(), bedTenant)
	hooks, err2 := d.engine.Webhooks(t.Context(), bedTenant)
	if err != nil || err2 != nil || len(keys) != 1 || !keys[0].RevokedAt.IsZero() || len(hooks) != 1 || hooks[0].Disabled != "" {
		t.Errorf("something was changed: %+v %+v %v %v", keys, hooks, err, err2)
	}
	if n := d.events(t); n["access.denied"] == 0 || n["key.created"] != 1 || n["webhook.rotated"] != 0 {
		t.Errorf("%v", n)
	}
}

// furnish makes a key and a webhook.
func (d *linkBed) furnish(t *testing.T) (key, secret, hook string) {
	t.Helper()
	a := d.page(t, ada, "/settings/keys", nil)
	made := d.page(t, ada, "/settings/keys", url.Values{"name": {"till"}, "scope": {"raise", "claim"}, "expires": {"30d"}, "once": {a.once(t)}})
	list, err := d.engine.Keys(t.Context(), bedTenant)
	if err != nil || len(list) != 1 || made.status != 200 {
		t.Fatalf("%d %v %v", made.status, list, err)
	}
	b := d.page(t, ada, "/settings/webhooks", nil)
	d.page(t, ada, "/settings/webhooks", url.Values{"url": {"https://hooks.example.org/x"}, "once": {b.once(t)}})
	hooks, err := d.engine.Webhooks(t.Context(), bedTenant)
	if err != nil || len(hooks) != 1 {
		t.Fatalf("%v %v", hooks, err)
	}
	return string(list[0].ID), secretOn(t, made), string(hooks[0].ID)
}

var secretField = regexp.MustCompile(`<code id="secret" dir="ltr">([^<]+)</code>`)

func secretOn(t *testing.T, a bedAnswer) string {
	t.Helper()
	found := secretField.FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("there is no secret: %d %s", a.status, a.body)
	}
	return strings.ReplaceAll(found[1], "&#43;", "+")
}

// TestKeySecretOnce: a secret works, is in one answer, and in no other, no address and no log.
func TestKeySecretOnce(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	form := url.Values{"name": {"till"}, "roles": {"reviewer, finance"}, "scope": {"view"}, "expires": {"30d"}, "once": {d.page(t, ada, "/settings/keys", nil).once(t)}}
	made := d.page(t, ada, "/settings/keys", form)
	secret := secretOn(t, made)
	if made.status != 200 || made.header.Get("Location") != "" || made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", made.status, made.header)
	}
	if me := d.page(t, none, "/settings", nil, "Authorization", "Bearer "+secret); me.status != 200 || !strings.Contains(me.body, "finance") {
		t.Errorf("the key does not open: %d", me.status)
	}
	again := d.page(t, ada, "/settings/keys", form) // the browser sends the form once more
	if again.status != 200 || strings.Contains(again.body, secret) || !strings.Contains(again.body, "not shown again") {
		t.Errorf("again: %d, the secret is there: %v", again.status, strings.Contains(again.body, secret))
	}
	if keys, err := d.engine.Keys(t.Context(), bedTenant); err != nil || len(keys) != 1 || len(keys[0].Roles) != 2 || keys[0].ExpiresAt.IsZero() {
		t.Errorf("%+v %v", keys, err)
	}
	changed := url.Values{}
	for k, v := range form {
		changed[k] = v
	}
	changed.Set("name", "another")
	if a := d.page(t, ada, "/settings/keys", changed); a.status != 422 || strings.Contains(a.body, "hs_") && strings.Contains(a.body, `id="secret"`) {
		t.Errorf("another form under the same key: %d", a.status)
	}
	for _, page := range []string{"/settings/keys", "/settings", "/audit", "/settings/people"} {
		if a := d.page(t, ada, page, nil); a.status != 200 || strings.Contains(a.body, secret) {
			t.Errorf("%s: %d, the secret is there: %v", page, a.status, strings.Contains(a.body, secret))
		}
	}
	if strings.Contains(d.log.String(), secret) {
		t.Error("the secret is in the log")
	}
}

// TestKeyDoubleClick: however many times a form arrives at once, one key is made, and one answer has its secret.
func TestKeyDoubleClick(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	form := url.Values{"name": {"till"}, "expires": {""}, "once": {d.page(t, ada, "/settings/keys", nil).once(t)}}
	var wait sync.WaitGroup
	var mu sync.Mutex
	secrets := 0
	for range 8 {
		wait.Go(func() {
			a := d.page(t, ada, "/settings/keys", form)
			mu.Lock()
			defer mu.Unlock()
			if a.status != 200 {
				t.Errorf("%d", a.status)
			}
			if strings.Contains(a.body, `id="secret"`) {
				secrets++
			}
		})
	}
	wait.Wait()
	if keys, err := d.engine.Keys(t.Context(), bedTenant); err != nil || len(keys) != 1 || secrets != 1 {
		t.Errorf("%d keys, %d secrets, %v", len(keys), secrets, err)
	}
}

// TestKeyForm: what does not fit is said, and nothing typed is lost; what somebody does not have they do not give.
func TestKeyForm(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	for name, c := range map[string]struct {
		form url.Values
		want int
		says string
	}{
		"no name":         {url.Values{"name": {" "}, "roles": {"finance"}}, 400, "a key needs a name"},
		"unknown scope":   {url.Values{"name": {"k"}, "scope": {"everything"}}, 400, "there is no scope"},
		"hidden letters":  {url.Values{"name": {"ti\u202ell"}}, 400, "cannot be seen"},
		"a system's name": {url.Values{"name": {"k"}, "user": {"system:x"}}, 400, "not the id of a person"},
		"odd time":        {url.Values{"name": {"k"}, "expires": {"5y"}}, 400, "no time after which"},
		"no once":         {url.Values{"name": {"k"}, "once": {""}}, 400, "not whole"},
	} {
		form := url.Values{"once": {"key-" + name}, "expires": {""}}
		for k, v := range c.form {
			form[k] = v
		}
		a := d.page(t, ada, "/settings/keys", form)
		if a.status != c.want || !strings.Contains(a.body, c.says) {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
		if roles := c.form.Get("roles"); roles != "" && !strings.Contains(a.body, `value="finance"`) {
			t.Errorf("%s: what was typed is lost", name)
		}
	}
	if keys, err := d.engine.Keys(t.Context(), bedTenant); err != nil || len(keys) != 0 {
		t.Errorf("%v %v", keys, err)
	}
	keeper := holdshort.Actor{ID: "kim", Kind: holdshort.Person, Roles: []string{policy.Operator}}
	if a := d.page(t, keeper, "/settings/keys", url.Values{"name": {"k"}, "roles": {"admin"}, "once": {"x"}, "expires": {""}}); a.status != 403 {
		t.Errorf("an operator makes an administrator: %d", a.status)
	}
}

// TestKeyRevoke: a key ends when somebody says so twice, and a second time changes nothing.
func TestKeyRevoke(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	id, secret, _ := d.furnish(t)
	address := "/settings/keys/" + id + "/revoke"
	if a := d.page(t, ada, address, nil); a.status != 404 && a.status != 405 {
		t.Errorf("GET: %d", a.status)
	}
	if a := d.page(t, ada, address, url.Values{}); a.status != 400 {
		t.Errorf("not confirmed: %d", a.status)
	}
	if a := d.page(t, none, "/settings", nil, "Authorization", "Bearer "+secret); a.status != 200 {
		t.Fatalf("it is revoked already: %d", a.status)
	}
	for range 2 {
		if a := d.page(t, ada, address, url.Values{"sure": {id}}); a.status != 303 || a.header.Get("Location") != "/settings/keys?said=revoked" {
			t.Errorf("%d %s", a.status, a.header.Get("Location"))
		}
	}
	if a := d.page(t, none, "/settings", nil, "Authorization", "Bearer "+secret); a.status != 401 {
		t.Errorf("it still opens: %d", a.status)
	}
	if n := d.events(t)["key.revoked"]; n != 1 {
		t.Errorf("revoked %d times", n)
	}
	if a := d.page(t, ada, "/settings/keys?said=revoked", nil); !strings.Contains(a.body, "The key is revoked") || !strings.Contains(a.body, `<span class="badge no">revoked</span>`) {
		t.Errorf("%s", a.body)
	}
	if a := d.page(t, ada, "/settings/keys?said=<script>", nil); strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "said=") {
		t.Error("the page says what its address says")
	}
}

// TestScopedKeysOnPages: a key opens what its scopes name, and gives no more than it has, on pages as in the API.
func TestScopedKeysOnPages(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	key := func(scopes ...string) []string {
		_, secret, err := d.engine.CreateKey(t.Context(), bedTenant, engine.CreateKeyInput{Name: "k", User: "ada", Roles: []string{policy.Admin}, Scopes: scopes, Actor: holdshort.SystemActor("test")})
		if err != nil {
			t.Fatal(err)
		}
		return []string{"Authorization", "Bearer " + secret}
	}
	looks, keeper, all := key(holdshort.ScopeView), key(holdshort.ScopeView, holdshort.ScopeKeys), key()
	for _, c := range []struct {
		name, path string
		form       url.Values
		as         []string
		want       int
	}{
		{"view reads keys", "/settings/keys", nil, looks, 403},
		{"view reads the log", "/audit", nil, looks, 403},
		{"view exports the log", "/audit/export?format=csv", nil, looks, 403},
		{"view makes a key", "/settings/keys", url.Values{"name": {"x"}, "once": {"1"}, "expires": {""}}, looks, 403},
		{"view makes a webhook", "/settings/webhooks", url.Values{"url": {"https://hooks.example.org"}, "once": {"2"}}, looks, 403},
		{"keys reads keys", "/settings/keys", nil, keeper, 200},
		{"keys reads the log", "/audit", nil, keeper, 403},
		{"keys makes a key of all", "/settings/keys", url.Values{"name": {"x"}, "once": {"3"}, "expires": {""}}, keeper, 403},
		{"keys makes one that decides", "/settings/keys", url.Values{"name": {"x"}, "scope": {"decide"}, "once": {"4"}, "expires": {""}}, keeper, 403},
		{"keys makes one that looks", "/settings/keys", url.Values{"name": {"x"}, "scope": {"view"}, "once": {"5"}, "expires": {""}}, keeper, 200},
		{"no scopes reads the log", "/audit", nil, all, 200},
	} {
		if a := d.page(t, none, c.path, c.form, c.as...); a.status != c.want {
			t.Errorf("%s: %d, want %d", c.name, a.status, c.want)
		}
	}
	if keys, err := d.engine.Keys(t.Context(), bedTenant); err != nil || len(keys) != 4 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	if hooks, err := d.engine.Webhooks(t.Context(), bedTenant); err != nil || len(hooks) != 0 {
		t.Errorf("%d webhooks, %v", len(hooks), err)
	}
}

// TestHostileNames: what people named things is text on every page that shows it.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror=alert(1)>"'`
	d := newLinkBed(t, func(c *identity.Config, _ *inbox.Options) {
		c.Roles = map[string][]string{"fin<b>ance": {`bob"<i>`, "group:<u>all"}}
	})
	for i, actor := range []holdshort.Actor{ada, {ID: "eve" + evil, Name: evil, Kind: holdshort.Person, Roles: []string{policy.Admin, evil}}} {
		d.page(t, actor, "/settings/keys", url.Values{"name": {evil}, "roles": {evil}, "user": {evil}, "once": {"k" + string(rune('0'+i))}, "expires": {""}})
		for _, path := range []string{"/settings", "/settings/keys", "/settings/people", "/settings/webhooks", "/audit", "/audit?actor=" + url.QueryEscape(evil) + "&type=" + url.QueryEscape(evil)} {
			a := d.page(t, actor, path, nil)
			if a.status >= 500 || strings.Contains(a.body, "<img") || strings.Contains(a.body, "fin<b>") || strings.Contains(a.body, `bob"<i>`) || strings.Contains(a.body, "<u>all") {
				t.Errorf("%s %s: %d", actor.ID, path, a.status)
			}
		}
	}
	if keys, err := d.engine.Keys(t.Context(), bedTenant); err != nil || len(keys) != 2 {
		t.Errorf("%v %v", keys, err)
	}
}

// TestSettingsPagesAreGuarded: nothing runs on them that is not a file of ours, and nobody keeps them.
func TestSettingsPagesAreGuarded(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	_, _, hook := d.furnish(t)
	inline := regexp.MustCompile(`(?i)<script[^>]*>[^<]|\sstyle=|\son[a-z]+=|javascript:|<style`)
	for _, path := range []string{"/settings", "/settings/keys", "/settings/people", "/settings/webhooks", "/settings/webhooks/" + hook, "/audit", "/audit?check=1"} {
		a := d.page(t, ada, path, nil)
		csp := a.header.Get("Content-Security-Policy")
		if a.status != 200 || !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, a.status, a.header)
		}
		if found := inline.FindString(a.body); found != "" {
			t.Errorf("%s has %q inline", path, found)
		}
	}
}

// TestLooksAreKept: how somebody likes the pages is a cookie that no script and no other site reads.
func TestLooksAreKept(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	for name, c := range map[string]struct {
		form url.Values
		want string
		html string
	}{
		"dark":         {url.Values{"theme": {"dark"}}, "theme=dark", `data-theme="dark"`},
		"right":        {url.Values{"dir": {"rtl"}, "undo": {"no"}}, "dir=rtl&undo=no", `dir="rtl"`},
		"none":         {url.Values{"theme": {""}, "dir": {""}}, "", `dir="ltr"`},
		"nonsense":     {url.Values{"theme": {"red\r\nSet-Cookie: a=b"}, "lang": {"x"}}, "", `dir="ltr"`},
		"nonsense too": {url.Values{"theme": {"light"}, "dir": {`"><script>`}}, "theme=light", `data-theme="light"`},
	} {
		a := d.page(t, ana, "/settings/look", c.form)
		cookies := (&http.Response{Header: a.header}).Cookies()
		if a.status != 303 || a.header.Get("Location") != "/settings?said=look" || len(cookies) != 1 {
			t.Fatalf("%s: %d %v", name, a.status, a.header)
		}
		k := cookies[0]
		if k.Value != c.want || !k.HttpOnly || k.Secure || k.SameSite != http.SameSiteLaxMode || k.Path != "/" || (c.want == "") != (k.MaxAge < 0) {
			t.Errorf("%s: %+v", name, k)
		}
		if shown := d.page(t, none, "/settings", nil, "Cookie", d.login(t, ana)+"; holdshort_look="+k.Value); !strings.Contains(shown.body, c.html) {
			t.Errorf("%s: the page does not follow: %.200s", name, shown.body)
		}
	}
	secure := newLinkBed(t, func(_ *identity.Config, o *inbox.Options) { o.PublicURL = "https://hold.example.org" })
	if a := secure.page(t, ana, "/settings/look", url.Values{"theme": {"dark"}}); !strings.Contains(a.header.Get("Set-Cookie"), "Secure") {
		t.Errorf("over https: %s", a.header.Get("Set-Cookie"))
	}
	if a := d.page(t, ana, "/settings/look", url.Values{"theme": {"dark"}}, "Sec-Fetch-Site", "cross-site"); a.status != 403 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("another site: %d", a.status)
	}
}

// TestWhoAmI: the page says what somebody may, and only that.
func TestWhoAmI(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	for _, c := range []struct {
		who      holdshort.Actor
		has, not []string
	}{
		{ada, []string{"manage keys", "admin", `href="/settings/keys"`, `href="/settings/webhooks"`, `action="/logout"`}, nil},
		{ana, []string{"reviewer", "nothing everywhere"}, []string{"manage keys", `href="/settings/keys"`, `href="/settings/people"`}},
		{ida, []string{"read the audit log", `href="/settings/people"`}, []string{"manage keys", `href="/settings/webhooks"`}},
	} {
		a := d.page(t, c.who, "/settings", nil)
		for _, want := range c.has {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s does not see %q", c.who.ID, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(a.body, not) {
				t.Errorf("%s sees %q", c.who.ID, not)
			}
		}
	}
}

// TestPeople: roles of the configuration with their members, personal keys only to those who manage keys, nobody's members to another tenant.
func TestPeople(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t, func(c *identity.Config, _ *inbox.Options) {
		c.Roles = map[string][]string{"finance": {"bob@example.org", "group:accounting"}, "reviewer": {"carl"}}
	})
	d.page(t, ada, "/settings/keys", url.Values{"name": {"dora's"}, "user": {"dora"}, "roles": {"finance"}, "once": {"x"}, "expires": {""}})
	admin := d.page(t, ada, "/settings/people", nil).body
	for _, want := range []string{"bob@example.org", "everybody of accounting", "carl", "dora", "by key", "administrator’s key"} {
		if !strings.Contains(admin, want) {
			t.Errorf("the administrator does not see %q", want)
		}
	}
	auditor := d.page(t, ida, "/settings/people", nil).body
	if !strings.Contains(auditor, "bob@example.org") || strings.Contains(auditor, "dora") {
		t.Errorf("the auditor sees keys, or no people")
	}
	token, err := d.engine.CreateLogin(t.Context(), "elsewhere", holdshort.Login{Kind: holdshort.LoginSession, Actor: ada})
	if err != nil {
		t.Fatal(err)
	}
	if a := d.page(t, none, "/settings/people", nil, "Cookie", "holdshort="+token); a.status != 200 || strings.Contains(a.body, "bob@example.org") || strings.Contains(a.body, "dora") || strings.Contains(a.body, "accounting") {
		t.Errorf("another tenant's administrator: %d", a.status)
	}
}
