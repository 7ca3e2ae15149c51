package inbox_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// TestWebhookLife: made, tested, turned off and on, given another secret, deleted; each secret is shown once, each form is done once.
func TestWebhookLife(t *testing.T) {
	d := newLinkBed(t)
	first := url.Values{"url": {"https://hooks.example.org/x?a=1"}, "events": {"hitl.request.*, run.failed"}, "once": {d.page(t, ada, "/settings/webhooks", nil).once(t)}}
	made := d.page(t, ada, "/settings/webhooks", first)
	secret := secretOn(t, made)
	if made.status != 200 || !strings.HasPrefix(secret, "whsec_") || made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", made.status, secret)
	}
	if again := d.page(t, ada, "/settings/webhooks", first); again.status != 200 || strings.Contains(again.body, "whsec_") || !strings.Contains(again.body, "not shown again") {
		t.Errorf("again: %d", again.status)
	}
	list, err := d.engine.Webhooks(t.Context(), bedTenant)
	if err != nil || len(list) != 1 || len(list[0].Events) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	hook := "/settings/webhooks/" + string(list[0].ID)
	send := func(name string, more url.Values) bedAnswer {
		form := url.Values{"once": {d.page(t, olga, hook, nil).once(t)}}
		for k, v := range more {
			form[k] = v
		}
		answer := d.page(t, olga, hook+"/"+name, form)
		if twice := d.page(t, olga, hook+"/"+name, form); twice.status != answer.status && name != "delete" {
			t.Errorf("%s twice: %d, then %d", name, answer.status, twice.status)
		}
		return answer
	}
	if a := send("test", nil); a.status != 303 || a.header.Get("Location") != hook+"?said=tested" {
		t.Errorf("%d %v", a.status, a.header)
	}
	sent, err := d.engine.WebhookDeliveries(t.Context(), bedTenant, engine.WebhookDeliveriesQuery{Webhook: list[0].ID})
	if err != nil || len(sent.Items) != 1 {
		t.Fatalf("a double click sent %d tests: %v", len(sent.Items), err)
	}
	if page := d.page(t, olga, hook+"?said=tested", nil); !strings.Contains(page.body, "webhook.tested") || !strings.Contains(page.body, string(sent.Items[0].ID)) || !strings.Contains(page.body, "A test is on its way") {
		t.Errorf("%s", page.body)
	}
	if a := send("disable", nil); a.status != 303 || !strings.Contains(d.page(t, olga, hook, nil).body, "Turn on") {
		t.Errorf("%d", a.status)
	}
	if a := send("test", nil); a.status != 409 || !strings.Contains(a.body, "Not done: the webhook is off") {
		t.Errorf("a test of one that is off: %d", a.status)
	}
	if a := send("enable", nil); a.status != 303 {
		t.Errorf("%d", a.status)
	}
	rotated := d.page(t, olga, hook+"/rotate", url.Values{"once": {"r1"}})
	other := secretOn(t, rotated)
	if rotated.status != 200 || other == secret || !strings.HasPrefix(other, "whsec_") {
		t.Errorf("%d", rotated.status)
	}
	if again := d.page(t, olga, hook+"/rotate", url.Values{"once": {"r1"}}); again.status != 200 || strings.Contains(again.body, "whsec_") {
		t.Errorf("rotated again: %d", again.status)
	}
	for _, s := range []string{secret, other} {
		for _, path := range []string{hook, "/settings/webhooks", "/audit"} {
			if strings.Contains(d.page(t, ada, path, nil).body, s) || strings.Contains(d.log.String(), s) {
				t.Errorf("a secret is on %s or in the log", path)
			}
		}
	}
	if a := d.page(t, olga, hook+"/delete", url.Values{"once": {"x"}}); a.status != 400 {
		t.Errorf("deleted without a question: %d", a.status)
	}
	if a := send("delete", url.Values{"sure": {string(list[0].ID)}}); a.status != 303 || a.header.Get("Location") != "/settings/webhooks?said=deleted" {
		t.Errorf("%d", a.status)
	}
	n := d.events(t)
	for name, want := range map[string]int{"webhook.created": 1, "webhook.tested": 1, "webhook.disabled": 1, "webhook.enabled": 1, "webhook.rotated": 1, "webhook.deleted": 1} {
		if n[name] != want {
			t.Errorf("%s happened %d times", name, n[name])
		}
	}
}

// TestWebhookForm: what cannot be sent to is refused, with what was typed still there.
func TestWebhookForm(t *testing.T) {
	d := newLinkBed(t)
	for name, form := range map[string]url.Values{
		"no address": {"url": {"nowhere"}}, "a password": {"url": {"https://a:b@hooks.example.org"}}, "unknown event": {"url": {"https://hooks.example.org"}, "events": {"no.such.event"}},
		"script": {"url": {`javascript:alert(1)`}},
	} {
		form.Set("once", "o"+name)
		if a := d.page(t, ada, "/settings/webhooks", form); a.status != 400 || !strings.Contains(a.body, "Not done") || strings.Contains(a.body, `href="javascript`) {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if list, err := d.engine.Webhooks(t.Context(), bedTenant); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

// TestWebhookRedeliver: a delivery can be sent again by whoever may, of its own webhook alone, once for a click.
func TestWebhookRedeliver(t *testing.T) {
	d := newLinkBed(t)
	_, _, hook := d.furnish(t)
	address := "/settings/webhooks/" + hook
	d.page(t, ada, address+"/test", url.Values{"once": {"t"}})
	dead := func(attempts int) holdshort.Delivery {
		var last holdshort.Delivery
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			sent, err := d.engine.WebhookDeliveries(t.Context(), bedTenant, engine.WebhookDeliveriesQuery{Webhook: holdshort.WebhookID(hook)})
			if err != nil {
				t.Fatal(err)
			}
			of := slices.IndexFunc(sent.Items, func(d holdshort.Delivery) bool { return strings.Contains(string(d.Body), "webhook.tested") }) // it hears of the rest too
			if of < 0 {
				continue
			}
			if last = sent.Items[of]; last.Status == holdshort.DeliveryDead && len(last.Log) == attempts {
				return last
			}
		}
		t.Fatalf("it does not fail: %+v", last)
		return last
	}
	delivery := dead(1)
	if page := d.page(t, ada, address, nil); !strings.Contains(page.body, "the receiver said &lt;b&gt;no&lt;/b&gt;") || !strings.Contains(page.body, `<span class="badge no">dead</span>`) || strings.Contains(page.body, "<b>no</b>") {
		t.Errorf("%s", page.body)
	}
	again := address + "/deliveries/" + string(delivery.ID) + "/redeliver"
	if a := d.page(t, ada, again, url.Values{"once": {"a"}}); a.status != 303 {
		t.Errorf("%d %s", a.status, a.body)
	}
	dead(2)
	if a := d.page(t, ada, again, url.Values{"once": {"a"}}); a.status != 303 { // the same click once more
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := dead(2); len(a.Log) != 2 {
		t.Errorf("a double click sent it %d times", len(a.Log)-1)
	}
	if a := d.page(t, ada, "/settings/webhooks/whk_other/deliveries/"+string(delivery.ID)+"/redeliver", url.Values{"once": {"b"}}); a.status != 404 {
		t.Errorf("of another webhook: %d", a.status)
	}
}
