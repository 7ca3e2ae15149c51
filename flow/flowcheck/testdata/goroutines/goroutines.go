package goroutines

import (
	"sync"
	"sync/atomic"

	"github.com/holdshort/holdshort/flow"
)

var total atomic.Int64

var Fan = flow.New("fan", 1, func(c *flow.Context, in []string) (int, error) {
	var wg sync.WaitGroup         // want "sync.WaitGroup orders goroutines"
	var n atomic.Int64            // want "atomic.Int64 shares memory"
	results := make(chan int, 10) // want "makes a channel"
	for range in {
		wg.Add(1)
		go func() { // want "starts a goroutine"
			defer wg.Done()
			results <- 1 // want "sends on a channel"
		}()
	}
	close(results)              // want "closes a channel"
	v := <-results              // want "receives from a channel"
	for more := range results { // want "receives from a channel"
		v += more
	}
	select { // want "selects between channels"
	case v := <-results:
		n.Add(int64(v))
		go println("more") // want "starts a goroutine"
	default:
	}
	items := make([]int, 5)
	_ = make(map[string]int)
	return v + len(items), nil
})
