package holdshort

import "fmt"

// A machine is a state machine as a table: what is not in it is refused. Tests walk every state with every input, and the pictures in
// docs/architecture.md are drawn from it.
type machine[S, I ~string] struct {
	noun   string
	states []S // in the order of the pictures; the first is the start
	inputs []I
	table  map[S]map[I]S
}

// next gives the state after input, or WrongState with what stands.
func (m *machine[S, I]) next(from S, input I) (S, error) {
	to, ok := m.table[from][input]
	if !ok {
		return from, &Error{Code: WrongState, Message: fmt.Sprintf("%s is %s: %s is not possible", m.noun, from, input)}
	}
	return to, nil
}
