package inbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (in *Inbox) keyRoutes() {
	in.show("/settings/keys", policy.ManageKeys, (*visit).serveKeys)
	in.act("/settings/keys", policy.ManageKeys, (*visit).createKey)
	in.act("/settings/keys/{id}/revoke", policy.ManageKeys, (*visit).revokeKey)
}

// keysPage lists API keys. A secret is in it once: in the answer to the form that made it.
type keysPage struct {
	Tabs    []tab
	Said    string
	Made    *madeSecret
	Refused *refused
	Once    string
	Form    keyForm
	Keys    []keyRow
	Ended   int // revoked and expired ones
}

// madeSecret is a secret at the only moment when it is shown.
type madeSecret struct {
	Title, Secret, Use string
	Again              bool // the form was sent twice: the secret was in the first answer
}

type keyForm struct {
	Name, User, Roles, Expires string
	Wrong                      string // the field that does not fit
	Scopes                     []scopeBox
}

type scopeBox struct {
	Name, Help string
	On         bool
}

type keyRow struct {
	ID, Name, Prefix, For         string
	Roles, Scopes                 []string
	By                            string
	Created, Used, Expires, Ended time.Time
	State                         string // "": it works
	Soon                          bool   // it expires within a week
}

// scopes in the words of the page.
var scopeHelp = map[string]string{holdshort.ScopeView: "look", holdshort.ScopeRaise: "raise requests", holdshort.ScopeClaim: "claim what was approved", holdshort.ScopeDecide: "decide",
	holdshort.ScopeStart: "start runs", holdshort.ScopePost: "write messages", holdshort.ScopeManage: "assign, comment, cancel, retry, take over", holdshort.ScopeActAsUser: "speak for a user",
	holdshort.ScopeKeys: "manage keys", holdshort.ScopeWebhooks: "manage webhooks", holdshort.ScopeAudit: "read the audit log", holdshort.ScopeAdmin: "all of them"}

// keyLives are how long a key can last, as the form offers it.
var keyLives = map[string]time.Duration{"": 0, "1d": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour, "90d": 90 * 24 * time.Hour, "365d": 365 * 24 * time.Hour}

func (v *visit) serveKeys() error {
	if err := v.must(policy.ManageKeys); err != nil {
		return err
	}
	return v.drawKeys(http.StatusOK, keysPage{Said: saidOf(v.r.URL.Query().Get("said")), Form: keyForm{Expires: "90d"}}, nil)
}

func (v *visit) drawKeys(status int, p keysPage, scopes []string) error {
	list, err := v.engine.Keys(v.ctx, v.tenant())
	if err != nil {
		return err
	}
	p.Tabs, p.Once = v.tabs(), newOnce()
	for _, name := range holdshort.KeyScopes {
		p.Form.Scopes = append(p.Form.Scopes, scopeBox{name, scopeHelp[name], slices.Contains(scopes, name)})
	}
	for _, k := range list {
		row := keyRowOf(k, v.now)
		if row.State != "" {
			p.Ended++
		}
		p.Keys = append(p.Keys, row)
	}
	slices.SortStableFunc(p.Keys, func(a, b keyRow) int { // what works comes first
		switch {
		case (a.State == "") == (b.State == ""):
			return 0
		case a.State == "":
			return -1
		}
		return 1
	})
	return v.page(status, "keys", "Keys", p)
}

func keyRowOf(k holdshort.Key, now time.Time) keyRow {
	row := keyRow{ID: string(k.ID), Name: k.Name, Prefix: k.Prefix, For: k.User, Roles: k.Roles, Scopes: k.Scopes, By: makerWords(k.CreatedBy), Created: k.CreatedAt, Used: k.LastUsedAt, Expires: k.ExpiresAt}
	switch {
	case !k.RevokedAt.IsZero():
		row.State, row.Ended = "revoked", k.RevokedAt
	case !k.Live(now):
		row.State, row.Ended = "expired", k.ExpiresAt
	default:
		row.Soon = !k.ExpiresAt.IsZero() && k.ExpiresAt.Before(now.Add(7*24*time.Hour))
	}
	return row
}

// makerWords is what people call whoever made something.
func makerWords(actor string) string {
	if strings.HasPrefix(actor, "system:") || strings.HasPrefix(actor, "cli:") {
		return "the server"
	}
	return actor
}

// namesIn reads several names that somebody wrote into one field.
func namesIn(text string) (list []string) {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '\r' }) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// plainField refuses names that people could not tell apart.
func plainField(field string, texts ...string) error {
	for _, text := range texts {
		if hasOdd(text) || len(text) > 200 {
			return &holdshort.Error{Code: holdshort.Invalid, Field: field, Message: "the " + field + " has characters that cannot be seen, or is too long", Hint: "write it with plain letters"}
		}
	}
	return nil
}

func (v *visit) createKey() error {
	if err := v.must(policy.ManageKeys); err != nil {
		return err
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	made, err := v.makeKey(form)
	p := keysPage{Made: made, Form: keyForm{Expires: "90d"}}
	if err != nil {
		why := refusalOf(err)
		if why.Status >= http.StatusInternalServerError {
			return err
		}
		p.Refused, p.Form = &why, keyForm{Name: form.Get("name"), User: form.Get("user"), Roles: form.Get("roles"), Expires: form.Get("expires"), Wrong: fieldOf(err)}
		return v.drawKeys(why.Status, p, form["scope"])
	}
	return v.drawKeys(http.StatusOK, p, nil)
}

func (v *visit) makeKey(form url.Values) (*madeSecret, error) {
	in := engine.CreateKeyInput{ID: holdshort.NewKeyID(v.now), Name: strings.TrimSpace(form.Get("name")), User: strings.TrimSpace(form.Get("user")), Roles: namesIn(form.Get("roles")), Scopes: form["scope"],
		Actor: v.actor(), Within: v.who.Scopes}
	life, known := keyLives[form.Get("expires")]
	if !known {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "expires", Message: "that is no time after which a key can expire", Hint: "choose one of the list"}
	}
	in.ExpiresIn = life
	for field, texts := range map[string][]string{"name": {in.Name}, "user": {in.User}, "roles": in.Roles, "scopes": in.Scopes} {
		if err := plainField(field, texts...); err != nil {
			return nil, err
		}
	}
	ctx, err := v.formOnce(form, in.Name)
	if err != nil {
		return nil, err
	}
	key, secret, err := v.engine.CreateKey(ctx, v.tenant(), in)
	if name, again := doneBefore(err); again {
		return &madeSecret{Title: "The key “" + name + "” was made already", Again: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return &madeSecret{Title: "The key “" + key.Name + "” is made", Secret: secret, Use: "Authorization: Bearer"}, nil
}

func (v *visit) revokeKey() error {
	if err := v.must(policy.ManageKeys); err != nil {
		return err
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	id := v.r.PathValue("id")
	if form.Get("sure") != id { // only the button behind the question has it
		return &holdshort.Error{Code: holdshort.Invalid, Field: "sure", Message: "revoking was not confirmed", Hint: "open the keys and press Revoke"}
	}
	if _, err := v.engine.RevokeKey(v.ctx, v.tenant(), holdshort.KeyID(id), v.actor()); err != nil {
		return err
	}
	return v.redirect("/settings/keys?said=revoked")
}
