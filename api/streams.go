package api

import "sync"

// streams counts what each caller has open: a stream costs more than a call, and nobody needs many.
type streams struct {
	most int // negative: no limit
	mu   sync.Mutex
	of   map[string]int
}

func (s *streams) enter(caller string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most >= 0 && s.of[caller] >= s.most {
		return nil, false
	}
	s.of[caller]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.of[caller]--; s.of[caller] == 0 {
			delete(s.of, caller)
		}
	}, true
}
