package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

type policyReplayCommand struct {
	Since  string `default:"30d" help:"How far back: 30d, 2w, 12h. Default: 30d."`
	Tenant string `placeholder:"ID" help:"Whose calls. Default: auth.tenant of the configuration, or default."`
	All    bool   `help:"Also show the calls that would be judged as they were."`
	Limit  int    `default:"50" help:"How many lines at most. The sums are over all."`
	rulesFlag
	storeFlags
	jsonFlag
}

func (policyReplayCommand) Help() string {
	return `Reads the calls that a store has on record and asks the policies of a configuration about each, as of then: who would have been asked more, who less, what would have been denied. Nothing is changed and nothing runs; it can be done beside a running server.

On record are the calls of requests, also of those that a policy resolved at once, and the calls of agents that ran, or were denied, without anybody being asked. Of other flows the arguments of such calls are not kept: they are counted. So are those whose text was erased.

Examples:

    holdshort policy replay --config changed.yaml
    holdshort policy replay --since 12h --store postgres://holdshort@db/holdshort --keyring /etc/holdshort/keys --json`
}

// change is what would be different.
type change string

const (
	same       change = "unchanged"
	askedMore  change = "asked_more"
	askedLess  change = "asked_less"
	ranDenied  change = "allowed_to_denied"
	askDenied  change = "asked_to_denied"
	undenied   change = "no_longer_denied"
	askOthers  change = "asked_of_others"
	cannotTell change = "cannot_tell"
)

var allChanges = []change{same, askedMore, askedLess, ranDenied, askDenied, undenied, askOthers, cannotTell}

// replayed is the command's JSON.
type replayed struct {
	Since   time.Time      `json:"since"`
	Version string         `json:"policy_version"`
	Judged  int            `json:"judged"`
	Sums    map[change]int `json:"sums"`
	Erased  int            `json:"erased"`
	Unkept  int            `json:"unkept"`
	Unread  int            `json:"unread"`
	Calls   []replayedCall `json:"calls"`
	More    int            `json:"more,omitempty"` // lines that were left out
}

type replayedCall struct {
	At      time.Time       `json:"at"`
	Tool    string          `json:"tool"`
	Args    string          `json:"args"`
	Agent   string          `json:"agent,omitempty"`
	Request string          `json:"request,omitempty"`
	Run     string          `json:"run,omitempty"`
	Change  change          `json:"change"`
	Was     policy.Decision `json:"was"`
	WasRule string          `json:"was_rule,omitempty"`
	Is      policy.Decision `json:"would_be,omitempty"`
	Rule    string          `json:"rule,omitempty"`
	Note    string          `json:"note,omitempty"`
}

func (c *policyReplayCommand) Run(ctx context.Context, out *console) (err error) {
	back, err := daysOf(c.Since)
	if err != nil {
		return &usageError{Message: "--since: " + err.Error(), Hint: "write 30d, 2w or 12h"}
	}
	if c.Limit < 0 {
		return &usageError{Message: "--limit: less than none", Hint: "write 0 for the sums alone"}
	}
	read, book, err := c.rules(out)
	if err != nil {
		return err
	}
	for _, s := range read.Stores { // there is one at most
		c.Store, c.Keyring = cmp.Or(c.Store, s.URL), cmp.Or(c.Keyring, s.Keyring)
	}
	l, err := c.locate(out)
	if err != nil {
		return err
	}
	s, err := c.open(ctx, l, access{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	since := time.Now().Add(-back)
	past, err := recall(ctx, s, cmp.Or(holdshort.TenantID(c.Tenant), tenantOf(read)), since)
	if err != nil {
		return err
	}
	result := replay(ctx, read, book, past)
	result.Since = since.UTC().Truncate(time.Second)
	result.cut(c.All, c.Limit)
	if c.JSON {
		return out.encode(result)
	}
	return showReplayed(out, result)
}

// daysOf reads a duration that may be in days or weeks.
func daysOf(text string) (time.Duration, error) {
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil || n < 0 || n > 36500 {
				return 0, fmt.Errorf("%q is no time", text)
			}
			return time.Duration(n * float64(unit)), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return d, nil
}

// replay judges every call again, oldest first: limits count what would have run before.
func replay(ctx context.Context, read config.Config, book *rulebook.Book, past *records) replayed {
	result := replayed{Version: book.Version(), Sums: map[change]int{}, Erased: past.Erased, Unkept: past.Unkept, Unread: past.Unread, Calls: []replayedCall{}}
	for _, c := range allChanges {
		result.Sums[c] = 0
	}
	counted := tally{}
	for _, c := range past.Calls {
		one := replayedCall{At: c.Now.UTC().Truncate(time.Second), Tool: c.Tool, Agent: c.Agent, Request: string(c.Request), Run: string(c.Run), Was: c.Was, WasRule: c.WasRule}
		v, cost, sure := judgeAgain(ctx, read, book, c)
		v = counted.limited(v, c, cost)
		one.Is, one.Rule, one.Change = v.Decision, v.Rule, changeOf(c, v)
		if !sure {
			one.Is, one.Rule, one.Change, one.Note = "", "", cannotTell, "the tool's own declaration decides, and this configuration does not have it"
		}
		one.Args = clip(string(holdshort.Redact(c.Args, slices.Concat(c.Redacted, v.Redacted))), 200)
		result.Sums[one.Change]++
		result.Judged++
		result.Calls = append(result.Calls, one)
	}
	return result
}

// cut leaves out what is as it was, and what is too much to read: the newest stay.
func (r *replayed) cut(all bool, limit int) {
	slices.Reverse(r.Calls)
	if !all {
		r.Calls = slices.DeleteFunc(r.Calls, func(c replayedCall) bool { return c.Change == same })
	}
	if len(r.Calls) > limit {
		r.More = len(r.Calls) - limit
		r.Calls = r.Calls[:limit]
	}
}

func showReplayed(out *console, r replayed) error {
	if len(r.Calls) > 0 {
		err := table(out, []string{"AT", "TOOL", "WAS", "WOULD BE", "RULE", "REQUEST OR RUN", "ARGUMENTS"}, len(r.Calls), func(i int) []string {
			c := r.Calls[i]
			is := string(c.Is)
			switch c.Change {
			case askOthers:
				is = "ask others"
			case cannotTell:
				is = "cannot tell"
			}
			return []string{c.At.Format("2006-01-02 15:04"), c.Tool, string(c.Was), is, c.Rule, cmp.Or(c.Request, c.Run), clip(c.Args, 60)}
		})
		if err != nil {
			return err
		}
		if r.More > 0 {
			out.printf("and %d more: --limit shows them\n", r.More)
		}
		out.printf("\n")
	}
	out.printf("%s since %s\n", plural(r.Judged, "call"), r.Since.Format("2006-01-02 15:04"))
	for _, line := range []struct {
		n    int
		text string
	}{
		{r.Sums[askedMore], "would ask where nobody was asked"}, {r.Sums[askedLess], "would run where somebody was asked"}, {r.Sums[ranDenied], "would be denied where they ran"}, {r.Sums[askDenied], "would be denied where somebody was asked"},
		{r.Sums[undenied], "would no longer be denied"}, {r.Sums[askOthers], "would ask other people"}, {r.Sums[same], "unchanged"},
		{r.Sums[cannotTell], "cannot be told: the tool's declaration decides, and this configuration does not have it"},
	} {
		if line.n > 0 {
			out.printf("%7d  %s\n", line.n, line.text)
		}
	}
	for _, line := range []struct {
		n    int
		text string
	}{{r.Erased, "erased: not judged"}, {r.Unkept, "of flows that keep no arguments: not judged"}, {r.Unread, "that cannot be read: not judged"}} {
		if line.n > 0 {
			out.printf("%7d  more %s\n", line.n, line.text)
		}
	}
	return nil
}
