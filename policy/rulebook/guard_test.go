package rulebook

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/policy"
)

func TestGuards(t *testing.T) {
	for when, want := range map[string]string{
		`tool == "a"`:                                     "tool:a",
		`"a" == tool`:                                     "tool:a",
		`tool == "a" && args.x > 1`:                       "tool:a",
		`args.x > 1 && tool == "a"`:                       "tool:a",
		`args.x > 1 && (args.y < 2 && tool == "a")`:       "tool:a",
		`tool in ["a", "b"] && effect == "write"`:         "tool:a,b effect:write",
		`tool == "a" || tool == "b"`:                      "tool:a,b",
		`(tool == "a" && args.x) || tool == "b"`:          "tool:a,b",
		`tool == "a" || effect == "read"`:                 "",
		`tool == "a" || args.x`:                           "",
		`!(tool == "a")`:                                  "",
		`tool != "a"`:                                     "",
		`tool == args.tool`:                               "",
		`tool in [args.tool, "b"]`:                        "",
		`tool in args.tools`:                              "",
		`(tool == "a") == false`:                          "",
		`tool == "a" ? false : true`:                      "",
		`["x"].exists(tool, tool == "a")`:                 "",
		`["x"].exists(x, tool == "a")`:                    "",
		`args.tool == "a"`:                                "",
		`tool.startsWith("a/") && actor == "ana"`:         "tool:a/* actor:ana",
		`tool.startsWith("a/") || tool == "b"`:            "tool:a/*,b",
		`args.x.startsWith("a/")`:                         "",
		`session == "a" && run == "b"`:                    "session:a run:b",
		`tool == "a" && tool == "b"`:                      "tool:a tool:b",
		`cost == 5 && agent == "desk" && tenant == "one"`: "agent:desk tenant:one",
	} {
		var said []string
		for _, g := range book(t, ask(when)).rules[0].guards {
			var words []string
			for _, p := range g.patterns {
				words = append(words, p.text+map[bool]string{true: "*"}[p.prefix])
			}
			said = append(said, variableName(g.variable)+":"+strings.Join(words, ","))
		}
		if got := strings.Join(said, " "); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
}

func variableName(n int) string {
	i := slices.IndexFunc(Variables, func(v Variable) bool { return number(v.Name) == n })
	return Variables[i].Name
}

// plainly is the book without any short way: each rule in its turn, evaluated.
func (b *Book) plainly(call policy.Call) (policy.Verdict, bool) {
	f := &facts{call: call}
	for i := range b.rules {
		r := &b.rules[i]
		out, _, err := r.program.Eval(f)
		if err != nil || out.Type().TypeName() != "bool" {
			return r.failed(f), true
		}
		if out.Value().(bool) {
			return r.verdict(f), false
		}
	}
	return policy.Verdict{Decision: policy.Ask, Rule: NoMatch, Version: b.version}, false
}

// Rules that are left out unevaluated are those that would have been false: for any rules and any call the verdict is the same.
func TestLeavingRulesOutChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var condition func(depth int) string
	condition = func(depth int) string {
		if depth == 0 || r.IntN(4) == 0 {
			return pick(`tool == "a"`, `tool == "b"`, `"c" == tool`, `tool in ["a", "c"]`, `tool.startsWith("a")`, `effect == "read"`, `agent == "desk"`, `actor in ["ana", "ben"]`,
				`args.x > 1`, `args.y == "z"`, `args.x / args.n > 2`, `args.ok`, `has(args.x)`, `tool != "a"`, `args.l.exists(i, i == 2)`, `args.l.all(tool, tool == "a")`, `true`, `false`, `1 / (cost - 7) > 0`)
		}
		a, b := condition(depth-1), condition(depth-1)
		return pick("("+a+") && ("+b+")", "("+a+") && ("+b+")", "("+a+") || ("+b+")", "!("+a+")", "("+a+") ? ("+b+") : ("+a+")")
	}
	for range 400 {
		var rules []Rule
		for range 1 + r.IntN(6) {
			rules = append(rules, Rule{When: condition(3), Then: policy.Verdict{Decision: policy.Decision(pick("allow", "ask", "deny"))}})
		}
		b := book(t, rules...)
		for range 12 {
			call := refund(fmt.Sprintf(`{%s"l":%s}`, pick("", `"x":2,`, `"x":"2",`, `"x":3,"n":1,`, `"x":3,"n":0,"y":"z",`, `"ok":true,`, `"ok":null,"y":1,`), pick("[]", "[1,2]", `["a"]`, "7")))
			call.Tool, call.Effect, call.Agent, call.User, call.Cost = pick("a", "b", "c", "ab", "d"), pick("read", "write"), pick("desk", "other", ""), pick("ana", "ben", "eve"), int64(r.IntN(9))
			got, err := b.Explain(call)
			want, failed := b.plainly(call)
			if !reflect.DeepEqual(got, want) || (err != nil) != failed {
				t.Fatalf("%+v\nwant %+v\n%v of %+v", got, want, err, slices.Clone(rules))
			}
		}
	}
}
