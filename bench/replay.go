package bench

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// replayer says a script to the database itself: no engine, no store, no JSON, no reads, nothing between the statements.
type replayer interface {
	// commit carries the passages one transaction further, all in one commit.
	commit(ctx context.Context, lane int, passages []*passage) error
	// bare commits one row.
	bare(ctx context.Context) error
	lanes() int
	close()
}

// replay carries cycles through the script for a while, as many at once as there are callers, so many transactions to a commit as the engine
// had on average, and gives how many it completed.
func replay(ctx context.Context, r replayer, s *script, callers int, group float64, d time.Duration) (cycles int, took time.Duration, err error) {
	lanes := min(r.lanes(), callers)
	done, faults := make([]int, lanes), make([]error, lanes)
	var wg sync.WaitGroup
	start := time.Now()
	for lane := range lanes {
		wg.Go(func() {
			under := make([]*passage, (callers+lane)/lanes) // its share of the callers
			for i := range under {
				under[i] = s.pass()
			}
			due := 0.0
			for at := 0; (done[lane] == 0 || time.Since(start) < d) && faults[lane] == nil; {
				due = min(due+max(group, 1), float64(len(under)))
				var members []*passage
				for ; due >= 1; due-- {
					members = append(members, under[at])
					at = (at + 1) % len(under)
				}
				faults[lane] = r.commit(ctx, lane, members)
				for i, p := range under {
					if p.next == len(s.transactions) {
						under[i] = s.pass()
						done[lane]++
					}
				}
			}
		})
	}
	wg.Wait()
	for lane := range lanes {
		cycles += done[lane]
		if err == nil {
			err = faults[lane]
		}
	}
	return cycles, time.Since(start), err
}

// newReplayer connects to the store of t, which nobody else has open.
func newReplayer(ctx context.Context, t *target, s *script) (replayer, error) {
	if t.url == "" {
		return newSQLiteReplayer(ctx, t, s)
	}
	return newPostgresReplayer(ctx, t, s)
}

// oneRow of the script: a journal entry of the first transaction.
func (s *script) oneRow() *write {
	for i, w := range s.transactions[0] {
		if w.table == "journal" {
			return &s.transactions[0][i]
		}
	}
	return &s.transactions[0][0]
}

// sqliteReplayer has one connection with prepared statements, as SQLite has one writer.
type sqliteReplayer struct {
	script        *script
	db            *sql.DB
	conn          *sql.Conn
	prepared      map[string]*sql.Stmt
	begin, finish *sql.Stmt
	args          []any
}

func newSQLiteReplayer(ctx context.Context, t *target, s *script) (*sqliteReplayer, error) {
	r := &sqliteReplayer{script: s, prepared: map[string]*sql.Stmt{}}
	var err error
	if r.db, err = t.raw(); err != nil {
		return nil, err
	}
	if r.conn, err = r.db.Conn(ctx); err != nil {
		r.close()
		return nil, err
	}
	texts := []string{"BEGIN IMMEDIATE", "COMMIT"}
	for _, transaction := range s.transactions {
		for _, w := range transaction {
			texts = append(texts, w.text)
		}
	}
	for _, text := range texts {
		if r.prepared[text] == nil {
			if r.prepared[text], err = r.conn.PrepareContext(ctx, text); err != nil {
				r.close()
				return nil, err
			}
		}
	}
	r.begin, r.finish = r.prepared["BEGIN IMMEDIATE"], r.prepared["COMMIT"]
	return r, nil
}

func (r *sqliteReplayer) lanes() int { return 1 }

func (r *sqliteReplayer) commit(_ context.Context, _ int, passages []*passage) error {
	ctx := context.Background() // a context that can end costs a goroutine a statement
	if _, err := r.begin.ExecContext(ctx); err != nil {
		return err
	}
	for _, p := range passages {
		transaction := r.script.transactions[p.next]
		for i := range transaction {
			w := &transaction[i]
			r.args = w.values(p, r.args)
			if _, err := r.prepared[w.text].ExecContext(ctx, r.args...); err != nil {
				return err
			}
		}
		p.next++
	}
	_, err := r.finish.ExecContext(ctx)
	return err
}

func (r *sqliteReplayer) bare(context.Context) error {
	w := r.script.oneRow()
	r.args = w.values(r.script.pass(), r.args)
	_, err := r.prepared[w.text].ExecContext(context.Background(), r.args...)
	return err
}

func (r *sqliteReplayer) close() {
	if r.conn != nil {
		r.conn.Close()
	}
	r.db.Close()
}

// postgresReplayer has as many connections as the store has lanes; a commit is one round trip.
type postgresReplayer struct {
	script *script
	conns  []*pgx.Conn
}

const storeLanes = 4 // the store's default

func newPostgresReplayer(ctx context.Context, t *target, s *script) (*postgresReplayer, error) {
	r := &postgresReplayer{script: s}
	for range storeLanes {
		c, err := pgx.Connect(ctx, t.url)
		if err != nil {
			r.close()
			return nil, err
		}
		r.conns = append(r.conns, c)
	}
	return r, nil
}

func (r *postgresReplayer) lanes() int { return len(r.conns) }

func (r *postgresReplayer) commit(ctx context.Context, lane int, passages []*passage) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	for _, p := range passages {
		transaction := r.script.transactions[p.next]
		for i := range transaction {
			batch.Queue(transaction[i].text, transaction[i].values(p, nil)...)
		}
		p.next++
	}
	for i := range r.script.commit {
		batch.Queue(r.script.commit[i].text, r.script.commit[i].values(passages[0], nil)...)
	}
	batch.Queue("COMMIT")
	return r.conns[lane].SendBatch(ctx, batch).Close()
}

func (r *postgresReplayer) bare(ctx context.Context) error {
	w := r.script.oneRow()
	_, err := r.conns[0].Exec(ctx, w.text, w.values(r.script.pass(), nil)...)
	return err
}

func (r *postgresReplayer) close() {
	for _, c := range r.conns {
		c.Close(context.Background())
	}
}
