// Package answer makes results out of whatever the other side sent: never longer than a limit, always valid JSON, and marked where
// something is missing. It imports the standard library.
package answer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Cut is the value of an answer that was longer than its limit.
type Cut struct {
	Truncated bool   `json:"truncated"`
	Bytes     int64  `json:"bytes,omitempty"` // of the whole, if anybody knows
	Text      string `json:"text"`            // its beginning
}

// Binary is the value of an answer that is no text.
type Binary struct {
	Binary    bool   `json:"binary"`
	MediaType string `json:"media_type,omitempty"`
	Bytes     int64  `json:"bytes"`
	Truncated bool   `json:"truncated,omitempty"`
	Base64    string `json:"base64,omitempty"` // of what was kept
}

// Truncated makes the value of an answer of which only the beginning was kept. size is that of the whole, 0 if nobody knows.
func Truncated(kept []byte, size int64) json.RawMessage {
	return Marshal(Cut{Truncated: true, Bytes: size, Text: Text(kept)})
}

// Text makes valid text out of bytes that may end in the middle of a letter.
func Text(b []byte) string {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// IsBinary reports whether bytes are no text: a zero byte, or more than a few that are not UTF-8.
func IsBinary(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return true
	}
	bad, all := 0, 0
	for i := 0; i < len(b); all++ {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(b[i:]) {
			bad++
		}
		i += n
	}
	return bad*10 > all
}

// Of makes the value of an answer's bytes: JSON as it is, other text as text, and the rest as Binary.
func Of(b []byte, mediaType string) json.RawMessage {
	trimmed := bytes.TrimSpace(b)
	switch {
	case len(trimmed) == 0 && !IsBinary(b):
		return json.RawMessage("null")
	case json.Valid(trimmed) && utf8.Valid(trimmed):
		return json.RawMessage(trimmed)
	case IsBinary(b):
		return Marshal(Binary{Binary: true, MediaType: mediaType, Bytes: int64(len(b)), Base64: base64.StdEncoding.EncodeToString(b)})
	}
	return Marshal(Text(b))
}

// Most is how many bytes a value has at most, however its letters had to be written.
const Most = 1536 << 10

// Bound cuts a value that is longer than Most, which the kernel would not keep.
func Bound(value json.RawMessage) json.RawMessage {
	for kept := Most; len(value) > Most; kept /= 2 {
		if cut := Truncated(value[:min(kept, len(value))], int64(len(value))); len(cut) <= Most {
			return cut
		}
	}
	return value
}

// Limit cuts a value that is longer than most bytes.
func Limit(value json.RawMessage, most int) json.RawMessage {
	if len(value) <= most {
		return value
	}
	return Truncated(value[:most], int64(len(value)))
}

// Marshal encodes what cannot go wrong, without changing < and > into something nobody can read.
func Marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(`"the value cannot be shown"`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// Tail leaves out what is left of a letter that bytes begin in the middle of.
func Tail(b []byte) []byte {
	for i := 0; i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return b
}
