package identity

import (
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

// TestRoles: the table gives roles by id and by group, each once.
func TestRoles(t *testing.T) {
	r := newRoles(map[string][]string{"finance": {"ana", "group:money"}, "reviewer": {"group:money", "group:desk"}, "boss": {"ben"}})
	for name, c := range map[string]struct {
		id     string
		groups []string
		want   []string
	}{
		"by id":              {"ben", nil, []string{"boss"}},
		"by group":           {"eve", []string{"desk"}, []string{"reviewer"}},
		"by both, once":      {"ana", []string{"money", "desk"}, []string{"finance", "reviewer"}},
		"nobody":             {"eve", []string{"staff"}, nil},
		"a group as id":      {"group:money", nil, nil},
		"an id as group":     {"eve", []string{"ana"}, nil},
		"a prefix too many":  {"eve", []string{"group:desk"}, nil},
		"another upper case": {"Ana", []string{"Desk"}, nil},
	} {
		if got := r.of(c.id, c.groups); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	stored := holdshort.Actor{ID: "ana", Roles: append([]string{"ops"}, r.pack([]string{"desk", "staff"})...)}
	if !slices.Equal(stored.Roles, []string{"ops", "group:desk"}) {
		t.Errorf("stored: %v", stored.Roles)
	}
	if got := r.unpack(stored).Roles; !slices.Equal(got, []string{"finance", "ops", "reviewer"}) {
		t.Errorf("now: %v", got)
	}
	if got := newRoles(map[string][]string{"auditor": {"group:desk"}}).unpack(stored).Roles; !slices.Equal(got, []string{"auditor", "ops"}) {
		t.Errorf("with another table: %v", got)
	}
}

// TestConfig: what cannot be meant is refused, with the field and a hint.
func TestConfig(t *testing.T) {
	b := newBed(t)
	oidc := func(change func(*OIDC)) *OIDC {
		o := &OIDC{Issuer: "https://id.example", ClientID: clientID}
		change(o)
		return o
	}
	jwt := func(change func(*JWT)) *JWT {
		j := &JWT{Issuer: "https://id.example", Audience: []string{"a"}}
		change(j)
		return j
	}
	const public = "https://hold.example"
	for name, c := range map[string]struct {
		config Config
		field  string
	}{
		"all is well":            {Config{PublicURL: public, OIDC: oidc(func(*OIDC) {}), JWT: &JWT{Issuer: "https://other.example", Audience: []string{"a"}, Prefix: "o:"}}, ""},
		"a path":                 {Config{PublicURL: public + "/hold/", OIDC: oidc(func(*OIDC) {})}, ""},
		"a tenant":               {Config{Tenant: "Acme Inc"}, "tenant"},
		"no https":               {Config{PublicURL: "http://hold.example"}, "public_url"},
		"no address":             {Config{PublicURL: "hold.example"}, "public_url"},
		"a password":             {Config{PublicURL: "https://a:b@hold.example"}, "public_url"},
		"no public address":      {Config{OIDC: oidc(func(*OIDC) {})}, "public_url"},
		"no client":              {Config{PublicURL: public, OIDC: oidc(func(o *OIDC) { o.ClientID = "" })}, "oidc.client_id"},
		"no issuer":              {Config{PublicURL: public, OIDC: oidc(func(o *OIDC) { o.Issuer = "" })}, "oidc.issuer"},
		"an issuer in the clear": {Config{PublicURL: public, OIDC: oidc(func(o *OIDC) { o.Issuer = "http://id.example" })}, "oidc.issuer"},
		"back in the clear":      {Config{PublicURL: public, OIDC: oidc(func(o *OIDC) { o.RedirectURL = "http://hold.example/cb" })}, "oidc.redirect_url"},
		"no audience":            {Config{JWT: jwt(func(j *JWT) { j.Audience = nil })}, "jwt.audience"},
		"an empty audience":      {Config{JWT: jwt(func(j *JWT) { j.Audience = []string{""} })}, "jwt.audience"},
		"a short secret":         {Config{JWT: jwt(func(j *JWT) { j.Secret = "0123456789abcdef0123456789abcde" })}, "jwt.secret"},
		"a secret and keys":      {Config{JWT: jwt(func(j *JWT) { j.Secret, j.Keys = "0123456789abcdef0123456789abcdef", []byte("{}") })}, "jwt"},
		"none":                   {Config{JWT: jwt(func(j *JWT) { j.Algorithms = []string{"none"} })}, "jwt.algorithms"},
		"HS256 without a secret": {Config{JWT: jwt(func(j *JWT) { j.Algorithms = []string{"RS256", "HS256"} })}, "jwt.algorithms"},
		"RS256 with a secret": {Config{JWT: jwt(func(j *JWT) {
			j.Secret, j.Algorithms = "0123456789abcdef0123456789abcdef", []string{"RS256"}
		})}, "jwt.algorithms"},
		"keys that are none":       {Config{JWT: jwt(func(j *JWT) { j.Keys = []byte("ssh-ed25519 AAAA") })}, "jwt.keys"},
		"a JWKS of nothing":        {Config{JWT: jwt(func(j *JWT) { j.Keys = []byte(`{"keys":[]}`) })}, "jwt.keys"},
		"a JWKS of secrets":        {Config{JWT: jwt(func(j *JWT) { j.Keys = []byte(`{"keys":[{"kty":"oct","k":"AAECAwQFBgcICQoLDA0ODw"}]}`) })}, "jwt.keys"},
		"keys in the clear":        {Config{JWT: jwt(func(j *JWT) { j.KeysURL = "http://id.example/keys" })}, "jwt.keys_url"},
		"one issuer twice":         {Config{PublicURL: public, OIDC: oidc(func(*OIDC) {}), JWT: jwt(func(j *JWT) { j.Prefix = "x:" })}, "jwt.issuer"},
		"two issuers, one prefix":  {Config{PublicURL: public, OIDC: oidc(func(*OIDC) {}), JWT: jwt(func(j *JWT) { j.Issuer = "https://other.example" })}, "jwt.prefix"},
		"a prefix of ours":         {Config{JWT: jwt(func(j *JWT) { j.Prefix = "key:" })}, "jwt.prefix"},
		"a login for ever":         {Config{Session: 31 * 24 * time.Hour}, "session"},
		"a role without a name":    {Config{Roles: map[string][]string{" ": {"ana"}}}, "roles"},
		"a role that is a group":   {Config{Roles: map[string][]string{"group:x": {"ana"}}}, "roles"},
		"a member without a name":  {Config{Roles: map[string][]string{"finance": {""}}}, "roles/finance"},
		"a group without a name":   {Config{Roles: map[string][]string{"finance": {"group:"}}}, "roles/finance"},
		"an address in upper case": {Config{PublicURL: public, OIDC: oidc(func(*OIDC) {}), Roles: map[string][]string{"finance": {"Ana@example.org"}}}, "roles/finance"},
	} {
		_, err := New(b.Engine, c.config)
		if c.field == "" {
			wantCode(t, err, "")
			continue
		}
		wantCode(t, err, holdshort.Invalid)
		if e, ok := err.(*holdshort.Error); !ok || e.Field != c.field {
			t.Errorf("%s: %v names %q", name, err, e.Field)
		}
	}
}
