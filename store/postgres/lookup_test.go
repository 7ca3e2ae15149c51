package postgres

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/store/internal/sqldb"
	"github.com/holdshort/holdshort/store/storetest"
)

// crowdSize rows are fewer than ANALYZE samples, so its statistics and the plans are the same on every run.
const (
	crowdSize = 3000
	maxRows   = 100
)

// TestLookupsUseTheirIndex checks that a list query about one subject reads the rows of that subject only: with and
// without statistics, with the plan for its arguments and with the plan for any arguments.
func TestLookupsUseTheirIndex(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	for _, table := range []string{"requests", "runs", "events", "operations", "sessions", "timers"} {
		d.Exec(t, "ALTER TABLE "+table+" SET (autovacuum_enabled = false)")
	}
	crowd, err := storetest.FillCrowd(t.Context(), d.store, crowdSize)
	if err != nil {
		t.Fatal(err)
	}
	d.Exec(t, "UPDATE events SET pos = ins") // as the sequencer does
	// A connection remembers how deep an index was when it first used it. The sequencer's views have seen some of these when
	// they were small; plans that cost the same would depend on which connection makes them.
	d.store.pool.Reset()
	check := func(t *testing.T, mode string) {
		for _, lookup := range crowd.Lookups() {
			t.Run(lookup.Name, func(t *testing.T) {
				err := d.store.Snapshot(t.Context(), func(c sqldb.Conn, now time.Time) error {
					explained := &explainedConn{conn: c.(*conn), t: t, mode: mode, uses: lookup.Uses}
					tx := d.store.db.NewView(explained, crowd.Tenant, now)
					defer tx.End()
					return lookup.Read(tx)
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	modes := []string{"force_custom_plan", "force_generic_plan"}
	for _, mode := range modes {
		t.Run("without statistics, "+mode, func(t *testing.T) { check(t, mode) })
	}
	d.Exec(t, "ANALYZE")
	for _, mode := range modes {
		t.Run("with statistics, "+mode, func(t *testing.T) { check(t, mode) })
	}
}

// explainedConn checks the plan and the number of visited rows of every query that it runs.
type explainedConn struct {
	*conn
	t    *testing.T
	mode string
	uses []string
}

func (c *explainedConn) Query(s *sqldb.Statement, args []any, each func(scan func(...any) error) error) error {
	text := s.Text(sqldb.Postgres)
	plan, raw, err := c.explain(text, args)
	if err != nil {
		return err
	}
	indexes, visited := plan.visited()
	if visited > maxRows {
		c.t.Errorf("%s\nvisits %.0f rows, want at most %d: %s", text, visited, maxRows, raw)
	}
	if !strings.Contains(text, "FROM meta") && !slices.ContainsFunc(indexes, c.allowed) {
		c.t.Errorf("%s\nmust use one of %q: %s", text, c.uses, raw)
	}
	return c.conn.Query(s, args, each)
}

func (c *explainedConn) allowed(index string) bool {
	return slices.Contains(c.uses, index) || slices.Contains(c.uses, strings.TrimSuffix(index, "_pkey"))
}

// planNode is a node of EXPLAIN's JSON.
type planNode struct {
	Index   string     `json:"Index Name"`
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Removed float64    `json:"Rows Removed by Filter"`
	Recheck float64    `json:"Rows Removed by Index Recheck"`
	Plans   []planNode `json:"Plans"`
}

// visited returns the indexes of a plan, and how many rows its nodes returned and removed.
func (n planNode) visited() (indexes []string, rows float64) {
	if n.Index != "" {
		indexes = append(indexes, n.Index)
	}
	rows = (n.Rows + n.Removed + n.Recheck) * n.Loops
	for _, child := range n.Plans {
		more, below := child.visited()
		indexes, rows = append(indexes, more...), rows+below
	}
	return indexes, rows
}

func (c *explainedConn) explain(text string, args []any) (plan planNode, raw string, err error) {
	var values []string
	for _, a := range args {
		if s, ok := a.(string); ok {
			values = append(values, "'"+strings.ReplaceAll(s, "'", "''")+"'")
		} else {
			values = append(values, fmt.Sprint(a))
		}
	}
	call := "explained"
	if len(values) > 0 {
		call += "(" + strings.Join(values, ", ") + ")"
	}
	const settings = "SET LOCAL enable_seqscan = off; SET LOCAL plan_cache_mode = "
	if err := c.Exec(settings + c.mode + "; PREPARE explained AS " + text); err != nil {
		return plan, "", err
	}
	err = c.pg.QueryRow(c.ctx, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE "+call).Scan(&raw)
	if err != nil {
		return plan, "", err
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(raw), &plans); err != nil {
		return plan, "", err
	}
	return plans[0].Plan, raw, c.Exec("DEALLOCATE explained")
}
