package sqldb

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		start time.Time
		walls []time.Duration // after at
		want  []time.Duration
		back  int64
	}{
		"goes on":                           {walls: []time.Duration{0, 1, time.Second}, want: []time.Duration{0, 0, time.Second}},
		"stands still after a small step":   {walls: []time.Duration{0, -time.Second, -30 * time.Second, -time.Minute, 1500}, want: []time.Duration{0, 0, 0, 0, 1000}},
		"follows a large one":               {walls: []time.Duration{0, -time.Hour, -time.Hour + time.Second}, want: []time.Duration{0, -time.Hour, -time.Hour + time.Second}, back: 1},
		"follows what is just too large":    {walls: []time.Duration{0, -time.Minute - time.Microsecond}, want: []time.Duration{0, -time.Minute - time.Microsecond}, back: 1},
		"does not creep back by small ones": {walls: []time.Duration{0, -50 * time.Second, -100 * time.Second}, want: []time.Duration{0, 0, -100 * time.Second}, back: 1},
		"jumps forward":                     {walls: []time.Duration{0, 10000 * time.Hour}, want: []time.Duration{0, 10000 * time.Hour}},
		"begins with what the store knows":  {start: at.Add(30 * time.Second), walls: []time.Duration{0, 31 * time.Second}, want: []time.Duration{30 * time.Second, 31 * time.Second}},
		"but not with what is far ahead":    {start: at.Add(time.Hour), walls: []time.Duration{0}, want: []time.Duration{0}, back: 1},
	} {
		var clock Clock
		if !c.start.IsZero() {
			clock.Start(c.start)
		}
		for i, wall := range c.walls {
			got := clock.Read(at.Add(wall).In(time.FixedZone("elsewhere", 3600)))
			if want := at.Add(c.want[i]); !got.Equal(want) || got.Location() != time.UTC {
				t.Errorf("%s: reading %d gives %v, want %v", name, i, got, want)
			}
		}
		if clock.SetBack() != c.back {
			t.Errorf("%s: %d large steps back are counted, want %d", name, clock.SetBack(), c.back)
		}
	}
}

func TestClockForMany(t *testing.T) {
	var clock Clock
	at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	done := make(chan bool)
	for i := range 8 {
		go func() {
			last := time.Time{}
			ok := true
			for n := range 1000 {
				now := clock.Read(at.Add(time.Duration(n*8+i) * time.Microsecond))
				ok = ok && !now.Before(last)
				last = now
			}
			done <- ok
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("time went back for somebody")
		}
	}
}

func TestMicros(t *testing.T) {
	for _, at := range []time.Time{{}, time.UnixMicro(1).UTC(), time.UnixMicro(-1).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)} {
		if got := fromMicros(micros(at)); !got.Equal(at) || got.IsZero() != at.IsZero() {
			t.Errorf("%v came back as %v", at, got)
		}
	}
}
