package rulebook

import (
	"testing"

	"github.com/holdshort/holdshort/policy"
)

// JSON has one kind of number: a rule that holds for 120.5 holds for 120.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		when, args string
		want       bool
	}{
		{`args.amount > 500`, `{"amount":120}`, false},
		{`args.amount > 500`, `{"amount":120.5}`, false},
		{`args.amount > 500`, `{"amount":500}`, false},
		{`args.amount > 500`, `{"amount":500.01}`, true},
		{`args.amount > 500`, `{"amount":501}`, true},
		{`args.amount > 500`, `{"amount":1e300}`, true},
		{`args.amount > 500`, `{"amount":5.01e2}`, true},
		{`args.amount > 500.5`, `{"amount":501}`, true},
		{`args.amount <= 500`, `{"amount":-0}`, true},
		{`500 < args.amount`, `{"amount":501}`, true},
		{`args.amount == 120`, `{"amount":120}`, true},
		{`args.amount == 120`, `{"amount":120.0}`, true},
		{`args.amount == 120.0`, `{"amount":120}`, true},
		{`args.amount == 120`, `{"amount":120.5}`, false},
		{`args.amount in [1, 120]`, `{"amount":120}`, true},
		{`args.amount in [1.5, 120.5]`, `{"amount":120.5}`, true},
		{`120 in args.list`, `{"list":[1,120]}`, true},
		{`args.amount * 1.19 > 142`, `{"amount":120}`, true},
		{`args.amount * 1.19 > 142`, `{"amount":119}`, false},
		{`1.19 * args.amount > 142`, `{"amount":120}`, true},
		{`args.amount * 2 == 240`, `{"amount":120}`, true},
		{`args.amount * 2 == 241`, `{"amount":120.5}`, true},
		{`args.amount + 1 - args.fee > 120.4`, `{"amount":120,"fee":0.5}`, true},
		{`args.discount / args.total > 0.5`, `{"discount":60,"total":100}`, true},
		{`args.discount / args.total > 0.5`, `{"discount":40,"total":100}`, false},
		{`args.discount / 100 > 0.5`, `{"discount":60}`, true},
		{`args.n % 2 == 1`, `{"n":7}`, true},
		{`args.n % args.m == 1`, `{"n":7,"m":3}`, true},
		{`-args.n == 7`, `{"n":-7}`, true},
		{`size(args.items) * args.price > 30`, `{"items":[1,2,3],"price":12.5}`, true},
		{`args.items[args.i] == "b"`, `{"items":["a","b"],"i":1}`, true},
		{`cost * 2 == 14`, `{}`, true},
		{`cost / 2 == 3`, `{}`, true},
		{`double(cost) + args.n == 8.5`, `{"n":1.5}`, true},
		{`string(args.id) == "10000000"`, `{"id":10000000}`, true},
		{`string(args.id) == "12.5"`, `{"id":12.5}`, true},
		{`string(args.id) == "x"`, `{"id":"x"}`, true},
		{`int(args.amount) == 120`, `{"amount":120.9}`, true},
		{`args.items.map(x, x * 2).exists(x, x == 5)`, `{"items":[1,2.5]}`, true},
		{`args.a + args.b == "xy"`, `{"a":"x","b":"y"}`, true},
		{`args.a + args.b == [1, 2]`, `{"a":[1],"b":[2]}`, true},
		{`args.amount > 9007199254740992`, `{"amount":9007199254740994}`, true},
		{`args.amount > -1 && args.amount < 1`, `{"amount":1e-300}`, true},
		{`args.amount != args.other`, `{"amount":1,"other":"1"}`, true},
		{`args.amount == null`, `{"amount":null}`, true},
		{`args.amount == null`, `{"amount":0}`, false},
	} {
		for _, metered := range []bool{false, true} {
			b, err := Compile([]Rule{allow(tt.when)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if metered && b.rules[0].metered == nil {
				continue
			} else if metered {
				b.rules[0].program = b.rules[0].metered
			}
			v, err := b.Explain(refund(tt.args))
			if err != nil || (v.Decision == policy.Allow) != tt.want {
				t.Errorf("%s with %s (counted %v): %s, %v", tt.when, tt.args, metered, v.Decision, err)
			}
		}
	}
}
