package inbox

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// amounts are the fields that are worth adding up, by a part of their names. Adding up order numbers would say nothing.
var amounts = []string{"amount", "total", "price", "cost", "sum", "quantity", "count"}

// sumsOf adds up the amounts of calls of one tool, where every call has one. Where they are in several currencies there is one sum of each.
func sumsOf(items []batchItem) []batchSum {
	if len(items) < 2 {
		return nil
	}
	var fields []string
	totals := map[string]map[string]*big.Rat{} // by field and unit
	places := map[string]int{}
	for i, item := range items {
		var args map[string]any
		decoder := json.NewDecoder(strings.NewReader(item.Args))
		decoder.UseNumber()
		if decoder.Decode(&args) != nil {
			return nil
		}
		if i == 0 {
			for name := range args {
				if isAmount(name) {
					fields = append(fields, name)
				}
			}
			slices.Sort(fields)
		}
		unit, _ := args["currency"].(string)
		fields = slices.DeleteFunc(fields, func(name string) bool {
			text, ok := args[name].(json.Number)
			value, valid := new(big.Rat).SetString(string(text))
			if !ok || !valid {
				return true
			}
			if totals[name] == nil {
				totals[name] = map[string]*big.Rat{}
			}
			if totals[name][unit] == nil {
				totals[name][unit] = new(big.Rat)
			}
			totals[name][unit].Add(totals[name][unit], value)
			if _, after, found := strings.Cut(string(text), "."); found {
				places[name] = max(places[name], len(after))
			}
			return false
		})
	}
	var out []batchSum
	for _, name := range fields {
		var parts []string
		for unit, total := range totals[name] {
			digits := min(places[name], 6)
			if unit != "" && digits == 1 { // money has none or two
				digits = 2
			}
			parts = append(parts, strings.TrimSpace(total.FloatString(digits)+" "+unit))
		}
		slices.Sort(parts)
		out = append(out, batchSum{name, strings.Join(parts, ", ")})
	}
	return out
}

func isAmount(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(amounts, func(part string) bool { return strings.Contains(name, part) })
}
