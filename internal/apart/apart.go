// Package apart does something on another goroutine's stack. It imports nothing.
package apart

// Do calls do on a stack of its own and gives what it gives; a panic comes back as well. Reading the store takes a deep stack, and whoever
// waits afterwards would keep it: ten thousand who wait must not.
func Do[T any](do func() (T, error)) (v T, err error) {
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		v, err = do()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
	return v, err
}
