package apart_test

import (
	"errors"
	"testing"

	"github.com/holdshort/holdshort/internal/apart"
)

func TestDo(t *testing.T) {
	wrong := errors.New("wrong")
	if v, err := apart.Do(func() (int, error) { return 7, wrong }); v != 7 || err != wrong {
		t.Error(v, err)
	}
	defer func() {
		if p := recover(); p != "boom" {
			t.Error(p)
		}
	}()
	apart.Do(func() (int, error) { panic("boom") })
}
