package sqldb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// one loads a single row by tenant and id.
func one[T any](tx *Tx, s *Statement, noun, id string, scanRow func(func(...any) error) (T, string, error)) (T, error) {
	return first(tx, s, []any{string(tx.tenant), id}, noun, id, scanRow)
}

// first loads the first row of a query; name is what to say when there is none. A row that cannot be read is returned as far as it can,
// with the error.
func first[T any](tx *Tx, s *Statement, args []any, noun, name string, scanRow func(func(...any) error) (T, string, error)) (T, error) {
	var out T
	found := false
	err := tx.query(s, args, func(scan func(...any) error) error {
		row, _, err := scanRow(scan)
		out, found = row, err == nil
		return err
	})
	if err == nil && !found {
		err = notFound(noun, name)
	}
	return out, err
}

// all loads every row of a query.
func all[T any](tx *Tx, s *Statement, args []any, scanRow func(func(...any) error) (T, string, error)) ([]T, error) {
	var out []T
	err := tx.query(s, args, func(scan func(...any) error) error {
		row, _, err := scanRow(scan)
		if err == nil {
			out = append(out, row)
		}
		return err
	})
	return out, err
}

// A listing is a SELECT put together from the filters that a caller gave. There are few combinations: each becomes a Statement once.
type listing struct {
	head    string
	filters []string
	args    []any
	order   string
	subject string // the column whose index must answer it; "" leaves the choice to the planner
	name    string // of table and order: a cursor of another list is refused
	err     error
}

var listings sync.Map // text → *Statement

func list(table, columns string) *listing {
	return &listing{head: "SELECT " + columns + " FROM " + table}
}

func (l *listing) where(filter string, args ...any) *listing {
	l.filters = append(l.filters, filter)
	l.args = append(l.args, args...)
	return l
}

// only names the column whose index must answer the listing. The other columns are then written as expressions, which
// match no index on either database. Otherwise planners choose an index in the order of the list: the LIMIT makes it look
// cheap, but it visits the rows of every other subject too.
func (l *listing) only(subject string) *listing {
	l.subject = subject
	return l
}

// text returns a column of texts as it stands in a condition.
func (l *listing) text(column string) string {
	if l.subject == "" || l.subject == column {
		return column
	}
	return "(" + column + " || '')"
}

// number returns a column of numbers as it stands in a condition or an order.
func (l *listing) number(column string) string {
	if l.subject == "" || l.subject == column {
		return column
	}
	return "(+" + column + ")"
}

// sorted returns the columns of an order. Ids stay as they are: the indexes of subjects end with them.
func (l *listing) sorted(columns []string) []string {
	out := slices.Clone(columns)
	for i, column := range columns {
		if column != "id" && column != "key" {
			out[i] = l.number(column)
		}
	}
	return out
}

// keyset sorts by columns and goes on after the cursor. The last column is unique within the others, so no row is shown twice or missed.
func (l *listing) keyset(cursor string, descending bool, columns ...string) {
	direction, beyond := "", ">"
	if descending {
		direction, beyond = " DESC", "<"
	}
	l.name = l.head[strings.LastIndex(l.head, " ")+1:] + beyond + strings.Join(columns, "+")
	sorted := l.sorted(columns)
	l.order = " ORDER BY " + strings.Join(sorted, direction+", ") + direction
	if cursor == "" {
		return
	}
	values, err := decodeCursor(l.name, cursor, columns)
	if err != nil {
		l.err = err
		return
	}
	l.where("("+strings.Join(sorted, ", ")+") "+beyond+" ("+strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")+")", values...)
}

func (l *listing) statement() *Statement {
	text := l.head + " WHERE " + strings.Join(l.filters, " AND ") + l.order + " LIMIT ?"
	if s, ok := listings.Load(text); ok {
		return s.(*Statement)
	}
	s, _ := listings.LoadOrStore(text, statement(text))
	return s.(*Statement)
}

// page runs a listing for one page. A row that cannot be read is named in the page and does not hide the others.
func page[T any](tx *Tx, l *listing, limit int, scanRow func(func(...any) error) (T, string, error), position func(T) []any) (store.Page[T], error) {
	var out store.Page[T]
	if l.err != nil {
		return out, l.err
	}
	if limit <= 0 || limit > store.MaxPage {
		limit = store.MaxPage
	}
	seen := 0
	var last T
	err := tx.query(l.statement(), append(l.args, int64(limit)+1), func(scan func(...any) error) error {
		row, id, err := scanRow(scan)
		if err != nil && !errors.Is(err, holdshort.Corrupt) {
			return err
		}
		seen++
		switch {
		case seen > limit:
			out.Next = encodeCursor(l.name, position(last))
		case err != nil:
			out.Corrupt = append(out.Corrupt, id)
			last = row
		default:
			out.Items = append(out.Items, row)
			last = row
		}
		return nil
	})
	return out, err
}

func encodeCursor(list string, values []any) string {
	raw, _ := json.Marshal(append([]any{list}, values...))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// decodeCursor takes only what encodeCursor gave for the same list: ids and keys are text, everything else is a number.
func decodeCursor(list, cursor string, columns []string) ([]any, error) {
	bad := &holdshort.Error{Code: holdshort.Invalid, Field: "cursor", Message: "the cursor is not one of this list", Hint: "take next_cursor as it was given, or start without one"}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) > 1024 {
		return nil, bad
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var values []any
	if err := decoder.Decode(&values); err != nil || len(values) != 1+len(columns) || values[0] != list {
		return nil, bad
	}
	values = values[1:]
	for i, v := range values {
		if columns[i] == "id" || columns[i] == "key" {
			if text, ok := v.(string); !ok || texts("cursor", text) != nil {
				return nil, bad
			}
			continue
		}
		number, ok := v.(json.Number)
		n, err := number.Int64()
		if !ok || err != nil {
			return nil, bad
		}
		values[i] = n
	}
	if encodeCursor(list, values) != cursor {
		return nil, bad
	}
	return values, nil
}
