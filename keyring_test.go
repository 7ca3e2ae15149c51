package holdshort_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
)

// Two secrets that tests can name; base64 of "holdshort test secret number 001" and "… 002".
const (
	secretOne = "aG9sZHNob3J0IHRlc3Qgc2VjcmV0IG51bWJlciAwMDE="
	secretTwo = "aG9sZHNob3J0IHRlc3Qgc2VjcmV0IG51bWJlciAwMDI="
)

func keyring(t testing.TB, text string) *holdshort.Keyring {
	t.Helper()
	k, err := holdshort.ParseKeyring([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeyringTextRoundTrip(t *testing.T) {
	k := holdshort.NewKeyring().Rotate().Rotate()
	back := keyring(t, string(k.Marshal()))
	if !bytes.Equal(back.Marshal(), k.Marshal()) || !slices.Equal(back.KeyIDs(), k.KeyIDs()) {
		t.Fatalf("%s came back as %s", k, back)
	}
	if got := k.SigningKeyID(); got != k.KeyIDs()[0] || !regexp.MustCompile(`^k[0-9a-f]{8}$`).MatchString(got) {
		t.Errorf("signing key %q of %v", got, k.KeyIDs())
	}
}

func TestParseKeyring(t *testing.T) {
	for name, text := range map[string]string{
		"plain":              "one " + secretOne + "\ntwo " + secretTwo + "\n",
		"no newline at end":  "one " + secretOne + "\ntwo " + secretTwo,
		"Windows newlines":   "one " + secretOne + "\r\ntwo " + secretTwo + "\r\n",
		"comments and tabs":  "# mine\n\n  one\t" + secretOne + "  # first\n#\ntwo " + secretTwo,
		"without padding":    "one " + strings.TrimRight(secretOne, "=") + "\ntwo " + secretTwo,
		"a byte order mark":  "\ufeffone " + secretOne + "\ntwo " + secretTwo,
		"marshalled by hand": string(keyring(t, "one "+secretOne+"\ntwo "+secretTwo).Marshal()),
	} {
		k := keyring(t, text)
		if got := fmt.Sprint(k.KeyIDs()); got != "[one two]" || k.SigningKeyID() != "one" {
			t.Errorf("%s: keys %s, %s signs", name, got, k.SigningKeyID())
		}
		if want := base64.StdEncoding.EncodeToString([]byte("holdshort test secret number 001")); !strings.Contains(string(k.Marshal()), "one "+want+"\n") {
			t.Errorf("%s: the secret changed", name)
		}
	}
}

func TestParseKeyringRefusesWithoutShowingTheSecret(t *testing.T) {
	urlSafe := base64.URLEncoding.EncodeToString(bytes.Repeat([]byte{0xff, 0xfe}, 16))
	for _, test := range []struct{ name, text, field string }{
		{"empty", "", "keyring"},
		{"only comments", "# one " + secretOne, "keyring"},
		{"a secret alone", secretOne, "line 1"},
		{"an id alone", "one " + secretOne + "\n\ntwo", "line 3"},
		{"three words", "one " + secretOne + " " + secretTwo, "line 1"},
		{"id and secret swapped", secretOne + " one", "line 1"},
		{"an id with a colon", "a:b " + secretOne, "line 1"},
		{"an id in capitals", "One " + secretOne, "line 1"},
		{"a long id", strings.Repeat("a", 33) + " " + secretOne, "line 1"},
		{"an id twice", "one " + secretOne + "\none " + secretTwo, "line 2"},
		{"not base64", "one " + secretOne[:20] + "!" + secretOne[21:], "line 1"},
		{"URL-safe base64", "one " + urlSafe, "line 1"},
		{"spare bits at the end", "one " + secretOne[:42] + "F=", "line 1"},
		{"too short", "one " + secretOne[:20], "line 1"},
		{"too long", "one " + secretOne[:43] + secretTwo, "line 1"},
		{"a placeholder", "one " + base64.StdEncoding.EncodeToString(make([]byte, 32)), "line 1"},
		{"an endless line", "# fine\none " + strings.Repeat(secretOne, 1000), "line 2"},
	} {
		k, err := holdshort.ParseKeyring([]byte(test.text))
		var e *holdshort.Error
		if k != nil || !errors.As(err, &e) || e.Code != holdshort.Invalid || e.Field != test.field || e.Hint == "" {
			t.Errorf("%s: got %v, %#v; want invalid at %q", test.name, k, err, test.field)
			continue
		}
		for _, s := range []string{secretOne, secretTwo, urlSafe} {
			for i := 0; i+8 <= len(s); i++ {
				if strings.Contains(fmt.Sprintf("%v %#v", err, e), s[i:i+8]) {
					t.Errorf("%s: the error shows the secret: %v", test.name, err)
				}
			}
		}
	}
}

func TestKeyringHidesItsSecrets(t *testing.T) {
	text := "one " + secretOne + "\ntwo " + secretTwo
	k := keyring(t, text)
	payload, err := k.PayloadKey("one")
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{string(payload)}
	for _, s := range []string{secretOne, secretTwo} {
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, s, string(raw))
	}
	for _, s := range slices.Clone(secrets) {
		secrets = append(secrets, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))), fmt.Sprint([]byte(s)), fmt.Sprintf("%#v", []byte(s)))
	}

	type config struct {
		Keys  *holdshort.Keyring
		Value holdshort.Keyring
		inner holdshort.Keyring
		ptr   *holdshort.Keyring
	}
	shown := map[string]string{}
	for _, v := range []any{k, *k, config{k, *k, *k, k}, &config{k, *k, *k, k}, []*holdshort.Keyring{k}, map[string]any{"k": *k}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			shown[fmt.Sprintf("%s of %T", verb, v)] = fmt.Sprintf(verb, v)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown[fmt.Sprintf("json of %T", v)] = string(out)
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("start", "keys", v)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("start", "keys", v)
		shown[fmt.Sprintf("slog of %T", v)] = b.String()
	}
	shown["String"], shown["Sprint"], shown["error"] = k.String(), fmt.Sprint(k), fmt.Errorf("open: %v", k).Error()
	for how, text := range shown {
		if text == "" {
			t.Errorf("%s shows nothing", how)
		}
		for _, secret := range secrets {
			if strings.Contains(text, secret) || strings.Contains(text, secret[:len(secret)/2]) {
				t.Errorf("%s shows a secret: %.80s", how, text)
			}
		}
	}
	if got, want := fmt.Sprintf("%v", k), "keyring(one two)"; got != want {
		t.Errorf("got %q, want %q: the ids help, the secrets do not", got, want)
	}
}

func TestRotate(t *testing.T) {
	old := holdshort.NewKeyring()
	rotated := old.Rotate()
	if len(old.KeyIDs()) != 1 || len(rotated.KeyIDs()) != 2 {
		t.Fatalf("%s became %s", old, rotated)
	}
	if rotated.KeyIDs()[1] != old.SigningKeyID() || rotated.SigningKeyID() == old.SigningKeyID() {
		t.Errorf("the fresh key of %s does not stand in front of %s", rotated, old)
	}
}

func TestUnknownKey(t *testing.T) {
	k, other := keyring(t, "one "+secretOne), keyring(t, "two "+secretTwo)
	signed, err := other.SignDecision("acme", approval())
	if err != nil {
		t.Fatal(err)
	}
	vote, err := other.SignVote("acme", approval())
	if err != nil {
		t.Fatal(err)
	}
	keyID, seal := other.SignSeal([]byte("root"))
	_, errHash := k.SameTenantHash("acme", "args", other.TenantHash("acme", "args", nil), nil)
	_, errPublic := k.SealPublicKey("two")
	_, errPayload := k.PayloadKey("")
	for name, err := range map[string]error{
		"decision": k.VerifyDecision("acme", signed), "vote": k.VerifyVote("acme", vote), "seal": k.VerifySeal(keyID, []byte("root"), seal),
		"hash": errHash, "public key": errPublic, "payload key": errPayload,
	} {
		if !errors.Is(err, holdshort.KeyUnknown) || holdshort.HintOf(err) == "" {
			t.Errorf("%s: got %v, want key_unknown with a hint", name, err)
		}
	}
}

func TestPurposesHaveTheirOwnKeys(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	payload, err := k.PayloadKey("one")
	if err != nil || len(payload) != 32 || bytes.Equal(payload, []byte("holdshort test secret number 001")) {
		t.Fatalf("payload key of %d bytes, %v", len(payload), err)
	}
	public, err := k.SealPublicKey("one")
	if err != nil || len(public) != 32 || bytes.Equal(public, payload) {
		t.Fatalf("public key of %d bytes, %v", len(public), err)
	}
	clear(payload)
	clear(public)
	if again, _ := k.PayloadKey("one"); bytes.Equal(again, payload) {
		t.Error("a caller can overwrite the payload key")
	}
	if again, _ := k.SealPublicKey("one"); bytes.Equal(again, public) {
		t.Error("a caller can overwrite the public key")
	}
	// What is derived stands in databases: it must never change for a given secret. HKDF-SHA256 by an independent implementation.
	again, _ := k.PayloadKey("one")
	if got, want := hex.EncodeToString(again), "4979e024492885ebf6218ebdfff7bab68d613234bd86294805485182e29f8001"; got != want {
		t.Errorf("payload key %s, want %s", got, want)
	}
}

func TestTenantHash(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	hash := k.TenantHash("acme", "args", []byte("{}"))
	if !regexp.MustCompile(`^one:[0-9a-f]{64}$`).MatchString(hash) {
		t.Fatalf("%q is not key:hex", hash)
	}
	for name, other := range map[string]string{
		"tenant":       k.TenantHash("globex", "args", []byte("{}")),
		"purpose":      k.TenantHash("acme", "result", []byte("{}")),
		"data":         k.TenantHash("acme", "args", []byte("[]")),
		"boundary":     k.TenantHash("acmea", "rgs", []byte("{}")),
		"key":          keyring(t, "one "+secretTwo).TenantHash("acme", "args", []byte("{}")),
		"no key":       "one:" + holdshort.ArgsHash([]byte("{}")),
		"empty fields": k.TenantHash("", "", []byte("{}")),
	} {
		if other == hash {
			t.Errorf("%s: another one has the same hash", name)
		}
	}
	rotated := keyring(t, "two "+secretTwo+"\none "+secretOne)
	for _, test := range []struct {
		name, tenant, purpose, stored, data string
		same                                bool
		code                                holdshort.Code
	}{
		{"the same", "acme", "args", hash, "{}", true, ""},
		{"other data", "acme", "args", hash, "[]", false, ""},
		{"another tenant", "globex", "args", hash, "{}", false, ""},
		{"another purpose", "acme", "result", hash, "{}", false, ""},
		{"under the new key", "acme", "args", rotated.TenantHash("acme", "args", []byte("{}")), "{}", true, ""},
		{"an unknown key", "acme", "args", "x" + hash, "{}", false, holdshort.KeyUnknown},
		{"no colon", "acme", "args", strings.Replace(hash, ":", "", 1), "{}", false, holdshort.Corrupt},
		{"cut", "acme", "args", hash[:len(hash)-2], "{}", false, holdshort.Corrupt},
		{"not hexadecimal", "acme", "args", hash[:len(hash)-2] + "zz", "{}", false, holdshort.Corrupt},
		{"nothing", "acme", "args", "", "{}", false, holdshort.Corrupt},
	} {
		same, err := rotated.SameTenantHash(holdshort.TenantID(test.tenant), test.purpose, test.stored, []byte(test.data))
		if same != test.same || holdshort.CodeOf(err) != test.code {
			t.Errorf("%s: got %v, %v; want %v %s", test.name, same, err, test.same, test.code)
		}
	}
}

func TestSeal(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	rotated := keyring(t, "two "+secretTwo+"\none "+secretOne)
	seal := holdshort.Seal{Number: 1, From: 1, To: 9, Root: []byte("root"), At: noon, KeyID: k.SigningKeyID()}
	keyID, signature := k.SignSeal(seal.Message())
	if err := rotated.VerifySeal(keyID, seal.Message(), signature); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	changed := seal
	changed.To = 8
	for name, err := range map[string]error{
		"changed":          k.VerifySeal(keyID, changed.Message(), signature),
		"cut":              k.VerifySeal(keyID, seal.Message(), signature[:63]),
		"empty":            k.VerifySeal(keyID, seal.Message(), nil),
		"another key":      rotated.VerifySeal("two", seal.Message(), signature),
		"same id, forged":  keyring(t, "one "+secretTwo).VerifySeal(keyID, seal.Message(), signature),
		"signature of raw": k.VerifySeal(keyID, []byte("root"), signature),
	} {
		if !errors.Is(err, holdshort.MACInvalid) || holdshort.HintOf(err) == "" {
			t.Errorf("%s: got %v, want mac_invalid", name, err)
		}
	}
}

func TestKeyringIsSafeForManyAtOnce(t *testing.T) {
	k := keyring(t, "one "+secretOne)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			d, err := k.SignDecision("acme", approval())
			if err != nil || k.VerifyDecision("acme", d) != nil {
				t.Errorf("signer %d: %v", i, err)
			}
			if len(k.Rotate().KeyIDs()) != 2 || k.TenantHash("acme", "args", nil) == "" || len(k.Marshal()) == 0 {
				t.Errorf("signer %d: the keyring changed", i)
			}
		})
	}
	all.Wait()
}

func FuzzParseKeyring(f *testing.F) {
	f.Add([]byte("one " + secretOne + "\n# two\ntwo " + secretTwo))
	f.Add([]byte("one"))
	f.Add([]byte("\ufeff# x\r\n a\tb "))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := holdshort.ParseKeyring(text)
		if err != nil {
			if !errors.Is(err, holdshort.Invalid) || holdshort.HintOf(err) == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		back, err := holdshort.ParseKeyring(k.Marshal())
		if err != nil || !bytes.Equal(back.Marshal(), k.Marshal()) {
			t.Fatalf("%s came back as %v, %v", k, back, err)
		}
	})
}
