package sqlite

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/store/internal/sqldb"
	"github.com/holdshort/holdshort/store/storetest"
)

// crowdSize is large enough that a query which visits every row of the crowd exceeds maxSteps many times over.
const (
	crowdSize = 3000
	maxSteps  = 2500
)

var wholeTable = regexp.MustCompile(
	`SCAN (requests|runs|events|sessions|messages|operations|decisions|journal|outbox|timers)\b`)

// TestLookupsUseTheirIndex checks that a list query about one subject reads the rows of that subject only.
func TestLookupsUseTheirIndex(t *testing.T) {
	t.Parallel()
	f := newFile(t, Options{relaxed: true})
	crowd, err := storetest.FillCrowd(t.Context(), f.store, crowdSize)
	if err != nil {
		t.Fatal(err)
	}
	for _, lookup := range crowd.Lookups() {
		t.Run(lookup.Name, func(t *testing.T) {
			err := f.store.Snapshot(t.Context(), func(c sqldb.Conn, now time.Time) error {
				explained := &explainedConn{conn: c.(*conn), t: t, uses: lookup.Uses}
				tx := f.store.db.NewView(explained, crowd.Tenant, now)
				defer tx.End()
				return lookup.Read(tx)
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// explainedConn checks the plan and the number of virtual machine steps of every query that it runs.
type explainedConn struct {
	*conn
	t    *testing.T
	uses []string
}

func (c *explainedConn) Query(s *sqldb.Statement, args []any, each func(scan func(...any) error) error) error {
	text := s.Text(sqldb.SQLite)
	plan, err := c.explain(text, args)
	if err != nil {
		return err
	}
	p, err := c.prepare(s)
	if err != nil {
		return err
	}
	p.steps()
	err = c.conn.Query(s, args, each)
	if steps := p.steps(); steps > maxSteps {
		c.t.Errorf("%s\ntakes %d steps, want at most %d: %s", text, steps, maxSteps, plan)
	}
	named := func(index string) bool { return strings.Contains(plan, index) }
	if wholeTable.MatchString(plan) || !strings.Contains(plan, "meta") && !slices.ContainsFunc(c.uses, named) {
		c.t.Errorf("%s\nmust use one of %q: %s", text, c.uses, plan)
	}
	return err
}

func (c *explainedConn) explain(text string, args []any) (plan string, err error) {
	p, err := c.handle.prepare("EXPLAIN QUERY PLAN " + text)
	if err != nil {
		return "", err
	}
	defer p.close()
	err = p.run(context.Background(), args, func(scan func(...any) error) error {
		var id, parent, unused int64
		var detail string
		err := scan(&id, &parent, &unused, &detail)
		plan += fmt.Sprintln(detail)
		return err
	})
	return plan, err
}
