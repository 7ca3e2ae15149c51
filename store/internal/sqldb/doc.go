// Package sqldb is the SQL of both stores, written once: statements, rows to nouns and back, migrations, and the care of the store.
// It may import the root package, store and the standard library; store/sqlite and store/postgres give it connections and a Dialect.
package sqldb
