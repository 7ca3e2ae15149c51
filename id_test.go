package holdshort_test

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"pgregory.net/rapid"
)

var makers = map[string]func(time.Time) string{
	"ses_": func(at time.Time) string { return string(holdshort.NewSessionID(at)) },
	"msg_": func(at time.Time) string { return string(holdshort.NewMessageID(at)) },
	"run_": func(at time.Time) string { return string(holdshort.NewRunID(at)) },
	"req_": func(at time.Time) string { return string(holdshort.NewRequestID(at)) },
	"dec_": func(at time.Time) string { return string(holdshort.NewDecisionID(at)) },
	"evt_": func(at time.Time) string { return string(holdshort.NewEventID(at)) },
	"dlv_": func(at time.Time) string { return string(holdshort.NewDeliveryID(at)) },
	"inb_": func(at time.Time) string { return string(holdshort.NewInboundID(at)) },
	"key_": func(at time.Time) string { return string(holdshort.NewKeyID(at)) },
	"whk_": func(at time.Time) string { return string(holdshort.NewWebhookID(at)) },
}

var parsers = map[string]func(string) (string, error){
	"ses_": func(s string) (string, error) { id, err := holdshort.ParseSessionID(s); return string(id), err },
	"msg_": func(s string) (string, error) { id, err := holdshort.ParseMessageID(s); return string(id), err },
	"run_": func(s string) (string, error) { id, err := holdshort.ParseRunID(s); return string(id), err },
	"req_": func(s string) (string, error) { id, err := holdshort.ParseRequestID(s); return string(id), err },
	"dec_": func(s string) (string, error) { id, err := holdshort.ParseDecisionID(s); return string(id), err },
	"evt_": func(s string) (string, error) { id, err := holdshort.ParseEventID(s); return string(id), err },
	"dlv_": func(s string) (string, error) { id, err := holdshort.ParseDeliveryID(s); return string(id), err },
	"key_": func(s string) (string, error) { id, err := holdshort.ParseKeyID(s); return string(id), err },
	"whk_": func(s string) (string, error) { id, err := holdshort.ParseWebhookID(s); return string(id), err },
}

// number reads the 26 digits as one number of base 32, with math/big and its own alphabet.
func number(t interface{ Fatalf(string, ...any) }, body string) *big.Int {
	const crockford, plain = "0123456789abcdefghjkmnpqrstvwxyz", "0123456789abcdefghijklmnopqrstuv"
	digits := strings.Map(func(r rune) rune { return rune(plain[strings.IndexRune(crockford, r)]) }, body)
	n, ok := new(big.Int).SetString(digits, 32)
	if !ok || n.BitLen() > 128 {
		t.Fatalf("%q is not a number of 128 bits", body)
	}
	return n
}

func TestIDsAreUUIDsOfVersion7(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z]{3}_[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$`)
	for prefix, make := range makers {
		id := make(noon)
		if !shape.MatchString(id) || !strings.HasPrefix(id, prefix) {
			t.Errorf("%q has not the form %s…", id, prefix)
			continue
		}
		raw := number(t, id[4:]).FillBytes(make16())
		if ms := new(big.Int).SetBytes(raw[:6]).Int64(); ms != noon.UnixMilli() {
			t.Errorf("%s was made at %d, says %d", id, noon.UnixMilli(), ms)
		}
		if raw[6]>>4 != 7 || raw[8]>>6 != 2 {
			t.Errorf("%s has version %d and variant %d", id, raw[6]>>4, raw[8]>>6)
		}
		if fraction := int(raw[6]&15)<<8 | int(raw[7]); fraction != 456789*4096/1_000_000 {
			t.Errorf("%s has fraction %d", id, fraction)
		}
	}
}

func make16() []byte { return make([]byte, 16) }

func TestIDsSortByTime(t *testing.T) {
	first, last := time.Unix(0, 0).UnixNano(), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	rapid.Check(t, func(t *rapid.T) {
		a := time.Unix(0, rapid.Int64Range(first, last).Draw(t, "time"))
		b := a.Add(time.Duration(rapid.Int64Range(250, int64(24*time.Hour)).Draw(t, "later")))
		if one, two := holdshort.NewRunID(a), holdshort.NewRunID(b); one >= two {
			t.Fatalf("%s of %v is not before %s of %v", one, a, two, b)
		}
	})
}

func TestIDsAreUnique(t *testing.T) {
	seen := map[holdshort.RequestID]bool{}
	for range 10_000 {
		id := holdshort.NewRequestID(noon)
		if seen[id] {
			t.Fatalf("%s twice in one instant", id)
		}
		seen[id] = true
	}
}

func TestParseID(t *testing.T) {
	for prefix, parse := range parsers {
		id := makers[prefix](noon)
		if got, err := parse(id); err != nil || got != id {
			t.Errorf("%s: got %q, %v", id, got, err)
		}
		body := id[4:]
		wrong := []string{"", prefix, body, id + " ", " " + id, id + "0", id[:len(id)-1], strings.ToUpper(id), prefix + strings.ToUpper(body),
			prefix + "8" + body[1:], prefix + "z" + body[1:], id + "\n", id + "\x00", prefix + body[:25] + "é"[:1], prefix + prefix + body[4:],
			strings.Repeat("a", 100_000), prefix + strings.Repeat("é", 13)}
		for _, letter := range "ilou-_. /" {
			wrong = append(wrong, prefix+body[:25]+string(letter))
		}
		for other := range parsers {
			if other != prefix {
				wrong = append(wrong, other+body)
			}
		}
		for _, s := range wrong {
			got, err := parse(s)
			var e *holdshort.Error
			if !errors.As(err, &e) || got != "" || e.Code != holdshort.Invalid || e.Field != "id" || e.Hint == "" {
				t.Errorf("parse %.80q as %s: got %.80q, %v", s, prefix, got, err)
			} else if len(err.Error()) > 500 {
				t.Errorf("the error repeats %d bytes of the input", len(err.Error()))
			}
		}
	}
}

func TestParseTenantID(t *testing.T) {
	for _, s := range []string{"a", "acme", "acme-1.test_2", "0", strings.Repeat("a", 64)} {
		if got, err := holdshort.ParseTenantID(s); err != nil || string(got) != s {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "_system", string(holdshort.SystemTenant), "-a", ".a", "Acme", "a b", "a/b", "a:b", "é", "a\n", "a\x00", strings.Repeat("a", 65), strings.Repeat("é", 10_000)} {
		if got, err := holdshort.ParseTenantID(s); !errors.Is(err, holdshort.Invalid) || got != "" || len(err.Error()) > 500 {
			t.Errorf("%.80q: %q, %.200v", s, got, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add(string(holdshort.NewRunID(noon)))
	f.Add("run_")
	f.Add("run_8zzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := holdshort.ParseRunID(s)
		if err != nil {
			if !errors.Is(err, holdshort.Invalid) || id != "" {
				t.Fatalf("%q: %q, %v", s, id, err)
			}
			return
		}
		if string(id) != s || number(t, s[4:]).BitLen() > 128 || len(s) != 30 {
			t.Fatalf("accepted %q as %q", s, id)
		}
	})
}
