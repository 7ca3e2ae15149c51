package holdshort

import (
	"encoding/base64"
	"time"
)

// Webhook is where events are sent.
type Webhook struct {
	ID        WebhookID       `json:"id"`
	Revision  int64           `json:"-"`
	URL       string          `json:"url"`
	Events    []string        `json:"events,omitempty"` // globs over event names; none: all
	Secrets   []WebhookSecret `json:"-"`                // the first is the current one; all sign while they overlap
	Cursor    int64           `json:"-"`                // position of the last event that was looked at
	Disabled  Code            `json:"disabled,omitempty"`
	CreatedBy string          `json:"created_by"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// Why a webhook is off.
const (
	WebhookOff  Code = "off"  // somebody turned it off
	WebhookGone Code = "gone" // its receiver answered 410
)

// WebhookSecret signs what is sent: "whsec_" and base64.
type WebhookSecret struct {
	Secret string    `json:"secret"`
	Until  time.Time `json:"until,omitzero"` // zero: the current one
}

// SecretPrefix stands before every secret of a webhook.
const SecretPrefix = "whsec_"

// Signers are the secrets that sign at now, the current one first.
func (w Webhook) Signers(now time.Time) []string {
	var list []string
	for _, s := range w.Secrets {
		if s.Until.IsZero() || now.Before(s.Until) {
			list = append(list, s.Secret)
		}
	}
	return list
}

// Rotate puts a new secret in front. The one before it signs for overlap longer, so that a receiver can change over in its own time. A secret that
// comes back while it still signs is kept once.
func (w Webhook) Rotate(secret string, overlap time.Duration, now time.Time) Webhook {
	secrets := []WebhookSecret{{Secret: secret}}
	for _, s := range w.Secrets {
		if s.Until.IsZero() {
			s.Until = now.Add(overlap)
		}
		if now.Before(s.Until) && s.Secret != secret {
			secrets = append(secrets, s)
		}
	}
	w.Secrets, w.UpdatedAt = secrets, now
	return w
}

// CallbackSecrets are what callbacks to raiser are signed with: one for each key of the ring, the current one first. Nothing of them is stored,
// and what one raiser knows signs nothing for another.
func (k *Keyring) CallbackSecrets(tenant TenantID, raiser string) []string {
	list := make([]string, len(k.keys))
	for i, key := range k.keys {
		list[i] = SecretPrefix + base64.StdEncoding.EncodeToString(key.tenantHash(tenant, "callback", []byte(raiser)))
	}
	return list
}
