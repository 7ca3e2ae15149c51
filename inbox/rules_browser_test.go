package inbox

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/internal/testall"
)

// seenBy serves the pages to one person, as a cookie would.
func (b *rulesBed) seenBy(who string) string {
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Test-Who", who)
		b.in.ServeHTTP(w, r)
	}))
	b.t.Cleanup(func() { // live pages hold on
		front.CloseClientConnections()
		front.Close()
	})
	return front.URL
}

// The pages of rules and figures in every look: nothing in anybody's way, nothing wider than the screen.
func TestRulesInABrowser(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	b.live(80)
	url, chrome := b.seenBy("adm"), browser.Start(t)
	looks := map[string]browser.Look{"dark on a phone": {Phone: true, Dark: true}}
	if testall.Enabled() { // TestEveryPage visits these pages in the other looks
		looks["light"], looks["right to left"] = browser.Look{}, browser.Look{Language: "he"}
	}
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			tab := chrome.Tab(t, look)
			fits := func() {
				t.Helper()
				if wide := browser.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("the page is %d px too wide", wide)
				}
				if look.Language != "" { // the colours are the same
					return
				}
				if found := tab.Barriers(t); len(found) > 0 {
					t.Errorf("%+v", found)
				}
			}
			tab.Open(url + "/overview?period=30d")
			tab.Shows("#chart-times", "Half of the decisions take under")
			if drawn := browser.Eval[bool](tab, `[...document.querySelectorAll("#chart-times .fill")].some(r => r.getBoundingClientRect().width > 20)`); !drawn {
				t.Error("the bars have no length")
			}
			fits()
			tab.Open(url + "/policy")
			tab.Type("#try-tool", "refund")
			browser.Eval[bool](tab, `(document.getElementById("try-args").value = '{"amount":900}', true)`)
			tab.Click("#try-form button")
			tab.Shows("#try-form .verdict", "Rule 4, “big”")
			browser.Eval[bool](tab, `(document.getElementById("replay-rules").value = '[{"Name":"all","When":"true","Then":{"Decision":"allow"}}]', true)`)
			tab.Click("#replay-form button[type=submit]")
			tab.Shows("#replayed", "asked less")
			fits()
		})
	}
	plain := chrome.Tab(t, browser.Look{NoScript: true})
	plain.Open(url + "/policy")
	plain.Type("#try-tool", "erase")
	plain.Click("#try-form button")
	plain.Shows(".verdict", "It would be denied")
}

// A replay can be called off, and then nothing of it goes on.
func TestReplayCalledOffInABrowser(t *testing.T) {
	t.Parallel()
	slow := slowRules{began: make(chan struct{}), ended: make(chan struct{})}
	b := newRulesBed(t, func(o *Options) {
		slow.asTheyAre = o.Rules
		o.Rules = slow
	})
	url := b.seenBy("adm") // before the tab: it is closed after it
	tab := browser.Start(t).Tab(t, browser.Look{})
	tab.Open(url + "/policy")
	tab.Type("#replay-rules", "x")
	tab.Click("#replay-form button[type=submit]")
	<-slow.began
	tab.Wait(`document.querySelector("#replay-form button[type=submit]").disabled`)
	tab.Click("#replay-form [data-cancel]")
	tab.Shows("#replayed", "Canceled. Nothing was changed.")
	<-slow.ended
	tab.Wait(`!document.querySelector("#replay-form button[type=submit]").disabled && document.querySelector("[data-cancel]").hidden`)
}
