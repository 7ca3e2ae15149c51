package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Excerpt is the end of the conversation that a request comes from.
type Excerpt struct {
	Session  holdshort.Session   `json:"session"`
	Messages []holdshort.Message `json:"messages"` // oldest first
	More     bool                `json:"more"`     // there is more before
	Whole    bool                `json:"whole"`    // they may see the session itself
}

// Excerpt gives the last of what was said in a request's session: to those who see the session, and to those who have to decide the request.
// The latter see what was said before it was asked, with what the request withholds from them withheld here too; nobody else sees anything.
func (e *Engine) Excerpt(ctx context.Context, tenant holdshort.TenantID, req holdshort.Request, actor holdshort.Actor, most int) (Excerpt, error) {
	out, err := view(ctx, e, tenant, func(tx store.ReadTx) (out Excerpt, err error) {
		if req.SessionID == "" {
			return out, nil
		}
		if req, err = tx.Request(req.ID); err != nil { // with its arguments as they are, whatever the caller was shown
			return out, err
		}
		session, err := tx.Session(req.SessionID)
		if holdshort.CodeOf(err) == holdshort.NotFound || err == nil && erased(session) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out.Whole, _ = policy.Can(policy.View, actor, policy.Resource{Owner: session.User})
		decides, _ := policy.Can(policy.Decide, actor, policy.Resource{Audience: req.Audience, Owner: req.Requester.User, Requester: req.Requester})
		if !out.Whole && !decides {
			return out, nil
		}
		page, err := tx.Messages(store.MessageQuery{Session: req.SessionID, Newest: true, Limit: store.MaxPage})
		if err != nil {
			return out, err
		}
		out.Session, out.Messages, out.More = session, page.Items, page.Next != ""
		return out, nil
	})
	if err != nil {
		return out, err
	}
	out.Messages = slices.DeleteFunc(out.Messages, func(m holdshort.Message) bool {
		return m.Type == holdshort.TypeSuppressed || m.Role == holdshort.RoleSystem || m.Role == holdshort.RoleTool || m.RequestID == req.ID || !out.Whole && m.CreatedAt.After(req.CreatedAt)
	})
	if n := len(out.Messages); n > most {
		out.Messages, out.More = out.Messages[n-most:], true
	}
	secrets := withheldFrom(req)
	for i := range out.Messages {
		if out.Messages[i] = e.shown(ctx, tenant, out.Messages[i]); !out.Whole {
			out.Messages[i].Parts = secrets.without(out.Messages[i].Parts)
		}
	}
	if !out.Whole {
		out.Session = holdshort.Session{ID: out.Session.ID, Channel: out.Session.Channel, Language: out.Session.Language}
	}
	return out, nil
}

// secretTexts are texts and numbers that a request withholds. They are found by how they begin: many cost little more than few.
type secretTexts struct {
	known   map[string]bool
	lengths map[rune][]int // of those that begin with a letter, the longest first
}

func withheldFrom(req holdshort.Request) secretTexts {
	s := secretTexts{map[string]bool{}, map[rune][]int{}}
	for _, a := range req.Actions {
		if len(a.Redacted) == 0 {
			continue
		}
		shown := map[string]bool{}
		scalars(holdshort.Redact(a.Args, a.Redacted), func(text string) { shown[text] = true })
		scalars(a.Args, func(text string) {
			if !shown[text] && len(text) >= shortSecret {
				s.add(text)
			}
		})
	}
	for _, lengths := range s.lengths {
		slices.SortFunc(lengths, func(a, b int) int { return b - a })
	}
	return s
}

// shortSecret is the least length of what is looked for: shorter ones are in every text.
const shortSecret = 3

func (s secretTexts) add(text string) {
	folded, _ := foldText(text)
	first, _ := utf8.DecodeRuneInString(folded)
	if s.known[folded] = true; !slices.Contains(s.lengths[first], len(folded)) {
		s.lengths[first] = append(s.lengths[first], len(folded))
	}
}

func scalars(raw json.RawMessage, tell func(string)) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch token := token.(type) {
		case string:
			tell(token)
		case json.Number:
			tell(token.String())
		}
	}
}

// without gives parts in which secrets are withheld, however they are written. Files and data are left out: nobody looks into them.
func (s secretTexts) without(parts []holdshort.Part) (out []holdshort.Part) {
	if len(s.known) == 0 {
		return parts
	}
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, holdshort.Part{Type: p.Type, Text: s.hide(p.Text)})
		}
	}
	return out
}

func (s secretTexts) hide(text string) string {
	var b strings.Builder
	folded, from := foldText(text)
	for i := 0; i < len(folded); {
		first, size := utf8.DecodeRuneInString(folded[i:])
		j := slices.IndexFunc(s.lengths[first], func(n int) bool { return i+n <= len(folded) && s.known[folded[i:i+n]] })
		if j >= 0 {
			b.WriteString(Withheld)
			i += s.lengths[first][j]
			continue
		}
		b.WriteString(text[from[i]:from[i+size]])
		i += size
	}
	return b.String()
}

// foldText writes every letter as the first of those that differ from it in case alone, and says where each place of it was in the text.
func foldText(text string) (folded string, from []int) {
	var b strings.Builder
	for i, r := range text {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		b.WriteRune(least)
		for len(from) < b.Len() {
			from = append(from, i)
		}
	}
	return b.String(), append(from, len(text))
}
