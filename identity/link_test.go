package identity

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// TestLink: a link makes its holder the person it was made for, for one request, with the assurance of a link.
func TestLink(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	req := b.ask(nil)
	token := i.LinkFor(tenant, req, holdshort.Actor{ID: "ana", Kind: holdshort.Person, Name: "Ana", Roles: []string{policy.Reviewer, "finance"}, Assurance: holdshort.AssuranceLogin}, time.Hour)
	for range 3 { // looking uses nothing up
		who, got, err := i.LinkActor(t.Context(), req.ID, token)
		if err != nil {
			t.Fatal(err)
		}
		want := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Name: "Ana", Roles: []string{policy.Reviewer, "finance"}, Assurance: holdshort.AssuranceLink}
		if who.Tenant != tenant || who.Method != ByLink || who.Actor.ID != want.ID || who.Actor.Kind != want.Kind || who.Actor.Name != want.Name ||
			!slices.Equal(who.Actor.Roles, want.Roles) || who.Actor.Assurance != want.Assurance || got.ID != req.ID {
			t.Errorf("%+v %+v", who, got)
		}
	}
}

// TestLinkOnce: a link needs no row of its own to be good for one decision. The request is decided once, and a vote is cast once.
func TestLinkOnce(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	decide := func(req holdshort.Request, token Token) error {
		who, _, err := i.LinkActor(t.Context(), req.ID, token)
		if err != nil {
			return err
		}
		_, err = b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: who.Actor})
		return err
	}
	req := b.ask(nil)
	token := i.LinkFor(tenant, req, ana, time.Hour)
	if err := decide(req, token); err != nil {
		t.Fatal(err)
	}
	who, got, err := i.LinkActor(t.Context(), req.ID, token)
	wantCode(t, err, holdshort.Closed)
	if who.Actor.ID != "ana" || got.Outcome != holdshort.Approved {
		t.Errorf("what became of it is not shown: %+v %+v", who, got)
	}
	wantCode(t, decide(req, token), holdshort.Closed)
	d, err := b.Decision(t.Context(), tenant, req.ID)
	if err != nil || d.Actor.Assurance != holdshort.AssuranceLink {
		t.Errorf("%+v %v", d, err)
	}

	two := b.ask(func(in *engine.AskInput) {
		in.Audience = holdshort.Audience{Roles: []string{policy.Reviewer}, Quorum: 2}
	})
	first, second := i.LinkFor(tenant, two, ana, time.Hour), i.LinkFor(tenant, two, holdshort.Actor{ID: "ben", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}, time.Hour)
	if err := decide(two, first); err != nil {
		t.Fatal(err)
	}
	wantCode(t, decide(two, first), holdshort.AlreadyVoted)
	wantCode(t, decide(two, i.LinkFor(tenant, two, ana, time.Hour)), holdshort.AlreadyVoted) // a second link is no second voice
	if err := decide(two, second); err != nil {
		t.Fatal(err)
	}
	wantCode(t, decide(two, second), holdshort.Closed)
}

// TestBadLinks: whatever is wrong with a link, the answer is one and the same.
func TestBadLinks(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	req, other := b.ask(nil), b.ask(func(in *engine.AskInput) { in.Question = "Refund again?" })
	good := i.LinkFor(tenant, req, ana, time.Hour)
	body, mac, _ := strings.Cut(string(good), ".")
	rewrite := func(change func(map[string]any)) Token {
		text, err := base64.RawURLEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]any
		if err := json.Unmarshal(text, &said); err != nil {
			t.Fatal(err)
		}
		change(said)
		text, _ = json.Marshal(said)
		return Token(base64.RawURLEncoding.EncodeToString(text) + "." + mac)
	}
	altered := req
	altered.Fingerprint = other.Fingerprint
	stranger := newBed(t).identity(Config{}) // another keyring
	short := i.LinkFor(tenant, req, ana, time.Minute)
	unknown := req
	unknown.ID = holdshort.NewRequestID(b.clock.now())
	wrong := map[string]Token{
		"nothing":             "",
		"garbage":             "x",
		"dots":                "..",
		"only the body":       Token(body),
		"a signature cut off": good[:len(good)-2],
		"a signature changed": good[:len(good)-1] + Token(rune('0'+'1'-good[len(good)-1]%2)),
		"a signature longer":  good + "0",
		"no key":              Token(body + ".." + mac[strings.Index(mac, ".")+1:]),
		"another key":         Token(body + ".k0." + mac[strings.Index(mac, ".")+1:]),
		"another person":      rewrite(func(m map[string]any) { m["p"] = "eve" }),
		"more roles":          rewrite(func(m map[string]any) { m["r"] = []string{"admin"} }),
		"a longer life":       rewrite(func(m map[string]any) { m["x"] = b.clock.now().Add(time.Hour * 999).Unix() }),
		"another tenant":      rewrite(func(m map[string]any) { m["t"] = "other" }),
		"no tenant":           rewrite(func(m map[string]any) { m["t"] = "_system" }),
		"a field more":        rewrite(func(m map[string]any) { m["k"] = "service" }),
		"of another request":  i.LinkFor(tenant, other, ana, time.Hour),
		"of another asking":   i.LinkFor(tenant, altered, ana, time.Hour),
		"of another server":   stranger.LinkFor(tenant, req, ana, time.Hour),
		"signed elsewhere":    i.LinkFor("other", req, ana, time.Hour),
		"for somebody else":   i.LinkFor(tenant, req, holdshort.Actor{ID: "eve", Kind: holdshort.Person}, time.Hour), // who may not look
		"padded":              Token(body + "=." + mac),
		"too long":            Token(strings.Repeat("a", mostToken+1)),
	}
	b.clock.move(59 * time.Second)
	if _, _, err := i.LinkActor(t.Context(), req.ID, short); err != nil {
		t.Errorf("before its time: %v", err)
	}
	b.clock.move(time.Second)
	wrong["past its time"] = short
	want := badLink().Error()
	for name, token := range wrong {
		who, got, err := i.LinkActor(t.Context(), req.ID, token)
		wantCode(t, err, holdshort.Unauthenticated)
		if err == nil || err.Error() != want || who.Actor.ID != "" || got.ID != "" {
			t.Errorf("%s: %+v %+v %v", name, who, got, err)
		}
	}
	for name, id := range map[string]holdshort.RequestID{"moved": other.ID, "to nothing": unknown.ID, "to no id": "", "to a line more": req.ID + "\nx"} {
		_, _, err := i.LinkActor(t.Context(), id, good)
		if wantCode(t, err, holdshort.Unauthenticated); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := i.LinkActor(t.Context(), unknown.ID, i.LinkFor(tenant, unknown, ana, time.Hour))
	if wantCode(t, err, holdshort.Unauthenticated); err == nil || err.Error() != want {
		t.Errorf("to what was deleted: %v", err)
	}
	if _, _, err := i.LinkActor(t.Context(), req.ID, good); err != nil {
		t.Errorf("the good one: %v", err)
	}
	if strings.Contains(b.log.String(), mac) {
		t.Error("the log has a link")
	}
}

// TestLinkDies: a link ends with its request, and says so to whoever holds it.
func TestLinkDies(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	req := b.ask(func(in *engine.AskInput) { in.ExpiresIn = 10 * time.Minute })
	token := i.LinkFor(tenant, req, ana, 0)
	b.clock.move(10 * time.Minute) // not swept yet
	who, got, err := i.LinkActor(t.Context(), req.ID, token)
	if wantCode(t, err, holdshort.Expired); who.Actor.ID != "ana" || got.Status != holdshort.RequestExpired {
		t.Errorf("%+v %+v", who, got)
	}
	b.clock.move(linkAfter)
	_, _, err = i.LinkActor(t.Context(), req.ID, token)
	wantCode(t, err, holdshort.Unauthenticated)

	req = b.ask(nil)
	token = i.LinkFor(tenant, req, ana, time.Hour)
	if _, err := b.CancelRequest(t.Context(), tenant, engine.CancelRequestInput{Request: req.ID, Actor: bot, Reason: "no longer needed"}); err != nil {
		t.Fatal(err)
	}
	_, got, err = i.LinkActor(t.Context(), req.ID, token)
	if wantCode(t, err, holdshort.Closed); got.Status != holdshort.RequestCanceled {
		t.Errorf("%+v", got)
	}
}

// TestLinkRights: who has lost a right since the link was made has lost it, as far as the configuration can tell.
func TestLinkRights(t *testing.T) {
	b := newBed(t)
	req := b.ask(nil)
	token := b.identity(Config{}).LinkFor(tenant, req, ana, time.Hour)
	for name, c := range map[string]struct {
		table map[string][]string
		roles []string
		ok    bool
	}{
		"no table":                  {nil, []string{"reviewer"}, true},
		"still listed":              {map[string][]string{"reviewer": {"ben", "ana"}}, []string{"reviewer"}, true},
		"listed for more":           {map[string][]string{"reviewer": {"ana"}, "finance": {"ana"}}, []string{"finance", "reviewer"}, true},
		"by a group, who knows":     {map[string][]string{"reviewer": {"group:desk"}}, []string{"reviewer"}, true},
		"no longer listed":          {map[string][]string{"reviewer": {"ben"}}, nil, false},
		"a role that is gone":       {map[string][]string{"finance": {"ben"}}, nil, false},
		"a role that nobody has":    {map[string][]string{"reviewer": {}}, nil, false},
		"another role is of no use": {map[string][]string{"finance": {"ana"}}, nil, false},
	} {
		b.clock.move(2 * time.Second)
		who, _, err := b.identity(Config{Roles: c.table}).LinkActor(t.Context(), req.ID, token)
		if (err == nil) != c.ok || c.ok && !slices.Equal(who.Actor.Roles, c.roles) {
			t.Errorf("%s: %+v %v", name, who, err)
		}
		if !c.ok {
			wantCode(t, err, holdshort.Unauthenticated)
		}
	}
	if got := b.denials(); len(got) == 0 || got[0] != "hitl.request.view ana" {
		t.Errorf("what was refused is not in the log: %v", got)
	}
}

// TestLinkKeys: a link is good on every node and after a restart, and as long as the key that signed it is in the keyring.
func TestLinkKeys(t *testing.T) {
	b := newBed(t)
	req := b.ask(nil)
	old := holdshort.NewKeyring()
	with := func(k *holdshort.Keyring) *Identity {
		e, err := engine.New(b.store, engine.Config{Keyring: k, Clock: b.clock.now, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return (&bed{TB: t, Engine: e, clock: b.clock, log: b.log}).identity(Config{})
	}
	token := with(old).LinkFor(tenant, req, ana, time.Hour)
	for name, c := range map[string]struct {
		ring *holdshort.Keyring
		ok   bool
	}{"the same": {old, true}, "rotated": {old.Rotate(), true}, "another": {holdshort.NewKeyring(), false}} {
		if _, _, err := with(c.ring).LinkActor(t.Context(), req.ID, token); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	// what is signed for something else is no link
	body, _, _ := strings.Cut(string(token), ".")
	for _, purpose := range []string{"claim token", statePurpose, ""} {
		mac := old.TenantHash(tenant, purpose, linkText(req.ID, body))
		_, _, err := with(old).LinkActor(t.Context(), req.ID, Token(body+"."+strings.Replace(mac, ":", ".", 1)))
		wantCode(t, err, holdshort.Unauthenticated)
	}
}

// TestLinkFor: nobody and nothing that is no person gets a link.
func TestLinkFor(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	req := b.ask(nil)
	for name, a := range map[string]holdshort.Actor{"nobody": {Kind: holdshort.Person}, "a service": bot, "the kernel": holdshort.SystemActor("timeout"), "two lines": {ID: "a\nb", Kind: holdshort.Person}} {
		if got := i.LinkFor(tenant, req, a, time.Hour); got != "" {
			t.Errorf("%s: %s", name, string(got))
		}
	}
	if i.LinkFor(tenant, holdshort.Request{}, ana, time.Hour) != "" {
		t.Error("a link to nothing")
	}
	if n := len(i.LinkFor(tenant, req, ana, time.Hour)); n > 300 {
		t.Errorf("a link has %d characters: mail programs break it", n)
	}
}
