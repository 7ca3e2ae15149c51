package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy/replay"
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
	past, err := replay.Recall(ctx, s, cmp.Or(holdshort.TenantID(c.Tenant), tenantOf(read)), since, replay.Bounds{})
	if err != nil {
		return err
	}
	result, err := replay.Replay(ctx, toolsOf(read), book, book.Version(), past)
	if err != nil {
		return err
	}
	result.Since = since.UTC().Truncate(time.Second)
	result.Cut(c.All, c.Limit)
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

func showReplayed(out *console, r replay.Result) error {
	if len(r.Calls) > 0 {
		err := table(out, []string{"AT", "TOOL", "WAS", "WOULD BE", "RULE", "REQUEST OR RUN", "ARGUMENTS"}, len(r.Calls), func(i int) []string {
			c := r.Calls[i]
			is := string(c.Is)
			switch c.Change {
			case replay.AskOthers:
				is = "ask others"
			case replay.CannotTell:
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
	for _, c := range replay.Changes {
		if n := r.Sums[c]; n > 0 {
			out.printf("%7d  %s\n", n, c.Words())
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
