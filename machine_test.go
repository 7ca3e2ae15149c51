package holdshort

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tables below say the same as those of the machines, written a second time and the other way round: rows are states, columns are
// inputs, a dash is a refusal. Whoever changes a machine changes both, and thinks twice.

const runTable = `
           claim    suspend  requeue  wake     complete   fail    cancel    retry
queued     running  -        -        queued   -          -       canceled  -
running    -        waiting  queued   running  completed  failed  canceled  -
waiting    -        -        -        queued   -          failed  canceled  -
completed  -        -        -        -        -          -       -         -
failed     -        -        -        -        -          -       -         queued
canceled   -        -        -        -        -          -       -         -
`

const requestTable = `
          ask   reask  vote  decide    expire   cancel
open      open  open   open  resolved  expired  canceled
resolved  -     -      -     -         -        -
expired   -     -      -     -         -        -
canceled  -     -      -     -         -        -
`

const operationTable = `
         finish  prove_failed  lose     rerun    settle_done  settle_not  give_up  retry
started  done    failed        unknown  started  -            -           -        -
done     -       -             -        -        -            -           -        -
failed   -       -             -        -        -            -           -        started
unknown  -       -             -        -        done         failed      unknown  -
`

const deliveryTable = `
         claim    confirm  retry   park    give_up  drop     redeliver
queued   sending  -        -       parked  -        dropped  -
sending  sending  sent     queued  parked  dead     dropped  -
sent     -        -        -       -       -        -        queued
parked   sending  -        -       -       dead     dropped  queued
dead     -        -        -       -       -        -        queued
dropped  -        -        -       -       -        -        -
`

const sessionTable = `
          takeover_start  handback  proxy_start  proxy_replace  proxy_stop
ai        takeover        -         proxy        proxy          ai
takeover  -               ai        -            -              takeover
proxy     takeover        -         -            proxy          ai
`

func TestEveryStateWithEveryInput(t *testing.T) {
	t.Run("run", func(t *testing.T) { walk(t, &runMachine, runTable) })
	t.Run("request", func(t *testing.T) { walk(t, &requestMachine, requestTable) })
	t.Run("operation", func(t *testing.T) { walk(t, &operationMachine, operationTable) })
	t.Run("delivery", func(t *testing.T) { walk(t, &deliveryMachine, deliveryTable) })
	t.Run("session", func(t *testing.T) { walk(t, &sessionMachine, sessionTable) })
}

func walk[S, I ~string](t *testing.T, m *machine[S, I], table string) {
	inputs, rows := readTable(table)
	if got := texts(m.inputs); !slices.Equal(got, inputs) {
		t.Fatalf("inputs are %v, the table has %v", got, inputs)
	}
	var states []string
	for _, row := range rows {
		states = append(states, row[0])
		if len(row) != len(inputs)+1 {
			t.Fatalf("row %v has %d cells for %d inputs", row, len(row)-1, len(inputs))
		}
	}
	if got := texts(m.states); !slices.Equal(got, states) {
		t.Fatalf("states are %v, the table has %v", got, states)
	}
	for _, row := range rows {
		from, final := S(row[0]), true
		for i, want := range row[1:] {
			got, err := m.next(from, I(inputs[i]))
			if want == "-" {
				if got != from || !errors.Is(err, WrongState) {
					t.Errorf("%s, %s: got %s, %v; want wrong_state", from, inputs[i], got, err)
				}
				continue
			}
			final = false
			if err != nil || string(got) != want {
				t.Errorf("%s, %s: got %s, %v; want %s", from, inputs[i], got, err, want)
			}
		}
		if m.final(from) != final {
			t.Errorf("%s is final: %v", from, !final)
		}
	}
	for from := range m.table {
		if !slices.Contains(m.states, from) {
			t.Errorf("the machine has rows for %q, which is not one of its states", from)
		}
	}
	for _, odd := range []struct {
		from  S
		input I
	}{{"", m.inputs[0]}, {"asleep", m.inputs[0]}, {m.states[0], ""}, {m.states[0], "explode"}} {
		if got, err := m.next(odd.from, odd.input); got != odd.from || !errors.Is(err, WrongState) {
			t.Errorf("%q, %q: got %s, %v; want wrong_state", odd.from, odd.input, got, err)
		}
	}
	reached := map[S]bool{m.states[0]: true}
	for range m.states {
		for from := range reached {
			for _, to := range m.table[from] {
				reached[to] = true
			}
		}
	}
	for _, s := range m.states {
		if !reached[s] {
			t.Errorf("nothing leads to %s", s)
		}
	}
}

func readTable(table string) (inputs []string, rows [][]string) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for _, line := range lines[1:] {
		rows = append(rows, strings.Fields(line))
	}
	return strings.Fields(lines[0]), rows
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = string(e)
	}
	return out
}

// A constant that its machine does not know would be a state that nothing leads to.
func TestMachinesKnowAllTheirConstants(t *testing.T) {
	declared := constants(t)
	for kind, known := range map[string][]string{
		"RunStatus": texts(runMachine.states), "RunInput": texts(runMachine.inputs),
		"RequestStatus": texts(requestMachine.states), "RequestInput": texts(requestMachine.inputs),
		"OperationStatus": texts(operationMachine.states), "OperationInput": texts(operationMachine.inputs),
		"DeliveryStatus": texts(deliveryMachine.states), "DeliveryInput": texts(deliveryMachine.inputs),
		"SessionMode": texts(sessionMachine.states), "SessionInput": texts(sessionMachine.inputs),
	} {
		if got := declared[kind]; !slices.Equal(got, known) {
			t.Errorf("%s: constants %v, machine %v", kind, got, known)
		}
	}
}

// constants gives the values of the package's typed string constants, by type, in the order of the source.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				kind, typed := value.Type.(*ast.Ident)
				if !typed || len(value.Values) != 1 {
					continue
				}
				if literal, ok := value.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[kind.Name] = append(found[kind.Name], text)
				}
			}
		}
	}
	return found
}

// final reports whether nothing leads out of s.
func (m *machine[S, I]) final(s S) bool { return len(m.table[s]) == 0 }
