package api

import (
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Duration is written "10m", "24h" or "never", or as a number of seconds.
type Duration time.Duration

var errDuration = &holdshort.Error{Code: holdshort.Invalid, Message: "it is not a duration", Hint: `write it like "10m" or "24h"`}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "never" {
			*d = Duration(policy.Never)
			return nil
		}
		parsed, err := time.ParseDuration(text)
		if err != nil || parsed <= 0 {
			return errDuration
		}
		*d = Duration(parsed)
		return nil
	}
	var number float64
	if json.Unmarshal(raw, &number) != nil || number <= 0 || number > 10*365*24*3600 {
		return errDuration
	}
	*d = Duration(number * float64(time.Second))
	return nil
}

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }
