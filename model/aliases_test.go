package model_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort/model"
)

var taken = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func tools(names ...string) []model.Tool {
	var all []model.Tool
	for _, n := range names {
		all = append(all, model.Tool{Name: n})
	}
	return all
}

func TestAliases(t *testing.T) {
	long := strings.Repeat("x", 70)
	a := model.AliasesOf(tools("orders.refund", "orders_refund", "orders-refund", "files/read", "größe", "", long, long+"y"))
	for name, want := range map[string]string{"orders_refund": "orders_refund", "orders-refund": "orders-refund", "files/read": "files_read"} {
		if got := a.Alias(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := a.Alias("orders.refund"); !strings.HasPrefix(got, "orders_refund_") {
		t.Errorf("orders.refund: %s", got)
	}
	// What the model makes up is for the agent to answer; the real name of a tool, which it may know from the instructions, is its name.
	for _, unknown := range []string{"orders.refund", "drop_tables", "", "\x00"} {
		if got := a.Name(unknown); got != unknown {
			t.Errorf("%q became %q", unknown, got)
		}
	}
	// A call in an old conversation must not look like a call of a tool that exists now.
	now := model.AliasesOf(tools("a_b"))
	if got := now.Alias("a.b"); got == "a_b" || !taken.MatchString(got) {
		t.Errorf("a.b: %s", got)
	}
}

// A server of tools chooses the names of its tools: it must not get another one's alias.
func TestAliasesCannotBeTaken(t *testing.T) {
	guess := model.AliasesOf(tools("orders.refund", "orders_refund")).Alias("orders.refund")
	a := model.AliasesOf(tools("orders.refund", "orders_refund", guess))
	if a.Name(guess) != guess || a.Alias("orders.refund") == guess || a.Name(a.Alias("orders.refund")) != "orders.refund" {
		t.Errorf("%s means %s; orders.refund is %s", guess, a.Name(guess), a.Alias("orders.refund"))
	}
}

func TestAliasesAreDistinctAndReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.OneOf(
			rapid.StringMatching(`[ab./_-]{1,4}`), rapid.StringMatching(`[a./]{62,70}`), rapid.String(),
		), rapid.ID[string]).Draw(t, "names")
		a := model.AliasesOf(tools(names...))
		seen := map[string]bool{}
		for _, n := range names {
			alias := a.Alias(n)
			if !taken.MatchString(alias) || seen[alias] || a.Name(alias) != n {
				t.Fatalf("%q: %q (back: %q)", n, alias, a.Name(alias))
			}
			seen[alias] = true
		}
		rand.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		b := model.AliasesOf(tools(names...))
		for _, n := range names {
			if a.Alias(n) != b.Alias(n) {
				t.Fatalf("%q: %q, in another order %q", n, a.Alias(n), b.Alias(n))
			}
		}
	})
}
