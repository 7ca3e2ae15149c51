package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// look adds what the last transaction changed to the script.
func (r *recorder) look(ctx context.Context) error {
	now, err := r.dump(ctx)
	if err != nil {
		return err
	}
	var writes []write
	for i := range r.tables {
		t := &r.tables[i]
		changes := r.changes(t, r.last[t.name], now[t.name])
		if t.name == "commits" { // PostgreSQL notes each commit
			r.script.commit = changes
			continue
		}
		writes = append(writes, changes...)
	}
	r.last = now
	r.script.transactions = append(r.script.transactions, writes)
	return nil
}

func (r *recorder) changes(t *table, before, after rows) (writes []write) {
	for _, key := range slices.SortedFunc(maps.Keys(after), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }) {
		row, old := after[key], before[key]
		if old == nil {
			writes = append(writes, r.insert(t, row))
		} else if !reflect.DeepEqual(row, old) {
			writes = append(writes, r.update(t, old, row))
		}
	}
	for key, old := range before {
		if after[key] == nil {
			w := write{table: t.name}
			w.text = "DELETE FROM " + t.name + r.where(t, old, &w)
			writes = append(writes, w)
		}
	}
	return writes
}

func (r *recorder) insert(t *table, row []any) write {
	w := write{table: t.name}
	var names, marks []string
	for i, c := range t.columns {
		if t.counts && i == t.key[0] || row[i] == nil {
			continue
		}
		names = append(names, c)
		marks = append(marks, r.mark(&w, row[i], slices.Contains(t.key, i)))
	}
	w.text = "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
	return w
}

func (r *recorder) update(t *table, old, row []any) write {
	w := write{table: t.name}
	var sets []string
	for i, c := range t.columns {
		if !reflect.DeepEqual(old[i], row[i]) {
			sets = append(sets, c+" = "+r.mark(&w, row[i], false))
		}
	}
	w.text = "UPDATE " + t.name + " SET " + strings.Join(sets, ", ") + r.where(t, row, &w)
	return w
}

func (r *recorder) where(t *table, row []any, w *write) string {
	var terms []string
	for _, i := range t.key {
		terms = append(terms, t.columns[i]+" = "+r.mark(w, row[i], true))
	}
	return " WHERE " + strings.Join(terms, " AND ")
}

// mark adds a value and gives its place in the statement. Ids and times move from cycle to cycle; payloads stay as they were.
func (r *recorder) mark(w *write, value any, key bool) string {
	a := arg{fixed: value}
	switch v := value.(type) {
	case string:
		if at := anID.FindStringIndex(v); at != nil {
			id := v[at[0]:at[1]]
			if !slices.Contains(r.script.ids, id) {
				r.script.ids = append(r.script.ids, id)
			}
			a.id, a.parts = 1+slices.Index(r.script.ids, id), [2]string{v[:at[0]], v[at[1]:]}
		} else if key && anyHex.MatchString(v) {
			a.fresh = true
		}
	case []byte:
		a.fixed = append([]byte{}, v...) // an empty one is not NULL
	case int64:
		const year = 365 * 24 * 3600 * 1_000_000
		a.since, a.moves = v-r.begun, v > r.begun-year && v < r.begun+year
	}
	w.args = append(w.args, a)
	if !r.postgres {
		return "?" // the driver looks names up
	}
	return "$" + strconv.Itoa(len(w.args))
}

// passage is one cycle on its way through the script.
type passage struct {
	ids   []string
	begun int64
	next  int // transaction
}

var passages atomic.Int64

// pass begins a cycle with ids of its own, which grow as those of the engine do.
func (s *script) pass() *passage {
	p := &passage{ids: make([]string, len(s.ids)), begun: time.Now().UnixMicro()}
	n := passages.Add(1)
	for i, id := range s.ids {
		p.ids[i] = id[:4] + fmt.Sprintf("%013d%09d%04d", p.begun%1e13, n, i)
	}
	return p
}

// values of one statement for this cycle.
func (w *write) values(p *passage, into []any) []any {
	into = into[:0]
	for i := range w.args {
		a := &w.args[i]
		switch {
		case a.id > 0 && a.parts == [2]string{}:
			into = append(into, p.ids[a.id-1])
		case a.id > 0:
			into = append(into, a.parts[0]+p.ids[a.id-1]+a.parts[1])
		case a.moves:
			into = append(into, p.begun+a.since)
		case a.fresh:
			into = append(into, rand.Text()[:26]+"000000")
		default:
			into = append(into, a.fixed)
		}
	}
	return into
}
