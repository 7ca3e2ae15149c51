package sqldb

var (
	selectCounter = point(`SELECT value FROM counters WHERE tenant = ? AND name = ?`)
	addCounter    = counting(`INSERT INTO counters (tenant, name, value) `, ` ON CONFLICT (tenant, name) DO UPDATE SET value = counters.value + excluded.value`)
)

// counting adds once for all who add to the same counter: a statement cannot change a row twice.
func counting(head, tail string) *Statement {
	s := statement(head + `VALUES (?, ?, ?)` + tail)
	s.bulk = &bulk{table: "counters", text: head + `SELECT u.p1, u.p2, sum(u.p3)::bigint FROM {rows} GROUP BY u.p1, u.p2 ORDER BY u.p1, u.p2` + tail}
	return s
}

func (tx *Tx) Counter(name string) (value int64, err error) {
	err = tx.query(selectCounter, []any{string(tx.tenant), name}, func(scan func(...any) error) error { return scan(&value) })
	return value, err
}

func (tx *Tx) AddCounter(name string, delta int64) error {
	if err := tx.required("counter", name); err != nil {
		return err
	}
	return tx.write(Write{Statement: addCounter, Args: []any{string(tx.tenant), name, delta}, Want: Any})
}
