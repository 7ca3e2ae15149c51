package identity

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

const adminKey = "3f9c2a7be1d04c55a86b9e20"

// TestHeaders: only exactly one bearer token is one; everything else is refused with a hint, and never taken for no header at all.
func TestHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		token  string
		bad    bool
	}{
		"none":             {nil, "", false},
		"usual":            {[]string{"Bearer abc"}, "abc", false},
		"in lower case":    {[]string{"bearer abc"}, "abc", false},
		"two blanks":       {[]string{"Bearer  abc"}, "abc", false},
		"blanks around":    {[]string{" Bearer abc "}, "abc", false},
		"empty":            {[]string{""}, "", true},
		"only the word":    {[]string{"Bearer"}, "", true},
		"nothing after it": {[]string{"Bearer "}, "", true},
		"Basic":            {[]string{"Basic YTpi"}, "", true},
		"a bare key":       {[]string{"hs_abc"}, "", true},
		"two headers":      {[]string{"Bearer abc", "Bearer abc"}, "", true},
		"two tokens":       {[]string{"Bearer abc def"}, "", true},
		"a list":           {[]string{"Bearer abc, Bearer def"}, "", true},
		"quotes":           {[]string{`Bearer "abc"`}, "", true},
		"a line break":     {[]string{"Bearer abc\ndef"}, "", true},
		"no ASCII":         {[]string{"Bearer äbc"}, "", true},
		"no UTF-8":         {[]string{"Bearer \xff\xfe"}, "", true},
		"a NUL":            {[]string{"Bearer a\x00b"}, "", true},
		"too long":         {[]string{"Bearer " + strings.Repeat("a", mostBearer)}, "", true},
	} {
		token, ok, err := bearer(http.Header{"Authorization": c.values})
		if token != c.token || ok != (c.token != "") || (err != nil) != c.bad {
			t.Errorf("%s: %q %v %v", name, token, ok, err)
		}
		if c.bad {
			wantCode(t, err, holdshort.Unauthenticated)
		}
	}
}

// TestAdminKey: the key of the environment is an administrator's, is compared whole, and must be long.
func TestAdminKey(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{AdminKey: adminKey})
	who, err := i.ResolveActor(bearerOf(adminKey))
	if err != nil || !who.Actor.HasRole("admin") || who.Actor.Kind != holdshort.Service || who.Tenant != tenant || who.Method != ByKey || who.Key != "" {
		t.Fatalf("%+v %v", who, err)
	}
	for _, wrong := range []string{adminKey[:23], adminKey + "0", strings.ToUpper(adminKey), "0" + adminKey[1:], adminKey[:23] + "1"} {
		if i.isAdminKey(wrong) {
			t.Errorf("%s is taken", wrong)
		}
		if !strings.HasPrefix(wrong, keyPrefix) {
			_, err := i.ResolveActor(bearerOf(wrong))
			wantCode(t, err, holdshort.Unauthenticated)
		}
	}
	if none := b.identity(Config{}); none.isAdminKey("") {
		t.Error("no key is a key")
	}
	for name, key := range map[string]string{"short": adminKey[:23], "repeated": strings.Repeat("ab", 20), "with a blank": adminKey + " x", "no ASCII": adminKey + "é"} {
		_, err := New(b.Engine, Config{AdminKey: key})
		wantCode(t, err, holdshort.Invalid)
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error shows the key", name)
		}
	}
}

// TestOpen: without anybody to tell callers by, callers on this machine are its administrator, and only they.
func TestOpen(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{Open: true})
	for name, c := range map[string]struct {
		change func(*http.Request)
		code   holdshort.Code
	}{
		"as it is":             {func(*http.Request) {}, ""},
		"IPv6":                 {func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:5000", "[::1]:8080" }, ""},
		"mapped":               {func(r *http.Request) { r.RemoteAddr = "[::ffff:127.0.0.1]:5000" }, ""},
		"a socket":             {func(r *http.Request) { r.RemoteAddr = "@" }, ""},
		"from elsewhere":       {func(r *http.Request) { r.RemoteAddr = "192.0.2.7:5000" }, holdshort.Unauthenticated},
		"nobody knows whence":  {func(r *http.Request) { r.RemoteAddr = "pipe" }, holdshort.Unauthenticated},
		"behind a proxy":       {func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") }, holdshort.Unauthenticated},
		"behind another proxy": {func(r *http.Request) { r.Header.Set("Forwarded", "for=192.0.2.7") }, holdshort.Unauthenticated},
		"a name pointed here":  {func(r *http.Request) { r.Host = "evil.example:8080" }, holdshort.Unauthenticated},
		"localhost as a part":  {func(r *http.Request) { r.Host = "localhost.evil.example" }, holdshort.Unauthenticated},
		"no host":              {func(r *http.Request) { r.Host = "" }, holdshort.Unauthenticated},
		"a page elsewhere": {func(r *http.Request) {
			r.Method = "POST"
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, holdshort.Forbidden},
		"an old browser elsewhere": {func(r *http.Request) {
			r.Method = "POST"
			r.Header.Set("Origin", "https://evil.example")
		}, holdshort.Forbidden},
		"a wrong key": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer nope") }, holdshort.Unauthenticated},
	} {
		r := call("GET", "http://localhost:8080/v1/me")
		c.change(r)
		who, err := i.ResolveActor(r)
		if wantCode(t, err, c.code); holdshort.CodeOf(err) != c.code {
			t.Errorf("%s: %+v", name, who)
		}
		if err == nil && (who.Actor.ID != localID || !who.Actor.HasRole("admin") || who.Actor.Assurance != holdshort.AssuranceNone || !who.CSRF) {
			t.Errorf("%s: %+v", name, who)
		}
	}
	closed := b.identity(Config{})
	_, err := closed.ResolveActor(call("GET", "http://localhost:8080/v1/me"))
	wantCode(t, err, holdshort.Unauthenticated)
	_, err = New(b.Engine, Config{Open: true, AdminKey: adminKey})
	wantCode(t, err, holdshort.Invalid)
}

// TestRequireAuth: what others can reach wants somebody to tell callers by, and says how.
func TestRequireAuth(t *testing.T) {
	for addr, c := range map[string]struct {
		config Config
		code   holdshort.Code
	}{
		"127.0.0.1:8080":   {Config{}, ""},
		"127.0.0.2:8080":   {Config{Open: true}, ""},
		"localhost:8080":   {Config{Open: true}, ""},
		"[::1]:8080":       {Config{}, ""},
		":8080":            {Config{}, holdshort.Forbidden},
		"0.0.0.0:8080":     {Config{}, holdshort.Forbidden},
		"[::]:8080":        {Config{Open: true}, holdshort.Forbidden},
		"192.0.2.7:8080":   {Config{Open: true}, holdshort.Forbidden},
		"hold.example:443": {Config{}, holdshort.Forbidden},
		":8081":            {Config{AdminKey: adminKey}, ""},
		":8082":            {Config{Keys: true}, ""},
		":8083":            {Config{OIDC: &OIDC{}}, ""},
		":8084":            {Config{JWT: &JWT{}}, ""},
		":8085":            {Config{Hook: func(*http.Request) (Who, bool, error) { return Who{}, false, nil }}, ""},
		":8086":            {Config{Keys: true, Open: true}, holdshort.Forbidden},
		"8080":             {Config{}, holdshort.Invalid},
	} {
		err := RequireAuth(addr, c.config)
		if wantCode(t, err, c.code); holdshort.CodeOf(err) != c.code {
			t.Error(addr)
		}
	}
	hint := holdshort.HintOf(RequireAuth(":8080", Config{}))
	for _, way := range []string{"HOLDSHORT_ADMIN_KEY", "keys create", "auth.oidc", "127.0.0.1"} {
		if !strings.Contains(hint, way) {
			t.Errorf("the hint does not name %s: %s", way, hint)
		}
	}
}

// TestActAs: only a service whose key says so speaks for a user.
func TestActAs(t *testing.T) {
	service, person := Who{Method: ByKey, Actor: bot}, Who{Method: ByKey, Actor: ana}
	with := func(w Who, scopes ...string) Who { w.Scopes = scopes; return w }
	for name, c := range map[string]struct {
		who    Who
		values []string
		code   holdshort.Code
	}{
		"with the scope":        {with(service, "raise", "act_as_user"), []string{"ana"}, ""},
		"an administrator's":    {with(service, "admin"), []string{"ana"}, ""},
		"without scopes":        {service, []string{"ana"}, holdshort.Forbidden},
		"without that scope":    {with(service, "raise"), []string{"ana"}, holdshort.Forbidden},
		"a person":              {with(person, "act_as_user"), []string{"ben"}, holdshort.Forbidden},
		"two users":             {with(service, "act_as_user"), []string{"ana", "ben"}, holdshort.Invalid},
		"nobody":                {with(service, "act_as_user"), []string{""}, holdshort.Invalid},
		"a key":                 {with(service, "act_as_user"), []string{"key:admin"}, holdshort.Invalid},
		"the kernel":            {with(service, "act_as_user"), []string{"system:timeout"}, holdshort.Invalid},
		"control characters":    {with(service, "act_as_user"), []string{"a\x01"}, holdshort.Invalid},
		"no header, any scopes": {service, nil, ""},
	} {
		who, err := actAs(c.who, http.Header{userHeader: c.values})
		if wantCode(t, err, c.code); holdshort.CodeOf(err) != c.code {
			t.Error(name)
		}
		if err == nil && len(c.values) == 1 && who.Actor.ForUser != c.values[0] {
			t.Errorf("%s: %+v", name, who)
		}
		if err != nil && who.Actor.ID != "" {
			t.Errorf("%s: %+v with %v", name, who, err)
		}
	}
}

// TestHook: an embedder's own way comes first, and cannot let in what nobody can be.
func TestHook(t *testing.T) {
	b := newBed(t)
	var who Who
	var ok bool
	var fault error
	i := b.identity(Config{AdminKey: adminKey, Hook: func(*http.Request) (Who, bool, error) { return who, ok, fault }})
	if got, err := i.ResolveActor(bearerOf(adminKey)); err != nil || got.Actor.ID != adminID {
		t.Errorf("a hook that does not know: %+v %v", got, err)
	}
	who, ok = Who{Tenant: "other", Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person}}, true
	if got, err := i.ResolveActor(bearerOf(adminKey)); err != nil || got.Actor.ID != "ana" || got.Tenant != "other" || got.Actor.Assurance != holdshort.AssuranceToken {
		t.Errorf("a hook that knows: %+v %v", got, err)
	}
	fault = &holdshort.Error{Code: holdshort.Forbidden, Message: "not today", Hint: "tomorrow"}
	_, err := i.ResolveActor(bearerOf(adminKey))
	wantCode(t, err, holdshort.Forbidden)
	fault = nil
	for name, wrong := range map[string]Who{
		"nobody":     {Tenant: tenant, Actor: holdshort.Actor{Kind: holdshort.Person}},
		"the kernel": {Tenant: tenant, Actor: holdshort.SystemActor("timeout")},
		"no kind":    {Tenant: tenant, Actor: holdshort.Actor{ID: "ana"}},
		"no tenant":  {Actor: ana},
		"the store":  {Tenant: holdshort.SystemTenant, Actor: ana},
	} {
		who = wrong
		if got, err := i.ResolveActor(bearerOf(adminKey)); holdshort.CodeOf(err) != holdshort.Internal {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}
