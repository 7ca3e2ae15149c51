package store

// CounterReader reads a tenant's counters: what limits are held against.
type CounterReader interface {
	// Counter gives the value under a name, 0 for one that nobody has added to.
	Counter(name string) (int64, error)
}

// CounterWriter changes them.
type CounterWriter interface {
	// AddCounter adds to the value under a name, below zero if delta is; concurrent adds all count. A limit that must hold names
	// CounterRow, reads and adds: then nobody adds between the two.
	AddCounter(name string, delta int64) error
}
