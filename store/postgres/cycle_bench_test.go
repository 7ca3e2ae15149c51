package postgres

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store/storetest"
)

// benched opens a node on a database without the tests' movable clock: it costs.
func benched(b *testing.B) *Store {
	s, err := Open(context.Background(), testpg.URL(b), Options{KeyringFile: filepath.Join(b.TempDir(), "keys"), Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

func BenchmarkCycle(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) { storetest.BenchmarkCycle(b, benched(b), callers) })
	}
}

func BenchmarkRow(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) { storetest.BenchmarkRow(b, benched(b), callers) })
	}
}

func BenchmarkSweep(b *testing.B) { storetest.BenchmarkSweep(b, benched(b)) }
