package flow

import (
	"fmt"
	"testing"
)

// The two looks at the goroutine that an effect takes, at several depths of the author's calls.
func BenchmarkGoroutine(b *testing.B) {
	for _, look := range []struct {
		name string
		fn   func() bool
	}{
		{"entry", func() bool { return entryPoint() != 0 }},
		{"id", func() bool { return goroutineID() != 0 }},
	} {
		for _, depth := range []int{1, 10, 50, 200} {
			b.Run(fmt.Sprintf("%s/depth=%d", look.name, depth), func(b *testing.B) {
				b.ReportAllocs()
				deeper(depth, func() {
					for b.Loop() {
						if !look.fn() {
							b.Fatal("the runtime does not tell")
						}
					}
				})
			})
		}
	}
}

//go:noinline
func deeper(n int, fn func()) {
	if n > 1 {
		deeper(n-1, fn)
		return
	}
	fn()
}
