package sqlite

import (
	"fmt"
	"testing"

	"github.com/holdshort/holdshort/store/storetest"
)

func BenchmarkCycle(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) { storetest.BenchmarkCycle(b, newFile(b, Options{}).store, callers) })
	}
}

func BenchmarkRow(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) { storetest.BenchmarkRow(b, newFile(b, Options{}).store, callers) })
	}
}

func BenchmarkSweep(b *testing.B) { storetest.BenchmarkSweep(b, newFile(b, Options{}).store) }
