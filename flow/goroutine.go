package flow

import (
	"bytes"
	"runtime"
	"strconv"
)

// A flow that starts goroutines of its own would record effects in an order that no replay repeats, so every effect looks where it is. The
// function that a goroutine was started with tells an author's goroutine from ours and costs little; the id, which tells one branch from
// another, costs ten times as much and grows with the depth of the stack.

// entryPoint names the function that this goroutine was started with.
func entryPoint() uintptr {
	var pcs [64]uintptr
	for skip := 1; ; skip += len(pcs) - 2 { // so that the last look has at least two: the function, and the runtime below it
		n := runtime.Callers(skip, pcs[:])
		if n == len(pcs) {
			continue
		}
		if f := runtime.FuncForPC(pcs[max(n-2, 0)]); f != nil {
			return f.Entry()
		}
		return 0
	}
}

// goroutineID is read from the head of the stack trace, the one place where the runtime tells it.
func goroutineID() uint64 {
	var buf [40]byte
	head := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	if i := bytes.IndexByte(head, ' '); i > 0 {
		id, _ := strconv.ParseUint(string(head[:i]), 10, 64)
		return id
	}
	return 0
}
