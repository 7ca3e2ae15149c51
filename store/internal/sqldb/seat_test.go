package sqldb

import (
	"testing"

	"github.com/holdshort/holdshort"
)

// TestSeatKinds holds the stored number of each kind: rows keep it for ever.
func TestSeatKinds(t *testing.T) {
	numbers := map[holdshort.Kind]int64{
		holdshort.Approval: 0, holdshort.Reconcile: 1, holdshort.Escalation: 2, holdshort.Clarification: 3,
		holdshort.Disambiguation: 4, holdshort.Confirmation: 5, holdshort.Takeover: 6, holdshort.Proxy: 7,
		holdshort.ErrorRecovery: 8, "": 9, "a kind of a later release": 9,
	}
	for kind, want := range numbers {
		if got := seatKind(kind); got != want {
			t.Errorf("%q is stored as %d, want %d", kind, got, want)
		}
	}
	restore := seatKinds
	defer func() { seatKinds = restore }()
	seatKinds = append(seatKinds[:len(seatKinds):len(seatKinds)], "appended")
	if got := seatKind("appended"); got != 10 {
		t.Errorf("an appended kind is stored as %d, want 10: 9 means other", got)
	}
}
