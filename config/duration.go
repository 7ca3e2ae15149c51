package config

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort/policy"
)

// Duration is written as seconds (600), as a text (10m, 24h, 30d), or as never.
type Duration time.Duration

func (d *Duration) setText(text string) error {
	if strings.EqualFold(text, "never") {
		*d = Duration(policy.Never)
		return nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return d.set(seconds, time.Second)
	}
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		if days, err := strconv.ParseFloat(number, 64); err == nil {
			return d.set(days, 24*time.Hour)
		}
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return errors.New("want a duration: seconds such as 600, a text such as 10m, 24h or 30d, or never")
	}
	*d = Duration(parsed)
	return nil
}

// set takes a number of units. NaN fails both comparisons.
func (d *Duration) set(n float64, unit time.Duration) error {
	if seconds := n * unit.Seconds(); !(seconds >= 0 && seconds <= float64(1<<33)) {
		return errors.New("a duration is not negative and no longer than 272 years")
	}
	*d = Duration(n * float64(unit))
	return nil
}

func (Duration) schema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "number", "minimum": 0},
		map[string]any{"type": "string",
			"pattern": `^(never|\$\{.*\}|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+|[0-9]+(\.[0-9]+)?d?)$`},
	}}
}
