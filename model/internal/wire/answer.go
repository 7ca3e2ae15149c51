package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/holdshort/holdshort/model"
)

// framing is how much more a stream may bring than what it says: events of one word each are mostly frame.
const framing = 16

var errTooLarge = errors.New("the answer is larger than anybody wants")

// Answer is what came back, as it is read.
type Answer struct {
	res    *http.Response
	renew  func() // something came
	max    int64
	said   int64 // bytes of text and arguments so far
	read   int64 // bytes so far
	limit  int64 // of read
	broken error // what reading ended with, if that was no proper end
}

// Streams reports whether the answer is a stream of events. A provider that cannot stream sends one document, whatever was asked for.
func (a *Answer) Streams() bool {
	kind, _, err := mime.ParseMediaType(a.res.Header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// Read reads within the limits.
func (a *Answer) Read(p []byte) (int, error) {
	n, err := a.res.Body.Read(p)
	if n > 0 {
		a.renew()
	}
	a.read += int64(n)
	if a.read > a.limit {
		return 0, errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		a.broken = err
	}
	return n, err
}

// JSON reads the whole answer into v.
func (a *Answer) JSON(v any) error {
	a.limit = a.max
	raw, err := io.ReadAll(a)
	if err != nil {
		return err
	}
	return Decode(raw, v)
}

// Decode reads JSON that a provider wrote. JSON that only stops too early is an answer cut off.
func Decode(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset >= int64(len(raw)) && !json.Valid(raw) && endsEarly(raw) {
		return &model.Error{Kind: model.Truncated, Message: "the answer ends in the middle"}
	}
	return &model.Error{Kind: model.Malformed, Message: "the answer is not the JSON of the protocol"}
}

func endsEarly(raw []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	var any json.RawMessage
	err := decoder.Decode(&any)
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// Grow counts n more bytes of text or arguments, and fails when they are too many.
func (a *Answer) Grow(n int) error {
	a.said += int64(n)
	if a.said > a.max {
		return errTooLarge
	}
	return nil
}
