package telemetry

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// metric is one family of series: a counter, a gauge or a histogram, by the values of its labels.
type metric struct {
	name, help, kind string
	labels           []string
	bounds           []float64 // of a histogram
	mu               sync.Mutex
	series           map[string]*series
}

type series struct {
	values  []string
	sum     float64
	count   uint64
	buckets []uint64
}

// mostSeries of one family. Labels are ours to choose, so there are few; what comes beyond is counted together.
const mostSeries = 1000

func counter(name, help string, labels ...string) *metric {
	return &metric{name: name, help: help, kind: "counter", labels: labels, series: map[string]*series{}}
}

func gauge(name, help string, labels ...string) *metric {
	return &metric{name: name, help: help, kind: "gauge", labels: labels, series: map[string]*series{}}
}

func histogram(name, help string, bounds []float64, labels ...string) *metric {
	return &metric{name: name, help: help, kind: "histogram", labels: labels, bounds: bounds, series: map[string]*series{}}
}

func (m *metric) of(values []string) *series {
	key := strings.Join(values, "\xff")
	s := m.series[key]
	if s == nil {
		if len(m.series) >= mostSeries {
			values = slices.Repeat([]string{"other"}, len(m.labels))
			key = strings.Join(values, "\xff")
		}
		if s = m.series[key]; s == nil {
			s = &series{values: slices.Clone(values), buckets: make([]uint64, len(m.bounds))}
			m.series[key] = s
		}
	}
	return s
}

func (m *metric) add(n float64, values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(values).sum += n
}

func (m *metric) set(n float64, values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(values).sum = n
}

// clear forgets the series of a gauge: what is no longer there must not be shown.
func (m *metric) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.series)
}

func (m *metric) observe(n float64, values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(values)
	s.sum += n
	s.count++
	for i, bound := range m.bounds {
		if n <= bound {
			s.buckets[i]++
		}
	}
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (m *metric) write(b *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.series) == 0 {
		return
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
	keys := make([]string, 0, len(m.series))
	for key := range m.series {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		s := m.series[key]
		if m.kind != "histogram" {
			fmt.Fprintf(b, "%s%s %s\n", m.name, m.tags(s.values), number(s.sum))
			continue
		}
		for i, bound := range m.bounds {
			fmt.Fprintf(b, "%s_bucket%s %d\n", m.name, m.tags(s.values, "le", number(bound)), s.buckets[i])
		}
		fmt.Fprintf(b, "%s_bucket%s %d\n", m.name, m.tags(s.values, "le", "+Inf"), s.count)
		fmt.Fprintf(b, "%s_sum%s %s\n%s_count%s %d\n", m.name, m.tags(s.values), number(s.sum), m.name, m.tags(s.values), s.count)
	}
}

func (m *metric) tags(values []string, more ...string) string {
	var parts []string
	for i, label := range m.labels {
		parts = append(parts, label+`="`+escape.Replace(values[i])+`"`)
	}
	for i := 0; i+1 < len(more); i += 2 {
		parts = append(parts, more[i]+`="`+escape.Replace(more[i+1])+`"`)
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }
