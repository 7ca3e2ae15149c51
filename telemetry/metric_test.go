package telemetry

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestMetricText(t *testing.T) {
	c := counter("c_total", "A counter.", "kind")
	c.add(2, `a"b\c`+"\n")
	h := histogram("h_seconds", "A histogram.", []float64{0.1, 1})
	for _, n := range []float64{0.05, 0.5, 5} {
		h.observe(n)
	}
	g := gauge("g", "A gauge.")
	g.set(3)
	var b bytes.Buffer
	for _, m := range []*metric{c, h, g, gauge("empty", "Nothing.")} {
		m.write(&b)
	}
	want := `# HELP c_total A counter.
# TYPE c_total counter
c_total{kind="a\"b\\c\n"} 2
# HELP h_seconds A histogram.
# TYPE h_seconds histogram
h_seconds_bucket{le="0.1"} 1
h_seconds_bucket{le="1"} 2
h_seconds_bucket{le="+Inf"} 3
h_seconds_sum 5.55
h_seconds_count 3
# HELP g A gauge.
# TYPE g gauge
g 3
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestSeriesAreBounded(t *testing.T) {
	c := counter("c_total", "A counter.", "name")
	for i := range 3 * mostSeries {
		c.add(1, fmt.Sprint(i))
	}
	if len(c.series) > mostSeries+1 {
		t.Errorf("%d series", len(c.series))
	}
	var b bytes.Buffer
	c.write(&b)
	if !strings.Contains(b.String(), fmt.Sprintf(`c_total{name="other"} %d`, 2*mostSeries)) {
		t.Error("what comes beyond the limit is not counted together")
	}
}
