package webhook

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testnode"
)

const (
	secretOne = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secretTwo = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD9z4T6yVcKkY="
)

func headers(t *testing.T, secrets []string, id string, at time.Time, body string) http.Header {
	t.Helper()
	signature, err := Sign(secrets, id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set(IDHeader, id)
	h.Set(TimestampHeader, strconv.FormatInt(at.Unix(), 10))
	h.Set(SignatureHeader, signature)
	return h
}

// TestSignature: the specification's own example.
func TestSignature(t *testing.T) {
	got, err := Sign([]string{secretOne}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
	for _, secret := range []string{"", "whsec_", "whsec_*", "whsec_a"} {
		if _, err := Sign([]string{secret}, "id", time.Now(), nil); err == nil {
			t.Errorf("signed with %q", secret)
		}
	}
	if _, err := Sign(nil, "id", time.Now(), nil); err == nil {
		t.Error("signed with nothing")
	}
}

func TestVerify(t *testing.T) {
	now := time.Now()
	body := `{"type":"run.completed"}`
	for name, c := range map[string]struct {
		change func(h http.Header) (secret, body string, at time.Time)
		ok     bool
	}{
		"as it was":      {func(http.Header) (string, string, time.Time) { return secretOne, body, now }, true},
		"the other":      {func(http.Header) (string, string, time.Time) { return secretTwo, body, now }, true},
		"a third secret": {func(http.Header) (string, string, time.Time) { return "whsec_AAAA", body, now }, false},
		"another body":   {func(http.Header) (string, string, time.Time) { return secretOne, body + " ", now }, false},
		"an old one":     {func(http.Header) (string, string, time.Time) { return secretOne, body, now.Add(6 * time.Minute) }, false},
		"of the future":  {func(http.Header) (string, string, time.Time) { return secretOne, body, now.Add(-6 * time.Minute) }, false},
		"another id":     {func(h http.Header) (string, string, time.Time) { h.Set(IDHeader, "x"); return secretOne, body, now }, false},
		"no id":          {func(h http.Header) (string, string, time.Time) { h.Del(IDHeader); return secretOne, body, now }, false},
		"no time":        {func(h http.Header) (string, string, time.Time) { h.Del(TimestampHeader); return secretOne, body, now }, false},
		"another time": {func(h http.Header) (string, string, time.Time) {
			h.Set(TimestampHeader, strconv.FormatInt(now.Unix()+1, 10))
			return secretOne, body, now
		}, false},
		"no signature": {func(h http.Header) (string, string, time.Time) { h.Del(SignatureHeader); return secretOne, body, now }, false},
		"another version": {func(h http.Header) (string, string, time.Time) {
			h.Set(SignatureHeader, strings.ReplaceAll(h.Get(SignatureHeader), "v1,", "v2,"))
			return secretOne, body, now
		}, false},
	} {
		h := headers(t, []string{secretOne, secretTwo}, "msg_1", now, body)
		secret, body, at := c.change(h)
		err := Verify(secret, h, []byte(body), at)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && holdshort.CodeOf(err) != holdshort.MACInvalid {
			t.Errorf("%s: code %s", name, holdshort.CodeOf(err))
		}
	}
}

const verifyScript = `
import { Webhook } from "standardwebhooks";
let text = "";
for await (const chunk of process.stdin) text += chunk;
for (const c of JSON.parse(text)) {
  let verdict = "true";
  try { new Webhook(c.secret).verify(c.body, c.headers); } catch (e) { verdict = "false"; }
  console.log(c.name + ": " + verdict);
}`

// TestSpecificationVerifiesOurs: the specification's own JavaScript library takes what we sign, with either secret of an overlap, and refuses
// what was changed.
func TestSpecificationVerifiesOurs(t *testing.T) {
	folder := testnode.Install(t, "standardwebhooks@1.0.0")
	type letter struct {
		Name    string            `json:"name"`
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	var letters []letter
	var want strings.Builder
	add := func(name, secret, signed, received string, at time.Time, verdict bool) {
		h := headers(t, []string{secretOne, secretTwo}, "whk_1:evt_1", at, signed)
		flat := map[string]string{}
		for _, name := range []string{IDHeader, TimestampHeader, SignatureHeader} {
			flat[name] = h.Get(name)
		}
		letters = append(letters, letter{name, secret, received, flat})
		want.WriteString(name + ": " + strconv.FormatBool(verdict) + "\n")
	}
	now := time.Now()
	body := `{"type":"hitl.request.decided","timestamp":"2026-03-02T09:00:00Z","data":{"question":"Rückerstattung an \"Ana\" <ana@example.org> 😀?"}}`
	add("current secret", secretOne, body, body, now, true)
	add("secret before it", secretTwo, body, body, now, true)
	add("another secret", "whsec_"+strings.Repeat("QUJD", 8), body, body, now, false)
	add("changed body", secretOne, body, strings.Replace(body, "decided", "expired", 1), now, false)
	add("old", secretOne, body, body, now.Add(-10*time.Minute), false)
	add("callback secret", holdshort.NewKeyring().CallbackSecrets("acme", "key:1")[0], body, body, now, false)
	input, err := json.Marshal(letters)
	if err != nil {
		t.Fatal(err)
	}
	if got := testnode.Run(t, folder, verifyScript, input); got != want.String() {
		t.Errorf("the library says\n%swant\n%s", got, want.String())
	}
}
