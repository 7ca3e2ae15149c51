package sqldb

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/holdshort/holdshort"
)

// bulk is how a statement that touches rows of one table by their keys is said once for the rows of many: each parameter becomes an array. On
// PostgreSQL a statement costs more than its row, so a group says each of its statements once.
type bulk struct {
	table  string
	text   string // with the arrays' rows as u (p1, p2, …) in place of {rows}
	once   sync.Once
	kinds  []string // of the parameters
	merged *Statement
}

func parameter(i int) string { return "u.p" + strconv.Itoa(i+1) }

func parameters(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = parameter(i)
	}
	return strings.Join(names, ", ")
}

// pairs gives "prefix column = value" for each column; value is a question mark or the parameter from the given one on.
func pairs(prefix, separator string, columns []string, from int) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		value := "?"
		if from >= 0 {
			value = parameter(from + i)
		}
		out[i] = prefix + c + " = " + value
	}
	return strings.Join(out, separator)
}

// inserts makes the statement that adds a row. What stands behind the columns and behind their values may add more; tail says what becomes of a
// row that is there.
func inserts(table string, columns []string, more, value, tail string) *Statement {
	head := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + more + ")"
	s := statement(head + " VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + value + ")" + tail)
	s.bulk = &bulk{table: table, text: head + " SELECT " + parameters(len(columns)) + value + " FROM {rows}" + tail}
	return s
}

// updates makes the statement that compares the keys of a row and sets its columns.
func updates(table string, columns, keys []string) *Statement {
	s := statement("UPDATE " + table + " SET " + pairs("", ", ", columns, -1) + ", revision = revision + 1 WHERE " + pairs("", " AND ", keys, -1))
	s.bulk = &bulk{table: table, text: "UPDATE " + table + " AS o SET " + pairs("", ", ", columns, 0) + ", revision = o.revision + 1 FROM {rows} WHERE " +
		pairs("o.", " AND ", keys, len(columns))}
	return s
}

func deletes(table string, keys []string) *Statement {
	s := statement("DELETE FROM " + table + " WHERE " + pairs("", " AND ", keys, -1))
	s.bulk = &bulk{table: table, text: "DELETE FROM " + table + " AS o USING {rows} WHERE " + pairs("o.", " AND ", keys, 0)}
	return s
}

// shares makes the statement that keeps a row as it is until the commit.
func shares(table string, keys []string) *Statement {
	s := statement("SELECT 1 FROM " + table + " WHERE " + pairs("", " AND ", keys, -1) + "{for share}")
	s.bulk = &bulk{table: table, text: "SELECT 1 FROM " + table + " AS o, {rows} WHERE " + pairs("o.", " AND ", keys, 0) + " FOR SHARE OF o"}
	return s
}

// kindOf names the type of a parameter.
func kindOf(arg any) string {
	switch arg.(type) {
	case string:
		return "text"
	case int64:
		return "bigint"
	case []byte:
		return "bytea"
	}
	return ""
}

// many gives the statement for arrays, nil if there is none for such parameters.
func (s *Statement) many(args []any) *Statement {
	b := s.bulk
	if b == nil {
		return nil
	}
	b.once.Do(func() {
		arrays := make([]string, len(args))
		for i, a := range args {
			b.kinds = append(b.kinds, kindOf(a))
			arrays[i] = "?::" + b.kinds[i] + "[]"
		}
		names := strings.ReplaceAll(parameters(len(args)), "u.", "")
		b.merged = different(s.texts[SQLite.ordinal], strings.Replace(b.text, "{rows}", "unnest("+strings.Join(arrays, ", ")+") AS u ("+names+")", 1))
	})
	for i, a := range args {
		if kind := kindOf(a); kind == "" || i >= len(b.kinds) || kind != b.kinds[i] {
			return nil
		}
	}
	return b.merged
}

// Merge puts the writes of many transactions together, each statement once for all its rows. Of one transaction and table the order stays as it
// was; beyond that no order counts, because each of these statements touches one table by its keys. A transaction that says anything else comes
// behind the others, as it is. Rows of one statement that belong together can no longer be told apart: if any fails, all of it did.
func Merge(transactions [][]Write) []Write {
	var stages [][]*merging
	var rest []Write
	for _, writes := range transactions {
		if slices.ContainsFunc(writes, func(w Write) bool { return w.Statement.many(w.Args) == nil }) {
			rest = append(rest, writes...)
			continue
		}
		for i := range writes {
			stage := stageOf(writes[:i], writes[i].Statement)
			for len(stages) <= stage {
				stages = append(stages, nil)
			}
			stages[stage] = add(stages[stage], writes[i])
		}
	}
	var out []Write
	for _, stage := range stages {
		for _, m := range stage {
			out = append(out, m.write())
		}
	}
	return append(out, rest...)
}

// stageOf counts how often the transaction turned to another statement of the same table before.
func stageOf(before []Write, s *Statement) int {
	stage := 0
	last := s
	for i := len(before) - 1; i >= 0; i-- {
		if b := before[i].Statement; b.bulk.table == s.bulk.table && b != last {
			stage, last = stage+1, b
		}
	}
	return stage
}

// merging is a statement with the rows that it has so far.
type merging struct {
	statement *Statement
	first     Write
	rows      [][]any
	want      int64
}

func add(stage []*merging, w Write) []*merging {
	for _, m := range stage {
		if m.statement == w.Statement {
			m.rows = append(m.rows, w.Args)
			if w.Want == Any {
				m.want = Any
			} else {
				m.want += w.Want
			}
			return stage
		}
	}
	return append(stage, &merging{statement: w.Statement, first: w, rows: [][]any{w.Args}, want: w.Want})
}

func (m *merging) write() Write {
	if len(m.rows) == 1 {
		return m.first
	}
	return Write{Statement: m.statement.many(m.first.Args), Args: Arrays(m.rows), Want: m.want, Selects: m.first.Selects,
		Miss: &holdshort.Error{Code: holdshort.Conflict, Message: "a row of the group changed meanwhile"}}
}

func pluck[T any](rows [][]any, i int) []T {
	out := make([]T, len(rows))
	for n, r := range rows {
		out[n] = r[i].(T)
	}
	return out
}

// Guarded gives a statement that fails, instead of touching another number of rows than its last parameter says: what follows it in one batch,
// the COMMIT too, then does not happen. nil: it cannot touch another number.
func (s *Statement) Guarded() *Statement {
	s.checked.Do(func() {
		change := " RETURNING 1"
		switch {
		case strings.HasPrefix(s.source, "INSERT") && !strings.Contains(s.source, "WHERE ") && !strings.Contains(s.source, "DO NOTHING"):
			return
		case strings.HasPrefix(s.source, "SELECT"):
			change = ""
		}
		s.guarded = different(s.texts[SQLite.ordinal], "WITH done AS ("+s.source+change+") SELECT 1 / CASE WHEN count(*) = ? THEN 1 ELSE 0 END FROM done")
	})
	return s.guarded
}

// ForMany gives the statement that answers a read for many keys at once: each row is led by the number of its key, from 1. nil if it cannot.
func (s *Statement) ForMany(args []any) *Statement {
	if !s.point || slices.ContainsFunc(args, func(a any) bool { return kindOf(a) == "" }) {
		return nil
	}
	s.joined.Do(func() {
		text, arrays := s.source, make([]string, len(args))
		for i, a := range args {
			arrays[i] = "?::" + kindOf(a) + "[]"
			text = strings.Replace(text, "?", parameter(i), 1)
		}
		names := strings.ReplaceAll(parameters(len(args)), "u.", "")
		s.lateral = different(s.texts[SQLite.ordinal], "SELECT u.n, q.* FROM unnest("+strings.Join(arrays, ", ")+") WITH ORDINALITY AS u ("+names+
			", n) CROSS JOIN LATERAL ("+text+") AS q")
	})
	return s.lateral
}

// Arrays turns rows of parameters into the arrays of their columns.
func Arrays(rows [][]any) []any {
	args := make([]any, len(rows[0]))
	for i := range args {
		switch rows[0][i].(type) {
		case string:
			args[i] = pluck[string](rows, i)
		case int64:
			args[i] = pluck[int64](rows, i)
		default:
			args[i] = pluck[[]byte](rows, i)
		}
	}
	return args
}
