package inbox

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// attackPosts are all routes that take a form, as they stand in the sources: a new one is attacked without anybody thinking of it.
func attackPosts(t *testing.T) (paths []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`in\.act\((one\+)?"([^"]+)"`)
	does := regexp.MustCompile(`\bdoes\("([^"]+)"`)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range row.FindAllStringSubmatch(string(raw), -1) {
			switch {
			case m[1] != "" && m[2] == "/":
			case m[1] != "":
				paths = append(paths, "/settings/webhooks/{id}"+m[2])
			default:
				paths = append(paths, m[2])
			}
		}
		for _, m := range does.FindAllStringSubmatch(string(raw), -1) {
			paths = append(paths, "/settings/webhooks/{id}/"+m[1])
		}
	}
	if len(paths) < 20 {
		t.Fatalf("only %d routes were found: %q", len(paths), paths)
	}
	return paths
}

func TestAttackEveryForm(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("mail", `{"to":"a@example.org","body":"x"}`)
	hook, err := b.engine.CreateWebhook(t.Context(), cardTenant, engine.CreateWebhookInput{URL: "https://example.org/hook", Events: []string{"*"}, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	session, err := b.engine.OpenSession(t.Context(), cardTenant, engine.OpenSessionInput{User: "cora", Flow: "refund"})
	if err != nil {
		t.Fatal(err)
	}
	victim, _, err := b.engine.CreateKey(t.Context(), cardTenant, engine.CreateKeyInput{Name: "victim", User: "vic", Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	secret := func(tenant holdshort.TenantID, name string, roles, scopes []string) string {
		_, text, err := b.engine.CreateKey(context.Background(), tenant, engine.CreateKeyInput{Name: name, User: name, Roles: roles, Scopes: scopes, Actor: holdshort.SystemActor("test")})
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + text
	}
	looker := secret(cardTenant, "looker", []string{policy.Admin, "finance"}, []string{holdshort.ScopeView})
	stranger := secret("elsewhere", "stranger", []string{policy.Admin, policy.Operator, "finance"}, nil)
	admin := secret(cardTenant, "boss", []string{policy.Admin, "finance"}, nil)
	form := url.Values{"fingerprint": {req.Fingerprint}, "action": {"approve"}, "confirm": {"send"}, "key": {"k1"}, "once": {"o1"}, "verb": {"approve"}, "id": {string(req.ID)}, "pick": {string(req.ID)}, "text": {"hello"},
		"to": {"me"}, "reason": {"because"}, "agent": {"x"}, "message": {"m1"}, "name": {"new"}, "url": {"https://example.org/other"}, "events": {"*"}, "expires": {"1d"}, "rules": {"- name: x"}, "tool": {"orders.refund"}}
	state := func() string {
		now := b.standing(req)
		run, _ := b.engine.RunByID(context.Background(), cardTenant, req.RunID)
		keys, _ := b.engine.Keys(context.Background(), cardTenant)
		hooks, _ := b.engine.Webhooks(context.Background(), cardTenant)
		said, _ := b.engine.Comments(context.Background(), cardTenant, req.ID)
		talk, _ := b.engine.Messages(context.Background(), cardTenant, engine.MessageQuery{Session: session.ID})
		live := 0
		for _, k := range keys {
			if k.RevokedAt.IsZero() {
				live++
			}
		}
		w, _ := b.engine.WebhookByID(context.Background(), cardTenant, hook.ID)
		return strings.Join([]string{string(now.Status), now.Assignee, string(run.Status), string(rune('0' + live)), string(rune('0' + len(hooks))), string(w.Disabled), string(rune('0' + len(said))), string(rune('0' + len(talk.Items)))}, "|")
	}
	before := state()
	for _, path := range attackPosts(t) {
		target := strings.NewReplacer("/settings/keys/{id}", "/settings/keys/"+string(victim.ID), "/settings/webhooks/{id}", "/settings/webhooks/"+string(hook.ID), "/runs/{id}", "/runs/"+string(req.RunID),
			"/requests/{id}", "/requests/"+string(req.ID), "{session}", string(session.ID), "{delivery}", "del_x").Replace(path)
		sent := url.Values{}
		for k, v := range form {
			sent[k] = v
		}
		sent.Set("sure", string(hook.ID))
		if strings.HasPrefix(path, "/settings/keys/") {
			sent.Set("sure", string(victim.ID))
		}
		open := path == "/policy/try" || path == "/settings/look"
		for _, attack := range []struct {
			name    string
			headers []string
			want    []int
		}{
			{"nobody", nil, []int{http.StatusUnauthorized}},
			{"another site with a login", []string{"Authorization", admin, "Sec-Fetch-Site", "cross-site"}, []int{http.StatusForbidden}},
			{"a sister site with a login", []string{"Authorization", admin, "Sec-Fetch-Site", "same-site"}, []int{http.StatusForbidden}},
			{"an old browser from another site", []string{"Authorization", admin, "Origin", "https://evil.example"}, []int{http.StatusForbidden}},
			{"a key that may only look", []string{"Authorization", looker}, []int{http.StatusForbidden}},
			{"another tenant's administrator", []string{"Authorization", stranger}, []int{http.StatusNotFound, http.StatusForbidden, http.StatusBadRequest}},
		} {
			got := b.call("", "POST", target, sent, attack.headers...)
			switch {
			case open && attack.name == "a key that may only look": // they change nothing but how a browser shows the pages
			case !strings.Contains(path, "{") && attack.name == "another tenant's administrator": // what they do there they do at home
			case !slices.Contains(attack.want, got.status):
				t.Errorf("%s, %s: %d %.200s", path, attack.name, got.status, got.body)
			}
			if now := state(); now != before {
				t.Fatalf("%s, %s: %d changed %s to %s", path, attack.name, got.status, before, now)
			}
		}
		if got := b.call("", "GET", target+"?"+sent.Encode(), nil, "Authorization", admin, "HX-Request", ""); state() != before {
			t.Fatalf("GET %s: %d changed something", path, got.status)
		}
	}
}
