package storetest

import "testing"

func need(tb testing.TB) {
	tb.Skip("no database") // want `leaves itself out`
}
