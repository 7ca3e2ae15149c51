package rulebook

import (
	"fmt"
	"regexp"
	"time"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// hopeless is a part of a condition that no call can make right.
type hopeless struct {
	id            int64
	message, hint string
}

// hopelessIn finds what CEL's checker lets pass and every evaluation would stumble over.
func hopelessIn(e ast.Expr) (found []hopeless) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		args := call.Args()
		switch name := call.FunctionName(); {
		case name == operators.Divide || name == operators.Modulo:
			if isZero(args[1]) {
				found = append(found, hopeless{args[1].ID(), "it divides by zero", "divide by something else"})
			}
		case timePart[name] && len(args) == 1:
			if zone, ok := literal(args[0]); ok && !isZone(zone) {
				found = append(found, hopeless{args[0].ID(), fmt.Sprintf("%q is no time zone", zone), `write a name such as "Europe/Berlin", or "+02:00"`})
			}
		}
	}))
	return found
}

func isZero(e ast.Expr) bool {
	if e.Kind() != ast.LiteralKind {
		return false
	}
	switch n := e.AsLiteral().Value().(type) {
	case int64:
		return n == 0
	case uint64:
		return n == 0
	case float64:
		return n == 0
	}
	return false
}

// timePart are the functions that take a time zone.
var timePart = map[string]bool{"getFullYear": true, "getMonth": true, "getDate": true, "getDayOfMonth": true, "getDayOfWeek": true, "getDayOfYear": true,
	"getHours": true, "getMinutes": true, "getSeconds": true, "getMilliseconds": true}

var zoneOffset = regexp.MustCompile(`^[+-]?\d\d:\d\d$`)

func isZone(name string) bool {
	if zoneOffset.MatchString(name) {
		return true
	}
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local" // what is local differs from node to node
}
