package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/holdshort/holdshort/model"
)

// MaxCalls is how many calls one answer may have; more are no answer.
const MaxCalls = 1000

// maxMalformed is how much is kept of arguments that are none.
const maxMalformed = 4 << 10

// Draft is a call as the provider wrote it.
type Draft struct {
	ID, Name, Args string
}

// Calls makes calls of drafts: names as the tools have them, arguments looked at, ids there and different from each other and from those in the
// conversation. answer is the provider's id of the answer: ids that had to be made up are the same for the same answer.
func Calls(drafts []Draft, answer string, req model.Request, aliases *model.Aliases) []model.Call {
	taken := map[string]bool{"": true}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			taken[c.ID] = true
		}
	}
	var calls []model.Call
	for i, d := range drafts {
		call := model.Call{ID: d.ID, Tool: aliases.Name(d.Name)}
		for n := 0; taken[call.ID] || len(call.ID) > 256; n++ {
			call.ID = madeUp(fmt.Sprintf("%s/%d/%d/%s/%s", answer, i, n, d.Name, d.Args))
		}
		taken[call.ID] = true
		call.Args, call.Malformed = arguments(d.Args)
		calls = append(calls, call)
	}
	return calls
}

func arguments(text string) (json.RawMessage, string) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" { // how both protocols write a call without arguments
		return json.RawMessage("{}"), ""
	}
	var compact bytes.Buffer
	if trimmed[0] == '{' && json.Compact(&compact, []byte(trimmed)) == nil {
		return compact.Bytes(), ""
	}
	if len(text) > maxMalformed {
		text = strings.ToValidUTF8(text[:maxMalformed], "") + "…"
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return nil, text
}

// Input is what a call in the conversation is shown as: its arguments or, where the model wrote none, an object that says what it wrote.
func Input(c model.Call) json.RawMessage {
	if len(c.Args) > 0 {
		return c.Args
	}
	if c.Malformed == "" {
		return json.RawMessage("{}")
	}
	raw, err := json.Marshal(map[string]string{"malformed_arguments": c.Malformed})
	if err != nil { // a string always fits
		return json.RawMessage("{}")
	}
	return raw
}

// Schema of the arguments of a tool, as both protocols want it: of an object.
func Schema(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if _, ok := object["type"]; ok {
		return raw
	}
	object["type"] = json.RawMessage(`"object"`)
	with, err := json.Marshal(object)
	if err != nil {
		return raw
	}
	return with
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// PlainID gives an id that every protocol takes: the same for a call and for its result.
func PlainID(id string) string {
	if plainID.MatchString(id) {
		return id
	}
	return madeUp(id)
}

func madeUp(of string) string {
	sum := sha256.Sum256([]byte(of))
	return "call_" + hex.EncodeToString(sum[:10])
}

// Count is a number of tokens that a provider gave, within what can be: sums and prices of it never overflow.
func Count(n int64) int64 { return min(max(0, n), 1<<40) }
