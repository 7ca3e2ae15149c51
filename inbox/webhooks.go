package inbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (in *Inbox) webhookRoutes() {
	const one = "/settings/webhooks/{id}"
	in.show("/settings/webhooks", policy.ManageWebhooks, (*visit).serveWebhooks)
	in.act("/settings/webhooks", policy.ManageWebhooks, (*visit).createWebhook)
	in.show(one, policy.ManageWebhooks, (*visit).serveWebhook)
	in.act(one+"/rotate", policy.ManageWebhooks, (*visit).rotateWebhook)
	does := func(name, said string, do func(*visit, context.Context, holdshort.WebhookID) error) {
		in.act(one+"/"+name, policy.ManageWebhooks, func(v *visit) error { return v.changeWebhook(said, do) })
	}
	does("enable", "enabled", func(v *visit, ctx context.Context, id holdshort.WebhookID) error {
		_, err := v.engine.SetWebhook(ctx, v.tenant(), id, true, v.actor())
		return err
	})
	does("disable", "disabled", func(v *visit, ctx context.Context, id holdshort.WebhookID) error {
		_, err := v.engine.SetWebhook(ctx, v.tenant(), id, false, v.actor())
		return err
	})
	does("test", "tested", func(v *visit, ctx context.Context, id holdshort.WebhookID) error {
		_, err := v.engine.TestWebhook(ctx, v.tenant(), id, v.actor())
		return err
	})
	does("delete", "deleted", func(v *visit, ctx context.Context, id holdshort.WebhookID) error {
		return v.engine.DeleteWebhook(ctx, v.tenant(), id, v.actor())
	})
	does("deliveries/{delivery}/redeliver", "redelivered", func(v *visit, ctx context.Context, id holdshort.WebhookID) error {
		_, err := v.engine.RedeliverWebhook(ctx, v.tenant(), id, holdshort.DeliveryID(v.r.PathValue("delivery")), v.actor())
		return err
	})
}

// webhooksPage lists where events go.
type webhooksPage struct {
	Tabs    []tab
	Said    string
	Made    *madeSecret
	Refused *refused
	Once    string
	Form    webhookForm
	List    []webhookRow
	Names   []string // events that there are
}

type webhookForm struct{ URL, Events, Wrong string }

type webhookRow struct {
	ID, URL, Off, By string
	Events           []string
	Created, Updated time.Time
}

func webhookRowOf(w holdshort.Webhook) webhookRow {
	row := webhookRow{ID: string(w.ID), URL: w.URL, Events: w.Events, By: makerWords(w.CreatedBy), Created: w.CreatedAt, Updated: w.UpdatedAt}
	switch w.Disabled {
	case "":
	case holdshort.WebhookGone:
		row.Off = "off: its receiver said that it is gone"
	default:
		row.Off = "off"
	}
	return row
}

func (v *visit) serveWebhooks() error {
	if err := v.must(policy.ManageWebhooks); err != nil {
		return err
	}
	return v.drawWebhooks(http.StatusOK, webhooksPage{Said: saidOf(v.r.URL.Query().Get("said"))})
}

func (v *visit) drawWebhooks(status int, p webhooksPage) error {
	list, err := v.engine.Webhooks(v.ctx, v.tenant())
	if err != nil {
		return err
	}
	p.Tabs, p.Once, p.Names = v.tabs(), newOnce(), holdshort.EventNames
	for _, w := range list {
		p.List = append(p.List, webhookRowOf(w))
	}
	return v.page(status, "webhooks", "Webhooks", struct {
		webhooksPage
		One *webhookPage
	}{p, nil})
}

func (v *visit) createWebhook() error {
	if err := v.must(policy.ManageWebhooks); err != nil {
		return err
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	made, err := v.makeWebhook(form)
	if err != nil {
		why := refusalOf(err)
		if why.Status >= http.StatusInternalServerError {
			return err
		}
		return v.drawWebhooks(why.Status, webhooksPage{Refused: &why, Form: webhookForm{form.Get("url"), form.Get("events"), fieldOf(err)}})
	}
	return v.drawWebhooks(http.StatusOK, webhooksPage{Made: made})
}

func (v *visit) makeWebhook(form url.Values) (*madeSecret, error) {
	in := engine.CreateWebhookInput{ID: holdshort.NewWebhookID(v.now), URL: strings.TrimSpace(form.Get("url")), Events: namesIn(strings.ReplaceAll(form.Get("events"), " ", ",")), Actor: v.actor()}
	ctx, err := v.formOnce(form, string(in.ID))
	if err != nil {
		return nil, err
	}
	w, err := v.engine.CreateWebhook(ctx, v.tenant(), in)
	if _, again := doneBefore(err); again {
		return &madeSecret{Title: "The webhook was made already", Again: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return &madeSecret{Title: "The webhook is made", Secret: w.Secrets[0].Secret, Use: "the key that its signatures are checked with"}, nil
}

// webhookPage is one webhook with what was sent to it.
type webhookPage struct {
	webhookRow
	Deliveries []deliveryRow
	More       string // address of those before
	Old        bool   // not the newest ones
}

type deliveryRow struct {
	ID, Event, Status, Tone string
	Attempts                int
	Code                    int    // what the receiver answered last
	Error                   string // why it was not taken
	Log                     []attemptRow
	Created, Sent           time.Time
	Next                    string // in how long it is tried again
	Again                   bool   // it can be sent once more
}

type attemptRow struct {
	At    time.Time
	Code  int
	Error string
}

func (v *visit) serveWebhook() error { return v.drawWebhook(http.StatusOK, nil, nil) }

func (v *visit) drawWebhook(status int, made *madeSecret, refusal *refused) error {
	if err := v.must(policy.ManageWebhooks); err != nil {
		return err
	}
	id := holdshort.WebhookID(v.r.PathValue("id"))
	w, err := v.engine.WebhookByID(v.ctx, v.tenant(), id)
	if err != nil {
		return err
	}
	cursor := v.r.URL.Query().Get("cursor")
	found, err := v.engine.WebhookDeliveries(v.ctx, v.tenant(), engine.WebhookDeliveriesQuery{Webhook: id, Cursor: cursor, Limit: rowsShown})
	if err != nil {
		return err
	}
	one := &webhookPage{webhookRow: webhookRowOf(w), Old: cursor != ""}
	for _, d := range found.Items {
		one.Deliveries = append(one.Deliveries, deliveryRowOf(d, v.now))
	}
	if found.Next != "" {
		one.More = "/settings/webhooks/" + url.PathEscape(string(id)) + "?cursor=" + url.QueryEscape(found.Next)
	}
	return v.page(status, "webhooks", "Webhook", struct {
		webhooksPage
		One *webhookPage
	}{webhooksPage{Tabs: v.tabs(), Said: saidOf(v.r.URL.Query().Get("said")), Made: made, Refused: refusal, Once: newOnce()}, one})
}

// deliveryTones of where a delivery stands.
var deliveryTones = map[holdshort.DeliveryStatus]string{holdshort.DeliverySent: "yes", holdshort.DeliveryDead: "no", holdshort.DeliveryParked: "hold"}

func deliveryRowOf(d holdshort.Delivery, now time.Time) deliveryRow {
	row := deliveryRow{ID: string(d.ID), Event: eventOfBody(d.Body), Status: string(d.Status), Tone: deliveryTones[d.Status], Attempts: d.Attempt, Error: d.LastError, Created: d.CreatedAt, Sent: d.SentAt}
	for _, a := range slices.Backward(d.Log) {
		row.Log = append(row.Log, attemptRow{a.At, a.Status, a.Error})
	}
	switch d.Status {
	case holdshort.DeliverySent:
		row.Again, row.Error = true, ""
	case holdshort.DeliveryDead, holdshort.DeliveryParked:
		row.Again = true
	case holdshort.DeliveryQueued:
		if d.Attempt > 0 && d.DueAt.After(now) {
			row.Next = span(d.DueAt.Sub(now))
		}
	}
	if row.Error != "" && len(row.Log) > 0 {
		row.Code = row.Log[0].Code
	}
	return row
}

// changeWebhook does one thing with a webhook, once for a drawn form.
func (v *visit) changeWebhook(word string, do func(*visit, context.Context, holdshort.WebhookID) error) error {
	if err := v.must(policy.ManageWebhooks); err != nil {
		return err
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	id := holdshort.WebhookID(v.r.PathValue("id"))
	ctx, err := v.formOnce(form, string(id))
	if err != nil {
		return err
	}
	if word == "deleted" && form.Get("sure") != string(id) { // only the button behind the question has it
		return &holdshort.Error{Code: holdshort.Invalid, Field: "sure", Message: "deleting was not confirmed", Hint: "open the webhook and press Delete"}
	}
	err = do(v, ctx, id)
	if _, again := doneBefore(err); again {
		err = nil
	}
	if err != nil {
		if why := refusalOf(err); why.Status == http.StatusConflict { // what stands in the way is on the page
			return v.drawWebhook(why.Status, nil, &why)
		}
		return err
	}
	if word == "deleted" {
		return v.redirect("/settings/webhooks?said=deleted")
	}
	return v.redirect("/settings/webhooks/" + url.PathEscape(string(id)) + "?said=" + word)
}

func (v *visit) rotateWebhook() error {
	if err := v.must(policy.ManageWebhooks); err != nil {
		return err
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	id := holdshort.WebhookID(v.r.PathValue("id"))
	ctx, err := v.formOnce(form, string(id))
	if err != nil {
		return err
	}
	w, err := v.engine.RotateWebhook(ctx, v.tenant(), id, v.actor())
	made := &madeSecret{Title: "The webhook has a new secret", Use: "the one before it signs too for 24 hours"}
	if _, again := doneBefore(err); again {
		made.Again, err = true, nil
	}
	if err != nil {
		return err
	}
	if len(w.Secrets) > 0 && !made.Again {
		made.Secret = w.Secrets[0].Secret
	}
	return v.drawWebhook(http.StatusOK, made, nil)
}

// eventOfBody is the name of the event that a delivery carries.
func eventOfBody(body json.RawMessage) string {
	var notice struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(body, &notice) != nil {
		return ""
	}
	return notice.Type
}
