package testpg

import "testing"

func need(tb testing.TB) {
	tb.Skip("no database")
}
