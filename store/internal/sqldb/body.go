package sqldb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// encoder writes JSON as it is: json.Marshal would write < > & inside raw arguments in another way than they were hashed.
type encoder struct {
	*json.Encoder
	buffer bytes.Buffer
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.Encoder = json.NewEncoder(&e.buffer)
	e.SetEscapeHTML(false)
	return e
}}

// done gives it back; one that wrote much is not kept.
func (e *encoder) done() {
	if e.buffer.Cap() <= 64<<10 {
		e.buffer.Reset()
		encoders.Put(e)
	}
}

// encode turns a noun's payload into what is stored. The place binds it to its row.
func (tx *Tx) encode(noun, id string, payload any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer e.done()
	if err := e.Encode(payload); err != nil {
		return nil, tx.refuse(&holdshort.Error{Code: holdshort.Invalid, Op: "store " + noun + " " + clip(id), Message: "its payload is not valid JSON", Err: err,
			Hint: "send JSON values only: no NaN, no infinity, no broken raw messages"})
	}
	raw := bytes.Clone(bytes.TrimSuffix(e.buffer.Bytes(), []byte{'\n'}))
	// The encoder writes this escape for broken UTF-8 and hardly ever else: only then is it worth a look at every text.
	if bytes.Contains(raw, []byte(`\ufffd`)) && !validTexts(reflect.ValueOf(payload)) {
		return nil, tx.refuse(&holdshort.Error{Code: holdshort.Invalid, Op: "store " + noun + " " + clip(id), Message: "a text in it is not UTF-8",
			Hint: "it would come back as another text: send UTF-8"})
	}
	return tx.seal(noun, id, raw)
}

func (tx *Tx) seal(noun, id string, raw []byte) ([]byte, error) {
	if len(raw) > store.MaxBody {
		return nil, tx.refuse(&holdshort.Error{Code: holdshort.TooLarge, Op: "store " + noun + " " + clip(id),
			Message: fmt.Sprintf("its payload has %d bytes, the limit is %d", len(raw), store.MaxBody), Hint: "store large content elsewhere and keep a reference"})
	}
	if len(raw) == 0 {
		return []byte{}, nil // empty stays empty: that is how an erased payload looks
	}
	if tx.db.Codec == nil {
		return raw, nil
	}
	sealed, err := tx.db.Codec.Encode(tx.place(noun, id), raw)
	if err != nil {
		return nil, tx.refuse(&holdshort.Error{Code: holdshort.Internal, Op: "encode " + noun + " " + clip(id), Message: "the payload codec refused", Err: err})
	}
	return sealed, nil
}

// decode reverses encode. What cannot be read is Corrupt: that row's trouble, nobody else's.
func (tx *Tx) decode(noun, id string, stored []byte, payload any) error {
	raw, err := tx.unseal(noun, id, stored)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, payload); err != nil {
		return corrupt(noun, id, err)
	}
	return nil
}

func (tx *Tx) unseal(noun, id string, stored []byte) ([]byte, error) {
	if tx.db.Codec == nil || len(stored) == 0 {
		return stored, nil
	}
	raw, err := tx.db.Codec.Decode(tx.place(noun, id), stored)
	if err != nil {
		return nil, corrupt(noun, id, err)
	}
	return raw, nil
}

func (tx *Tx) place(noun, id string) string { return string(tx.tenant) + "/" + noun + "/" + id }

// refuse dooms the transaction: a write that was not taken must not be missing from what is committed, whatever the function makes of it.
func (tx *Tx) refuse(err error) error {
	if err != nil && tx.fault == nil {
		tx.fault = err
	}
	return err
}

func (tx *Tx) texts(noun string, values ...string) error { return tx.refuse(texts(noun, values...)) }
func (tx *Tx) required(noun string, values ...string) error {
	return tx.refuse(required(noun, values...))
}

// validTexts looks at every text inside v.
func validTexts(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || validTexts(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if !validTexts(v.Field(i)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return utf8.Valid(v.Bytes()) // raw JSON
		}
		for i := range v.Len() {
			if !validTexts(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

// texts refuses what one of the databases could not keep as it is: NUL, broken UTF-8, and names without end.
func texts(noun string, values ...string) error {
	for _, s := range values {
		if len(s) > store.MaxText {
			return &holdshort.Error{Code: holdshort.TooLarge, Op: "store " + noun, Message: fmt.Sprintf("a name of %d bytes, the limit is %d", len(s), store.MaxText),
				Hint: "use short keys, names and addresses"}
		}
		if !isText(s) {
			return &holdshort.Error{Code: holdshort.Invalid, Op: "store " + noun, Message: fmt.Sprintf("%q is not text", clip(s)),
				Hint: "send UTF-8 without NUL characters"}
		}
	}
	return nil
}

func isText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

// required refuses a row without the names it is found by.
func required(noun string, values ...string) error {
	for _, s := range values {
		if s == "" {
			return &holdshort.Error{Code: holdshort.Invalid, Op: "store " + noun, Message: "a required id or key is empty"}
		}
	}
	return texts(noun, values...)
}
