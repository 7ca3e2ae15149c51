package replay

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Result is what rules would have said of a past.
type Result struct {
	Since   time.Time      `json:"since"`
	Version string         `json:"policy_version"`
	Judged  int            `json:"judged"`
	Sums    map[Change]int `json:"sums"`
	Erased  int            `json:"erased"`
	Unkept  int            `json:"unkept"`
	Unread  int            `json:"unread"`
	Older   bool           `json:"older,omitempty"` // there are calls of the time that were not looked at
	Calls   []Call         `json:"calls"`
	More    int            `json:"more,omitempty"` // lines that were left out
}

// Call is one call of the past.
type Call struct {
	At      time.Time       `json:"at"`
	Tool    string          `json:"tool"`
	Args    string          `json:"args"`
	Agent   string          `json:"agent,omitempty"`
	Request string          `json:"request,omitempty"`
	Run     string          `json:"run,omitempty"`
	Change  Change          `json:"change"`
	Was     policy.Decision `json:"was"`
	WasRule string          `json:"was_rule,omitempty"`
	Is      policy.Decision `json:"would_be,omitempty"`
	Rule    string          `json:"rule,omitempty"`
	Note    string          `json:"note,omitempty"`
}

// argsShown is how much of the arguments a line has.
const argsShown = 200

// Replay judges every call again, oldest first: limits count what would have run before.
func Replay(ctx context.Context, tools Tools, rules policy.Policy, version string, past *Past) (Result, error) {
	result := Result{Version: version, Sums: map[Change]int{}, Erased: past.Erased, Unkept: past.Unkept, Unread: past.Unread, Older: past.More, Calls: []Call{}}
	for _, c := range Changes {
		result.Sums[c] = 0
	}
	counted := tally{}
	for _, c := range past.Calls {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		one := Call{At: c.Now.UTC().Truncate(time.Second), Tool: c.Tool, Agent: c.Agent, Request: string(c.Request), Run: string(c.Run), Was: c.Was, WasRule: c.WasRule}
		v, cost, sure := judge(ctx, tools, rules, c)
		v = counted.limited(v, c, cost)
		one.Is, one.Rule, one.Change = v.Decision, v.Rule, changeOf(c, v)
		if !sure {
			one.Is, one.Rule, one.Change, one.Note = "", "", CannotTell, "the tool's own declaration decides, and this configuration does not have it"
		}
		one.Args = clip(string(holdshort.Redact(c.Args, slices.Concat(c.Redacted, v.Redacted))))
		result.Sums[one.Change]++
		result.Judged++
		result.Calls = append(result.Calls, one)
	}
	return result, nil
}

// Cut leaves out what is as it was, and what is too much to read: the newest stay, and come first.
func (r *Result) Cut(all bool, limit int) {
	slices.Reverse(r.Calls)
	if !all {
		r.Calls = slices.DeleteFunc(r.Calls, func(c Call) bool { return c.Change == Same })
	}
	if len(r.Calls) > limit {
		r.More = len(r.Calls) - limit
		r.Calls = r.Calls[:limit]
	}
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= argsShown {
		return s
	}
	return string([]rune(s)[:argsShown-1]) + "…"
}
