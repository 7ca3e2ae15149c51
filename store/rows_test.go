package store

import "testing"

// TestRows: rows of different kinds or names are different, so that nobody waits for the wrong one.
func TestRows(t *testing.T) {
	rows := []Row{RunRow("a"), SessionRow("a"), RequestRow("a"), OperationRow("a"), DeliveryRow("a"), KeyRow("a"), LoginRow("a"), WebhookRow("a"), ReplayRow("a", "b"), ReplayRow("", "ab"), RunRow("b"), InboundRow("a", "b", "c"), InboundRow("a", "", "bc"), InboundRow("", "ab", "c")}
	seen := map[Row]int{}
	for i, r := range rows {
		if first, ok := seen[r]; ok {
			t.Errorf("rows %d and %d are both %q", first, i, r)
		}
		seen[r] = i
	}
	if RunRow("a") != RunRow("a") {
		t.Error("the same row has two names")
	}
}
