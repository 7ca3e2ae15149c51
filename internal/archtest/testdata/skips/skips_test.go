package holdshort

import (
	"testing"

	"pgregory.net/rapid"
)

func TestA(t *testing.T) {
	t.Skip("later") // want `leaves itself out`
	t.Run("sub", func(sub *testing.T) {
		sub.SkipNow()    // want `leaves itself out`
		t.Skipf("%d", 1) // want `leaves itself out`
	})
	rapid.Check(t, func(t *rapid.T) {
		t.Skip("not a case")
	})
	var reader scanner
	reader.Skip()
}

func FuzzA(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		t.Skip() // want `leaves itself out`
	})
}

type scanner struct{}

func (scanner) Skip() {}
