package holdshort

import (
	"testing"
	"time"
)

func TestA(t *testing.T) {
	time.Sleep(time.Second) // want `wait for a signal`
	<-time.After(0)
	other{}.Sleep()
}

type other struct{}

func (other) Sleep() {}
