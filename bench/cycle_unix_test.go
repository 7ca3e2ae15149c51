//go:build unix

package bench

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/holdshort/holdshort/store/sqlite"
)

// BenchmarkCycle is for profiles: go test -run '^$' -bench Cycle/64 -cpuprofile cycle.prof ./bench
func BenchmarkCycle(b *testing.B) {
	for _, callers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			s, err := sqlite.Open(b.Context(), b.TempDir()+"/bench.db", sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			k, err := startKernel(b.Context(), s, 2*callers+64)
			if err != nil {
				b.Fatal(err)
			}
			defer k.stop()
			b.ReportAllocs()
			b.ResetTimer()
			before := cpu()
			laps, took, err := k.cycles(b.Context(), callers, 3*time.Second)
			b.StopTimer()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(laps))/took.Seconds(), "cycles/s")
			b.ReportMetric(float64((cpu()-before).Microseconds())/float64(len(laps)), "cpu-us/cycle")
			b.ReportMetric(float64(k.store.updates.Load())/float64(len(laps)), "updates/cycle")
			b.ReportMetric(float64(k.store.refused.Load())/float64(len(laps)), "refused/cycle")
			b.ReportMetric(float64(k.store.views.Load())/float64(len(laps)), "views/cycle")
			b.ReportMetric(float64(k.store.system.calls.Load())/float64(len(laps)), "system/cycle")
		})
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
