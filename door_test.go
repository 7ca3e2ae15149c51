package holdshort_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

func TestKeyLives(t *testing.T) {
	key := holdshort.Key{ID: "key_1", Name: "till", CreatedAt: noon}
	for name, c := range map[string]struct {
		change func(*holdshort.Key)
		live   bool
	}{
		"for ever":             {func(*holdshort.Key) {}, true},
		"until later":          {func(k *holdshort.Key) { k.ExpiresAt = noon.Add(time.Microsecond) }, true},
		"until now":            {func(k *holdshort.Key) { k.ExpiresAt = noon }, false},
		"revoked":              {func(k *holdshort.Key) { k.RevokedAt = noon.Add(-time.Hour) }, false},
		"revoked, until later": {func(k *holdshort.Key) { k.RevokedAt, k.ExpiresAt = noon, noon.Add(time.Hour) }, false},
	} {
		k := key
		c.change(&k)
		if got := k.Live(noon); got != c.live {
			t.Errorf("%s: live is %v", name, got)
		}
	}
}

func TestKeyActs(t *testing.T) {
	service := holdshort.Key{ID: "key_1", Name: "till", Roles: []string{"finance"}, Hash: "secret"}
	a := service.Actor()
	if a.ID != "key:key_1" || a.Kind != holdshort.Service || a.Name != "till" || !a.HasRole("finance") || a.Assurance != holdshort.AssuranceToken {
		t.Errorf("a service acts as %+v", a)
	}
	a.Roles[0] = "admin"
	if service.Roles[0] != "finance" {
		t.Error("changing the actor changed the key")
	}
	service.User = "ana"
	if a := service.Actor(); a.ID != "ana" || a.Kind != holdshort.Person {
		t.Errorf("a personal key acts as %+v", a)
	}
	if text, err := json.Marshal(service); err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("it is shown as %s (%v)", text, err)
	}
}

func TestInScope(t *testing.T) {
	for _, scope := range holdshort.KeyScopes {
		if !holdshort.InScope(nil, scope) || !holdshort.InScope([]string{"admin"}, scope) || !holdshort.InScope([]string{"x", scope}, scope) {
			t.Errorf("%s is out of its own scope", scope)
		}
		if holdshort.InScope([]string{"x"}, scope) {
			t.Errorf("%s is in the scope of something else", scope)
		}
	}
	if holdshort.InScope([]string{"view"}, "") {
		t.Error("nothing is in scope")
	}
	if len(slices.Compact(slices.Sorted(slices.Values(holdshort.KeyScopes)))) != len(holdshort.KeyScopes) {
		t.Error("a scope stands twice")
	}
}

func TestLoginLives(t *testing.T) {
	l := holdshort.Login{ExpiresAt: noon}
	if !l.Live(noon.Add(-1)) || l.Live(noon) {
		t.Error("it does not end at its time")
	}
	if l.UsedAt = noon.Add(-time.Hour); l.Live(noon.Add(-time.Minute)) {
		t.Error("it lives after its use")
	}
	if (holdshort.Login{}).Live(noon) {
		t.Error("a login of no time lives")
	}
}

func TestWebhookRotates(t *testing.T) {
	w := holdshort.Webhook{Secrets: []holdshort.WebhookSecret{{Secret: "a"}}}
	b := w.Rotate("b", 24*time.Hour, noon)
	if got := b.Signers(noon.Add(23 * time.Hour)); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("within the overlap %v sign", got)
	}
	if got := b.Signers(noon.Add(24 * time.Hour)); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after it %v sign", got)
	}
	c := b.Rotate("c", 24*time.Hour, noon.Add(time.Hour))
	if got := c.Signers(noon.Add(2 * time.Hour)); !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("after two rotations %v sign", got)
	}
	if got := c.Signers(noon.Add(24*time.Hour + time.Minute)); !slices.Equal(got, []string{"c", "b"}) {
		t.Errorf("a rotation made the oldest live longer: %v", got)
	}
	if d := c.Rotate("d", time.Hour, noon.AddDate(0, 0, 9)); len(d.Secrets) != 2 {
		t.Errorf("what no longer signs is kept: %v", d.Secrets)
	}
	if back := b.Rotate("a", 24*time.Hour, noon.Add(time.Hour)); !slices.Equal(back.Signers(noon.Add(2*time.Hour)), []string{"a", "b"}) {
		t.Errorf("a secret that came back: %v", back.Secrets)
	}
	if len(w.Secrets) != 1 || w.Secrets[0].Until != (time.Time{}) {
		t.Error("rotating changed what stood before")
	}
	if text, err := json.Marshal(c); err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), `"a"`) {
		t.Errorf("it is shown as %s (%v)", text, err)
	}
}

func TestCallbackSecrets(t *testing.T) {
	ring := holdshort.NewKeyring()
	one := ring.CallbackSecrets("acme", "key:1")
	if len(one) != 1 || !strings.HasPrefix(one[0], "whsec_") || one[0] != ring.CallbackSecrets("acme", "key:1")[0] {
		t.Fatalf("got %v", one)
	}
	for _, other := range [][]string{ring.CallbackSecrets("acme", "key:2"), ring.CallbackSecrets("rival", "key:1"), holdshort.NewKeyring().CallbackSecrets("acme", "key:1")} {
		if other[0] == one[0] {
			t.Error("two share a secret")
		}
	}
	rotated := ring.Rotate().CallbackSecrets("acme", "key:1")
	if len(rotated) != 2 || rotated[1] != one[0] || rotated[0] == one[0] {
		t.Errorf("after a rotation %d sign, and the old one is there: %v", len(rotated), rotated[len(rotated)-1] == one[0])
	}
}

func TestDeliveryRemembersAttempts(t *testing.T) {
	var d holdshort.Delivery
	for i := range 30 {
		before := d
		d = d.Note(holdshort.Attempt{At: noon.Add(time.Duration(i) * time.Minute), Status: 500 + i, Error: "no"})
		if len(before.Log) > 0 && before.Log[0].Status != max(500, 500+i-20) {
			t.Fatalf("noting attempt %d changed what stood before", i)
		}
	}
	if len(d.Log) != 20 || d.Log[0].Status != 510 || d.Log[19].Status != 529 || d.LastError != "no" {
		t.Errorf("kept %d, from %d to %d", len(d.Log), d.Log[0].Status, d.Log[len(d.Log)-1].Status)
	}
}
