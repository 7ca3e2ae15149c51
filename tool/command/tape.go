package command

import (
	"fmt"
	"sync"

	"github.com/holdshort/holdshort/tool/internal/answer"
)

// tape keeps the beginning and the end of what is written to it: errors tend to come last.
type tape struct {
	mu   sync.Mutex
	most int
	size int64
	head []byte
	tail []byte // ring
	next int    // where tail goes on
}

func newTape(most int) *tape { return &tape{most: most} }

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.size += int64(n)
	front := (t.most + 1) / 2
	if room := front - len(t.head); room > 0 {
		room = min(room, len(p))
		t.head = append(t.head, p[:room]...)
		p = p[room:]
	}
	back := t.most - front
	if back == 0 {
		return n, nil
	}
	if len(p) > back {
		p = p[len(p)-back:]
	}
	for _, c := range p {
		if len(t.tail) < back {
			t.tail = append(t.tail, c)
			continue
		}
		t.tail[t.next] = c
		t.next = (t.next + 1) % back
	}
	return n, nil
}

func (t *tape) cut() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size > int64(t.most)
}

// bytes gives what was kept, with a mark where something is missing.
func (t *tape) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	tail := append(append([]byte{}, t.tail[t.next:]...), t.tail[:t.next]...)
	if left := t.size - int64(len(t.head)+len(tail)); left > 0 {
		end := answer.Tail(tail)
		if answer.IsBinary(t.head) {
			return t.head
		}
		if answer.IsBinary(end) {
			left, end = left+int64(len(tail)), nil
		}
		return fmt.Appendf([]byte(answer.Text(t.head)), "\n… %d bytes left out …\n%s", left, end)
	}
	return append(append([]byte{}, t.head...), tail...)
}
