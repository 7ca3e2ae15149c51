package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/tool"
)

// world makes up calls and replies from words that the lists do not have, so that an independent look at the reply can say what it may have meant.
type world struct {
	*rand.Rand
	fields []string
	values map[string][]string
	faulty string
	call   call
}

var (
	fieldPool = []string{"shade", "shade_depth", "finish", "box.width", "box.lid", "wrap", "grade", "tier"}
	valuePool = []string{"1:1", "11:1", "1:11", "16:9", "ruby", "ruby red", "deep ruby", "teal", "us-east-1", "us-east-11", "x1", "x11", "A-3", "A-33", "matte_fine", "512px", "C++"}
)

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), values: map[string][]string{}}
	w.fields = append([]string(nil), fieldPool...)
	w.Shuffle(len(w.fields), func(i, j int) { w.fields[i], w.fields[j] = w.fields[j], w.fields[i] })
	w.fields = w.fields[:2+w.IntN(3)]
	root := map[string]any{}
	args := json.RawMessage("{}")
	for _, path := range w.fields {
		pool := append([]string(nil), valuePool...)
		w.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		w.values[path] = pool[:2+w.IntN(5)]
		at := root
		if outer, inner, nested := strings.Cut(path, "."); nested {
			if at[outer] == nil {
				at[outer] = map[string]any{"type": "object", "properties": map[string]any{}}
			}
			at[outer].(map[string]any)["properties"].(map[string]any)[inner] = map[string]any{"type": "string", "enum": w.values[path]}
		} else {
			at[path] = map[string]any{"type": "string", "enum": w.values[path]}
		}
		args, _ = put(args, strings.Split(path, "."), json.RawMessage(`"nothing yet"`))
	}
	w.faulty = w.fields[0]
	w.call.Schema, _ = json.Marshal(map[string]any{"type": "object", "properties": root})
	w.call.Args = args
	w.call.Fault = tool.Fault{Class: tool.Validation, Field: w.faulty, Message: "bad"}
	return w
}

func (w *world) one(from []string) string { return from[w.IntN(len(from))] }

var (
	plainWords = []string{"use", "please", "set", "to", "the", "it", "for", "and", "I want", "change it to", "ok", "תשתמש", "ל-", "בבקשה", "mude para", "por favor", "quero", "usa", "nimm", "bitte", "utilise", "value", "instead of", "from", "or"}
	denyWords  = []string{"not", "don't", "never", "no", "without", "except", "לא", "אל", "בלי", "não", "nunca", "sem", "sin", "pas", "nicht", "kein", "but"}
	oddWords   = []string{"hmm", "perhaps", "zebra", "tomorrow", "42", "why?", "?", "-", "~", "9:9", "@", "👎", "=", ":", "\"", "(", "ruby-ish", "\n"}
)

// reply makes up a reply; denies says that a denying word is in it.
func (w *world) reply() (text string, denies bool) {
	var parts []string
	for range 1 + w.IntN(6) {
		switch n := w.IntN(20); {
		case n < 7:
			parts = append(parts, w.one(w.values[w.one(w.fields)]))
		case n < 10:
			parts = append(parts, w.one(w.fields)+w.one([]string{"=", ": ", " ", " to "})+w.one(w.values[w.one(w.fields)]))
		case n < 17:
			parts = append(parts, w.one(plainWords))
		case n < 18:
			parts = append(parts, w.one(denyWords))
			denies = true
		default:
			parts = append(parts, w.one(oddWords))
		}
	}
	return strings.Join(parts, w.one([]string{" ", " ", ", ", "\n"})), denies
}

// letters are what is left of a text for a look that does not share any code with the reader.
func letters(text string) string {
	return strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(strings.ToLower(text))
}

func TestMadeUpReplies(t *testing.T) {
	patches, replies := 0, uint64(800)
	if testall.Enabled() {
		replies = 4000
	}
	for seed := range replies {
		w := newWorld(seed)
		text, denies := w.reply()
		p, err := Read(text, w.call.Fault, w.call.Args, w.call.Schema, nil)
		again, errAgain := Read(text, w.call.Fault, w.call.Args, w.call.Schema, nil)
		if outcome(p, err) != outcome(again, errAgain) {
			t.Fatalf("seed %d: %q gives %s, then %s", seed, text, outcome(p, err), outcome(again, errAgain))
		}
		if err != nil {
			if ReasonOf(err) == "" {
				t.Fatalf("seed %d: %q is refused without a reason: %v", seed, text, err)
			}
			continue
		}
		patches++
		if denies {
			t.Errorf("seed %d: %q denies and sets %s", seed, text, outcome(p, nil))
		}
		w.check(t, fmt.Sprintf("seed %d: %q", seed, text), text, p)
	}
	if patches < int(replies/16) {
		t.Errorf("only %d of %d replies gave a patch: the made up replies say little", patches, replies)
	}
}

// check holds a patch against what must be true of any.
func (w *world) check(t *testing.T, where, text string, p Patch) {
	t.Helper()
	if len(p.Set) == 0 || len(p.Set) > MaxFields {
		t.Errorf("%s sets %d fields", where, len(p.Set))
	}
	for _, path := range p.Fields() {
		leaf := path[strings.LastIndexByte(path, '.')+1:]
		if path != w.faulty && !strings.Contains(letters(text), letters(leaf)) {
			t.Errorf("%s sets %s, which nobody named", where, path)
		}
		value := plainText(p.Set[path])
		if !slices.Contains(w.values[path], value) {
			t.Errorf("%s sets %s to %s, which is not allowed", where, path, value)
		}
		if !strings.Contains(letters(text), letters(value)) && !strings.ContainsAny(text, "42") {
			t.Errorf("%s sets %s to %s, which nobody wrote", where, path, value)
		}
	}
	after, err := p.Apply(w.call.Args)
	if err != nil {
		t.Fatalf("%s: apply: %v", where, err)
	}
	var changed []string
	for _, c := range Diff(w.call.Args, after) {
		changed = append(changed, c.Field)
		if !bytes.Equal(c.After, p.Set[c.Field]) {
			t.Errorf("%s: %s became %s, the patch says %s", where, c.Field, c.After, p.Set[c.Field])
		}
	}
	if !slices.Equal(changed, p.Fields()) {
		t.Errorf("%s: changed %v, the patch sets %v", where, changed, p.Fields())
	}
}

// TestOneValueIsFound has the reader find each value in the plain ways to give it, however alike the others are, and refuse it denied.
func TestOneValueIsFound(t *testing.T) {
	given := []string{"%s", "use %s", "%s please", "Please use %s.", "change it to %s", "I want %s!", "תשתמש ב-%s", "mude para %s", "\"%s\"", "usa %s por favor", "nimm bitte %s", "je veux %s"}
	denied := []string{"not %s", "don't use %s", "anything but %s", "לא %s", "não use %s", "sin %s", "pas %s", "nicht %s", "%s, no", "%s never", "no %s please"}
	schema := json.RawMessage(`{"type":"object","properties":{"kind":{"type":"string"}}}`)
	f := tool.Fault{Class: tool.Validation, Field: "kind"}
	for _, value := range valuePool {
		raw, _ := json.Marshal(value)
		f.Allowed = append(f.Allowed, raw)
	}
	for _, value := range valuePool {
		for _, way := range given {
			text := fmt.Sprintf(way, value)
			p, err := Read(text, f, json.RawMessage(`{"kind":"x"}`), schema, nil)
			if err != nil || plainText(p.Set["kind"]) != value {
				t.Errorf("%q gives %s", text, outcome(p, err))
			}
		}
		for _, way := range denied {
			text := fmt.Sprintf(way, value)
			if p, err := Read(text, f, json.RawMessage(`{"kind":"x"}`), schema, nil); err == nil {
				t.Errorf("%q gives %s", text, outcome(p, err))
			}
		}
	}
}

// TestEveryDenyingWordDenies puts each word of the list before and behind a value and a number.
func TestEveryDenyingWordDenies(t *testing.T) {
	c := calls(t)
	n := 0
	for word, k := range words {
		if k != deny && k != cancel {
			continue
		}
		n++
		for _, text := range []string{word + " 1:1", "1:1 " + word, "use " + word + " 1:1", "1:1, " + word, word + ": 1:1", word + " the first one", "aspect_ratio " + word + " 1:1", "aspect_ratio: " + word + " 1:1"} {
			if p, err := Read(text, c["ratio"].Fault, c["ratio"].Args, c["ratio"].Schema, nil); err == nil {
				t.Errorf("%q gives %s", text, outcome(p, nil))
			}
		}
		for _, text := range []string{word + " 5", "5 " + word, "use " + word + " 5", "count: " + word + " 5"} {
			if p, err := Read(text, c["count"].Fault, c["count"].Args, c["count"].Schema, nil); err == nil {
				t.Errorf("%q gives %s", text, outcome(p, nil))
			}
		}
		history := []Line{{Role: "user", Text: "a picture, " + word + " 1:1"}}
		if p, err := Read("fix it", c["ratio"].Fault, c["ratio"].Args, c["ratio"].Schema, history); err == nil {
			t.Errorf("%q in the history gives %s", history[0].Text, outcome(p, nil))
		}
	}
	if n < 150 {
		t.Errorf("only %d words deny", n)
	}
}

// TestUnknownWordsRefuse puts a word that nobody knows into replies that are clear without it.
func TestUnknownWordsRefuse(t *testing.T) {
	c := calls(t)
	for _, r := range corpus(t) {
		if strings.HasPrefix(r.want, "!") || strings.ContainsAny(r.text, "{\"\n=:") && strings.ContainsAny(r.want, ";") || c[r.name].Fault.Field == "name" || c[r.name].Fault.Field == "email" {
			continue
		}
		if strings.Contains(r.want, "item=") || strings.Contains(r.want, "title=") || strings.Contains(r.want, "prompt=") || strings.Contains(r.want, "to=") || strings.HasPrefix(r.text, "{") {
			continue // free text, where any word is part of the value
		}
		one := c[r.name]
		for _, text := range []string{"zebra " + r.text, r.text + " zebra", "zebra, " + r.text, r.text + "\nzebra"} {
			if p, err := Read(text, one.Fault, one.Args, one.Schema, one.History, r.languages...); err == nil {
				t.Errorf("%s: %q for %s gives %s", r.where, text, r.name, outcome(p, nil))
			}
		}
	}
}

func TestListsAreConsistent(t *testing.T) {
	for name := range ordinals {
		if k := words[name]; k != unknown {
			t.Errorf("%q is a position and stands in list %d", name, k)
		}
	}
	for key := range words {
		if strings.Count(key, " ") >= maxPhrase || !holdsText(key) {
			t.Errorf("%q cannot be found", key)
		}
	}
	for k := filler; k <= cancel; k++ {
		if !slices.Contains(order, k) || lists[k] == "" {
			t.Errorf("list %d is not settled", k)
		}
	}
}

func holdsText(key string) bool {
	_, err := holdshort.CanonicalValue(key)
	return err == nil && strings.TrimSpace(key) == key && key != ""
}
