package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/policy"
)

type shownKey struct {
	ID        string   `json:"id"`
	Prefix    string   `json:"prefix"`
	Secret    string   `json:"secret"`
	Scopes    []string `json:"scopes"`
	RevokedAt string   `json:"revoked_at"`
}

// TestKeys: a key's secret is shown once; a revoked one opens nothing; nobody gives more than they have.
func TestKeys(t *testing.T) {
	d := newHouse(t)
	body := map[string]any{"name": "ci", "roles": []string{policy.Reviewer}, "scopes": []string{"view", "decide"}, "expires_in": "24h"}
	a := d.call(t, "admin", "POST", "/v1/keys", body, "Idempotency-Key", "k")
	var made, again shownKey
	a.into(t, &made)
	if a.status != 201 || !strings.HasPrefix(made.Secret, "hs_") || !strings.HasPrefix(made.Secret, made.Prefix) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	b := d.call(t, "admin", "POST", "/v1/keys", body, "Idempotency-Key", "k")
	b.into(t, &again)
	if b.status != 201 || again.ID != made.ID || again.Secret != "" || b.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", b.status, b.body)
	}
	list := d.call(t, "admin", "GET", "/v1/keys", nil)
	if list.status != 200 || !strings.Contains(string(list.body), made.ID) || strings.Contains(string(list.body), made.Secret) || strings.Contains(string(list.body), "hash") {
		t.Errorf("%d %s", list.status, list.body)
	}
	d.keys["ci"] = made.Secret
	var me struct {
		Tenant string   `json:"tenant"`
		May    []string `json:"may"`
		Scopes []string `json:"scopes"`
		KeyID  string   `json:"key_id"`
	}
	d.call(t, "ci", "GET", "/v1/me", nil).into(t, &me)
	if me.Tenant != "default" || me.KeyID != made.ID || !slices.Contains(me.May, "decide") || slices.Contains(me.May, "manage_keys") || slices.Contains(me.May, "raise") {
		t.Errorf("%+v", me)
	}
	for _, who := range []string{"ana", "ben", "olga", "ci", "gate"} {
		refused(t, who+" lists", d.call(t, who, "GET", "/v1/keys", nil), 403)
		refused(t, who+" makes one", d.call(t, who, "POST", "/v1/keys", map[string]any{"name": "x"}), 403)
		refused(t, who+" revokes", d.call(t, who, "DELETE", "/v1/keys/"+made.ID, nil), 403)
	}
	d.keys["keymaker"] = d.key(t, tenant, "", []string{policy.Admin}, []string{"keys"})
	refused(t, "more than it has", d.call(t, "keymaker", "POST", "/v1/keys", map[string]any{"name": "x", "scopes": []string{"decide"}}), 403)
	refused(t, "unknown scope", d.call(t, "admin", "POST", "/v1/keys", map[string]any{"name": "x", "scopes": []string{"everything"}}), 400)
	refused(t, "of another tenant", d.call(t, "stranger", "DELETE", "/v1/keys/"+made.ID, nil), 404)
	if a := d.call(t, "admin", "DELETE", "/v1/keys/"+made.ID, nil); a.status != 200 || !strings.Contains(string(a.body), "revoked_at") {
		t.Errorf("%d %s", a.status, a.body)
	}
	refused(t, "a revoked key", d.call(t, "ci", "GET", "/v1/me", nil), 401)
	var gate struct {
		Secret string `json:"callback_secret"`
	}
	d.call(t, "gate", "GET", "/v1/me", nil).into(t, &gate)
	if !strings.HasPrefix(gate.Secret, "whsec_") {
		t.Errorf("the raising key is not told what callbacks are signed with: %+v", gate)
	}
}

// TestStats: those who work here see how much there is; users do not.
func TestStats(t *testing.T) {
	d := newHouse(t)
	d.starts(t, "refund", refund{"1", 1})
	for who, want := range map[string]int{"ana": 200, "olga": 200, "admin": 200, "ben": 403, "gate": 403} {
		if a := d.call(t, who, "GET", "/v1/stats", nil); a.status != want || want == 200 && !strings.Contains(string(a.body), `"open":{"count":1`) {
			t.Errorf("%s: %d %s", who, a.status, a.body)
		}
	}
	if a := d.call(t, "stranger", "GET", "/v1/stats", nil); !strings.Contains(string(a.body), `"open":{"count":0`) {
		t.Errorf("another tenant counts ours: %s", a.body)
	}
}

// TestWebhooks: made, listed without its secret, tried, rotated, turned off and on, deleted.
func TestWebhooks(t *testing.T) {
	d := newHouse(t)
	type hook struct {
		ID, URL, Secret, Disabled string
		Events                    []string
	}
	body := map[string]any{"url": "https://hooks.example.org/in", "events": []string{"hitl.*"}}
	a := d.call(t, "olga", "POST", "/v1/webhooks", body, "Idempotency-Key", "w")
	var made, again, rotated hook
	a.into(t, &made)
	if a.status != 201 || !strings.HasPrefix(made.Secret, "whsec_") || made.URL != "https://hooks.example.org/in" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	b := d.call(t, "olga", "POST", "/v1/webhooks", body, "Idempotency-Key", "w")
	if b.into(t, &again); b.status != 201 || again.ID != made.ID || again.Secret != "" {
		t.Errorf("%d %s", b.status, b.body)
	}
	path := "/v1/webhooks/" + made.ID
	if list := d.call(t, "olga", "GET", "/v1/webhooks", nil); !strings.Contains(string(list.body), made.ID) || strings.Contains(string(list.body), made.Secret) {
		t.Errorf("%s", list.body)
	}
	if one := d.call(t, "olga", "GET", path, nil); one.status != 200 || strings.Contains(string(one.body), made.Secret) {
		t.Errorf("%s", one.body)
	}
	if d.call(t, "olga", "POST", path+"/rotate", nil).into(t, &rotated); rotated.Secret == made.Secret || rotated.Secret == "" {
		t.Errorf("%+v", rotated)
	}
	sent := d.call(t, "olga", "POST", path+"/test", nil)
	var delivery struct {
		ID string `json:"id"`
	}
	if sent.into(t, &delivery); sent.status != 202 || delivery.ID == "" {
		t.Fatalf("%d %s", sent.status, sent.body)
	}
	if log := d.call(t, "olga", "GET", path+"/deliveries?limit=10", nil); log.status != 200 || !strings.Contains(string(log.body), delivery.ID) {
		t.Errorf("%d %s", log.status, log.body)
	}
	if a := d.call(t, "olga", "POST", path+"/deliveries/"+delivery.ID+"/redeliver", nil); a.status != 202 && a.status != 409 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if off := d.call(t, "olga", "POST", path+"/disable", nil); off.status != 200 || !strings.Contains(string(off.body), `"disabled":"off"`) {
		t.Errorf("%d %s", off.status, off.body)
	}
	if on := d.call(t, "olga", "POST", path+"/enable", nil); on.status != 200 || strings.Contains(string(on.body), `"disabled"`) {
		t.Errorf("%d %s", on.status, on.body)
	}
	for _, c := range []struct {
		url  string
		want int
	}{{"", 400}, {"ftp://x.example/", 400}, {"not a url", 400}, {"https://user:pw@x.example/", 400}, {"javascript:alert(1)", 400}} {
		refused(t, "address "+c.url, d.call(t, "olga", "POST", "/v1/webhooks", map[string]any{"url": c.url}), 400, 422)
	}
	for _, who := range []string{"ana", "ben", "gate"} {
		refused(t, who, d.call(t, who, "GET", "/v1/webhooks", nil), 403)
		refused(t, who, d.call(t, who, "DELETE", path, nil), 403)
	}
	if a := d.call(t, "olga", "DELETE", path, nil); a.status != 204 || len(a.body) != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	refused(t, "deleted", d.call(t, "olga", "GET", path, nil), 404)
}

// TestHealth: up, ready, and not ready when it stops; figures are not for everybody.
func TestHealth(t *testing.T) {
	d := newHouse(t, func(o *houseOptions) {
		o.api.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("holdshort_up 1\n")) })
	})
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := d.call(t, "", "GET", path, nil); a.status != 200 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := d.call(t, "", "GET", "/metrics", nil); a.status != 200 || !strings.Contains(string(a.body), "holdshort_up") {
		t.Errorf("from this machine: %d %s", a.status, a.body)
	}
	away := []string{"X-Forwarded-For", "203.0.113.7"}
	refused(t, "through a proxy", d.call(t, "", "GET", "/metrics", nil, away...), 401)
	refused(t, "ben", d.call(t, "ben", "GET", "/metrics", nil, away...), 403)
	if a := d.call(t, "olga", "GET", "/metrics", nil, away...); a.status != 200 {
		t.Errorf("olga: %d %s", a.status, a.body)
	}
	d.server.Close()
	if a := d.call(t, "", "GET", "/readyz", nil); a.status != 503 || a.code(t) != "not_ready" || a.header.Get("Retry-After") == "" {
		t.Errorf("while it stops: %d %s", a.status, a.body)
	}
	if a := d.call(t, "", "GET", "/healthz", nil); a.status != 200 {
		t.Errorf("while it stops: %d", a.status)
	}
}
