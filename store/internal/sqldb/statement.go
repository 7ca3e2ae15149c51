package sqldb

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Statement is one SQL text in both dialects. It is written with ? for parameters and, where the databases differ, a word in braces that
// the dialect replaces. Its number is the index of its prepared form in a connection.
type Statement struct {
	Number int
	texts  [dialects]string
	bulk   *bulk // nil: it is said as it is

	source  string // of PostgreSQL's text, before its parameters were numbered
	checked sync.Once
	guarded *Statement
	point   bool // it finds rows by their keys
	joined  sync.Once
	lateral *Statement
}

var statementCount atomic.Int64

func statement(text string) *Statement {
	s := &Statement{Number: int(statementCount.Add(1)) - 1}
	s.source = text
	for _, d := range []*Dialect{SQLite, Postgres} {
		s.texts[d.ordinal] = d.translate(text)
	}
	return s
}

// Text makes a statement of a driver's own, to have it prepared like the others.
func Text(text string) *Statement { return statement(text) }

// different is a statement that the dialects do not share.
func different(sqlite, postgres string) *Statement {
	s := statement(sqlite)
	s.source, s.texts[Postgres.ordinal] = postgres, Postgres.translate(postgres)
	return s
}

// point is a statement that reads rows by their keys.
func point(text string) *Statement {
	s := statement(text)
	s.point = true
	return s
}

// Text is the statement for d.
func (s *Statement) Text(d *Dialect) string { return s.texts[d.ordinal] }

// Statements is how many there are: the size of a connection's table of prepared ones.
func Statements() int { return int(statementCount.Load()) }

const dialects = 2

// Dialect is what differs between the databases, in one place.
type Dialect struct {
	Name     string
	ordinal  int
	words    *strings.Replacer
	numbered bool // parameters are $1, $2 instead of ?
}

// SQLite has one writer at a time: what locks a row elsewhere is nothing here.
var SQLite = &Dialect{Name: "sqlite", ordinal: 0, words: strings.NewReplacer("{for share}", "", "{for update}", "", "{skip locked}", "",
	"{each}", "IN (SELECT value FROM json_each(?))")}

// Postgres has many.
var Postgres = &Dialect{Name: "postgres", ordinal: 1, numbered: true, words: strings.NewReplacer("{for share}", " FOR SHARE", "{for update}", " FOR UPDATE",
	"{skip locked}", " FOR UPDATE SKIP LOCKED", "{each}", "= ANY (ARRAY(SELECT jsonb_array_elements_text(?::text::jsonb)))")}

func (d *Dialect) translate(text string) string {
	text = d.words.Replace(text)
	if !d.numbered {
		return text
	}
	var b strings.Builder
	n := 0
	for i := range len(text) {
		if text[i] != '?' {
			b.WriteByte(text[i])
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
