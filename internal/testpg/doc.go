// Package testpg gives tests a real PostgreSQL: a database of their own on the server that `make test` starts,
// or a whole private server for tests that stop or kill it. It imports the standard library and pgx; only tests import it.
package testpg
