package sqldb

// puts makes the two statements of a noun: insert a new row, or compare and set an old one. Columns in once are written by the insert only.
// Parameters: insert takes columns, once, tenant, id; update takes columns, tenant, id, revision.
func puts(table string, columns, once []string) (insert, update *Statement) {
	all := append(append(append([]string{}, columns...), once...), "tenant", "id")
	return inserts(table, all, ", revision", ", 1", ""), updates(table, columns, []string{"tenant", "id", "revision"})
}

// put writes a noun's row: a new one when revision is 0, else compare-and-set.
func (tx *Tx) put(noun, id string, revision int64, insert, update *Statement, columns, once []any) error {
	args := make([]any, 0, len(columns)+len(once)+3)
	args = append(args, columns...)
	if revision == 0 {
		args = append(append(args, once...), string(tx.tenant), id)
		return tx.write(Write{Statement: insert, Args: args, Want: 1, Noun: noun, ID: id})
	}
	args = append(args, string(tx.tenant), id, revision)
	return tx.write(Write{Statement: update, Args: args, Want: 1, Noun: noun, ID: id})
}
