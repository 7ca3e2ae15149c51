package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/bench"
)

// TestStartsMeasuresBothServers checks that every figure of the comparison is there, on both stores.
func TestStartsMeasuresBothServers(t *testing.T) {
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			report, err := bench.Run(t.Context(), bench.Options{Store: url(t), Folder: t.TempDir(), NoCommits: true,
				Duration: 40 * time.Millisecond, Open: 100})
			if err != nil {
				t.Fatal(err)
			}
			s := report.Starts
			if s == nil || s.Open != 100 || s.ParkedRate <= 0 || s.NonePerSecond <= 0 || s.OpenPerSecond <= 0 {
				t.Fatalf("figures are missing: %+v", s)
			}
			one := s.OneCaller
			if one.NoneP50 <= 0 || one.OpenP99 < one.OpenP50 || one.StartRatio <= 0 || one.DecidedRatio <= 0 {
				t.Errorf("figures are missing: %+v", one)
			}
			var table, raw bytes.Buffer
			if err := errors.Join(report.WriteTable(&table), report.WriteJSON(&raw)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(table.String(), "start to paused") {
				t.Errorf("the table does not show the comparison:\n%s", table.String())
			}
			var back bench.Report
			if err := json.Unmarshal(raw.Bytes(), &back); err != nil || !reflect.DeepEqual(back, report) {
				t.Errorf("the report does not survive JSON: %v", err)
			}
		})
	}
}
