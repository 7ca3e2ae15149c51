package api

import "testing"

func TestStreamsOfOneCaller(t *testing.T) {
	s := &streams{most: 2, of: map[string]int{}}
	one, _ := s.enter("ana")
	s.enter("ana")
	if _, ok := s.enter("ana"); ok {
		t.Error("a third of two")
	}
	if _, ok := s.enter("ben"); !ok {
		t.Error("ben pays for ana")
	}
	one()
	if _, ok := s.enter("ana"); !ok {
		t.Error("what was closed still counts")
	}
	if s := (&streams{most: -1, of: map[string]int{}}); s.most < 0 {
		for range 1000 {
			if _, ok := s.enter("ana"); !ok {
				t.Fatal("no limit has one")
			}
		}
	}
}
