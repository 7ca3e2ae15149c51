package reply

import (
	"iter"
	"math/bits"
)

// Set is a set of option indexes below MaxOptions. It is comparable and needs no memory of its own.
type Set struct {
	words [MaxOptions / 64]uint64
}

func (s *Set) add(i int) { s.words[i/64] |= 1 << (i % 64) }

func (s *Set) union(other Set) {
	for i := range s.words {
		s.words[i] |= other.words[i]
	}
}

// Has reports whether index i is in the set.
func (s Set) Has(i int) bool {
	return i >= 0 && i < MaxOptions && s.words[i/64]&(1<<(i%64)) != 0
}

// Len is the number of indexes.
func (s Set) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// First is the lowest index, or -1.
func (s Set) First() int {
	for i, w := range s.words {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// All yields the indexes in the options' order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

func only(i int) (s Set) {
	s.add(i)
	return s
}

func upTo(n int) (s Set) {
	for i := range n {
		s.add(i)
	}
	return s
}
