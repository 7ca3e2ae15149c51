package inbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/internal/testall"
)

// Nothing that can be written into the address of a list makes it fail.
func TestAttackAddresses(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	b.indexed(b.start("mail", `{"to":"a@example.org","body":"x"}`), "mail.send")
	odd := []string{`"`, `'`, `*`, `a*`, `a OR b`, `NEAR(a b, 2)`, `a AND NOT b`, `^a`, `words:a`, "\x00", "a\x00b", "\xff\xfe", "\\", `'; DROP TABLE requests; --`, `(`, `)`, `a:*`, `!a`, `a & b | c`, `<->`, `{}`, "\u202e", "ÅÄÖ", "漢字", "👍🏽",
		"req_", "req_%", "req_'", "run_\\", "ses_\U0010ffff", strings.Repeat("a", 20000), strings.Repeat("a b ", 5000), strings.Repeat("word ", 3) + strings.Repeat("x", 300), strings.Repeat("é", 2000), strings.Repeat("\u0301", 3000)}
	many := ""
	for i := range 3000 {
		many += "w" + strings.Repeat(string(rune('a'+i%26)), 1+i%7) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + " "
	}
	odd = append(odd, many)
	check := func(path string) {
		t.Helper()
		if got := b.call("ana", "GET", path, nil, "HX-Request", ""); got.status >= http.StatusInternalServerError {
			t.Errorf("%.120s: %d %.200s", path, got.status, got.body)
		}
	}
	const share = 4
	for i, text := range odd {
		// Each address gets every fourth text, and each text every fourth address.
		sampled := func(j int) bool { return testall.Enabled() || (i+j)%share == 0 }
		q := url.QueryEscape(text)
		for j, path := range []string{"/?q=", "/?view=decided&q=", "/?kind=", "/?priority=", "/?sort=", "/?cursor=", "/?view=decided&cursor=", "/?view=mine&q=", "/?part=row&id=", "/runs?name=", "/runs?cursor=", "/runs?session=", "/sessions?user=", "/sessions?cursor=",
			"/sessions?agent=", "/audit?type=", "/audit?actor=", "/audit?request=", "/audit?run=", "/audit?session=", "/audit?since=", "/audit?before=", "/policy?rule=", "/overview?period=", "/settings?said=", "/settings/webhooks?said="} {
			if sampled(j) {
				check(path + q)
			}
		}
		p := url.PathEscape(text)
		if len(text) < 3000 {
			for j, path := range []string{"/requests/", "/runs/", "/sessions/", "/playground/", "/r/", "/settings/webhooks/"} {
				if sampled(j) {
					check(path + p)
				}
			}
		}
	}
}
