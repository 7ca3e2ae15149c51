package sqldb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/words"
)

// The store's notes on its index of words.
const (
	searchMode  = "search_mode"  // how words are written: the tokeniser's version, and plain or the id of a key
	searchTo    = "search_to"    // position of the last event that was looked at
	searchRows  = "search_rows"  // number of the last row that was indexed (SQLite)
	searchProbe = "search_probe" // and its id, to find out when somebody has numbered the rows anew
	searchFill  = "search_fill"  // how far what was there before has come (PostgreSQL)
	plainWords  = "plain"
)

// lexicon writes words as terms of the index. Where payloads are encrypted it writes keyed digests: nobody reads words out of the file.
type lexicon struct {
	mode string
	key  []byte // nil: as they are
}

// lexicon gives the one that the index was made with, or, if that is not to be had, the one to make it anew with.
func (db *DB) lexicon(mode string) (*lexicon, error) {
	version := strconv.Itoa(words.Version) + ":"
	if db.Codec == nil {
		return &lexicon{mode: version + plainWords}, nil
	}
	if db.Keyring == nil {
		return nil, &holdshort.Error{Code: holdshort.KeyUnknown, Op: "search", Message: "the store was opened without a keyring", Hint: "configure the keyring file"}
	}
	id := strings.TrimPrefix(mode, version)
	if !slices.Contains(db.Keyring.KeyIDs(), id) {
		id = db.Keyring.SigningKeyID()
	}
	key, err := db.Keyring.PayloadKey(id)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte("holdshort-search-1"))
	return &lexicon{mode: version + id, key: h.Sum(nil)}, nil
}

// digest is a short name of a text.
func (l *lexicon) digest(purpose byte, tenant holdshort.TenantID, text string) string {
	h := sha256.New()
	if l.key != nil {
		h = hmac.New(sha256.New, l.key)
	}
	h.Write([]byte{purpose})
	h.Write([]byte(tenant))
	h.Write([]byte{0})
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// vocabulary is the lexicon of one tenant: nobody's words lie among another's.
type vocabulary struct {
	*lexicon
	tenant holdshort.TenantID
	code   string
}

func (l *lexicon) of(tenant holdshort.TenantID) vocabulary {
	return vocabulary{l, tenant, l.digest('t', tenant, "")[:6]}
}

func (v vocabulary) term(purpose byte, text string) string {
	if v.key != nil {
		text = v.digest(purpose, v.tenant, text)
	}
	return v.code + string(purpose) + text
}

func (v vocabulary) word(w string) string   { return v.term('w', w) }
func (v vocabulary) prefix(p string) string { return v.term('p', p) }
func (v vocabulary) sight(s string) string  { return v.code + "s" + v.digest('s', v.tenant, s) }

// facet names what makes requests alike.
func (v vocabulary) facet(r *holdshort.Request) string {
	if len(r.Actions) == 0 {
		return ""
	}
	return v.digest('f', v.tenant, r.Actions[0].Tool+"\x00"+r.Rule)
}

// entry is a request with what is searched beside it.
type entry struct {
	holdshort.Request
	agent, flow string
	number      int64    // of its row, on SQLite
	terms       []string // when they are to be forgotten
}

func (e *entry) document() words.Document {
	names := make([]string, 0, 4+len(e.Actions))
	names = append(names, e.Rule, e.agent, e.flow)
	for i := range e.Actions {
		names = append(names, e.Actions[i].Tool)
	}
	return words.Of([]string{e.Code, e.Requester.User, e.Question}, names)
}

// readable: it is neither erased nor damaged. What is not has no words.
func (e *entry) readable() bool { return e.Fingerprint != "" || e.Question != "" }

// terms are what the request is found by. They come from what was written once, so that they can be told again when it is to be forgotten.
func (v vocabulary) terms(e *entry) []string {
	out := e.document().Terms(v.word, v.prefix)
	for _, s := range store.Sights(&e.Request) {
		out = append(out, v.sight(s))
	}
	return out
}

// expression says in the words of a database what is looked for: one of each list.
func expression(lists [][]string, quote, or, and string) string {
	all := make([]string, 0, len(lists))
	for _, any := range lists {
		quoted := make([]string, len(any))
		for i, term := range any {
			quoted[i] = quote + term + quote
		}
		all = append(all, "("+strings.Join(quoted, or)+")")
	}
	return strings.Join(all, and)
}

// expression for the database at hand.
func (db *DB) expression(lists [][]string) string {
	if db.Dialect == SQLite {
		return expression(lists, `"`, " OR ", " AND ")
	}
	return expression(lists, "'", " | ", " & ")
}
