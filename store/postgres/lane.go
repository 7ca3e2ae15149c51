package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/group"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// lane is one connection that commits.
type lane struct {
	lanes   *lanes
	store   *Store
	conn    *conn
	cleaned time.Time
	seen    int64 // the newest nonce of the last look
}

func (l *lane) loop() {
	for {
		members := l.lanes.next()
		if members == nil {
			break
		}
		if len(members) == 1 {
			l.alone(members[0])
		} else {
			l.together(members)
		}
		l.lanes.release(members)
		l.housekeep()
	}
	if l.conn != nil {
		l.conn.close()
	}
}

// ready gives the connection a fresh deadline, and dials if there is none.
func (l *lane) ready() (cancel func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), l.store.options.Patience)
	var lost backend
	if l.conn != nil && (l.conn.lost || l.conn.pg.IsClosed()) {
		lost = l.conn.backend
		l.conn.close()
		l.conn = nil
	}
	if l.conn == nil {
		if l.conn, err = l.store.dial(ctx); err != nil {
			cancel()
			return func() {}, err
		}
		l.conn.bury(ctx, lost)
	}
	l.conn.ctx = ctx
	return cancel, nil
}

const (
	mostAttempts = 10 // somebody else made progress each time
	mostLosses   = 3  // of the connection
)

// marked is an error that says something to the lane beside what it says to people.
type marked struct {
	error
	mark error
}

func (m marked) Is(target error) bool { return target == m.mark }
func (m marked) Unwrap() error        { return m.error }

// errAway says that the database cannot be reached: nothing happened, and asking again for somebody else would only take longer.
var errAway = errors.New("the database is away")

// alone is a transaction with one member. It is repeated after a deadlock, and after a connection that was lost before the commit: then
// nothing happened.
func (l *lane) alone(m *group.Member) error {
	var err error
	defer func() {
		if l.conn != nil {
			l.conn.locks = false
		}
	}()
	for attempt, losses := 0, 0; attempt < mostAttempts && losses < mostLosses; attempt++ {
		var gone, repeat bool
		if gone, repeat, err = l.tryAlone(m); gone {
			return nil
		}
		if !repeat {
			break
		}
		l.conn.locks = l.conn.locks || errors.Is(err, sqldb.ErrStreamMoved)
		if l.conn.lost {
			losses++
		}
	}
	m.Answer(err)
	return err
}

func (l *lane) tryAlone(m *group.Member) (gone, repeat bool, err error) {
	cancel, err := l.ready()
	if err != nil {
		return false, false, marked{err, errAway}
	}
	defer cancel()
	c := l.conn
	now, err := c.begin("BEGIN", m.Rows)
	if err != nil {
		c.rollback()
		return false, again(err) || c.lost, err
	}
	c.holds = true
	attempt := m.Turn(c, now)
	c.holds = false
	if attempt.Gone || attempt.Err != nil || c.broken != nil {
		fault := c.broken
		c.rollback()
		if attempt.Err == nil {
			attempt.Err = fault
		}
		return attempt.Gone, fault != nil && l.repeats(fault, attempt.Err), attempt.Err
	}
	if !c.wrote {
		c.rollback()
		return false, false, nil
	}
	err = l.commit(c.held)
	return false, errors.Is(err, errUndone) || c.broken != nil && l.repeats(c.broken, err), err
}

// repeats: nothing is wrong with the transaction, only with the moment.
func (l *lane) repeats(fault, err error) bool {
	return l.store.db.Heads.Moved(err) || again(fault) || l.conn.lost
}

// together is a transaction with many members: their functions run at the same time, their reads go out together round by round, their
// writes in one batch. If anything fails, none of it happened and each member runs again, alone.
func (l *lane) together(members []*group.Member) {
	slices.SortFunc(members, func(a, b *group.Member) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	seats, err := l.tryTogether(members)
	void := errors.Is(err, errUndone)
	var away error
	again := func(m *group.Member) {
		if away != nil {
			m.Answer(away)
		} else if err := l.alone(m); errors.Is(err, errAway) {
			away = err
		}
	}
	for i, m := range members {
		switch {
		case seats == nil && void:
			again(m)
		case seats == nil:
			m.Answer(err)
		case seats[i].attempt.Gone:
		case void || seats[i].alone:
			again(m)
		case seats[i].attempt.Err != nil:
			m.Answer(seats[i].attempt.Err)
		default:
			m.Answer(err) // nil, or: nobody knows whether it was written; doing it again might do it twice
		}
	}
}

func (l *lane) tryTogether(members []*group.Member) ([]*seat, error) {
	var rows []int64
	for _, m := range members {
		rows = append(rows, m.Rows...)
	}
	slices.Sort(rows)
	cancel, err := l.ready()
	if err != nil {
		return nil, marked{err, errAway}
	}
	defer cancel()
	c := l.conn
	now, err := c.begin("BEGIN", rows)
	if err != nil {
		c.rollback()
		return nil, errUndone
	}
	g := newGathering(c, members)
	g.run(now)
	var writes [][]sqldb.Write
	for _, s := range g.seats {
		if s.attempt.Err == nil && !s.alone && len(s.writes) > 0 {
			writes = append(writes, s.writes)
		}
	}
	if c.broken != nil || len(writes) == 0 {
		broken := c.broken
		c.rollback()
		if broken != nil {
			return g.seats, errUndone
		}
		return g.seats, nil
	}
	err = l.commit(sqldb.Merge(writes))
	if c.broken != nil {
		err = errUndone
	}
	return g.seats, err
}

// errUndone says for certain that a commit did not happen: the same may be done again.
var errUndone = errors.New("the commit did not happen")

// commit sends the writes, a nonce and COMMIT in one round trip. A write that does not do what it must fails, and then nothing behind it happens:
// the connection's broken says so. If the connection is lost meanwhile, the nonce tells what became of it.
func (l *lane) commit(writes []sqldb.Write) error {
	id := make([]byte, 16)
	rand.Read(id)
	nonce := hex.EncodeToString(id)
	c := l.conn
	c.held = nil
	batch := &pgx.Batch{}
	for i := range writes {
		s, args := writes[i].Statement, writes[i].Args
		if guarded := s.Guarded(); guarded != nil && writes[i].Want != sqldb.Any {
			s, args = guarded, append(slices.Clip(args), writes[i].Want)
		}
		c.tell(s.Text(sqldb.Postgres))
		batch.Queue(s.Text(sqldb.Postgres), args...)
	}
	c.tell("COMMIT")
	batch.Queue(noteCommit, nonce)
	batch.Queue("COMMIT")
	results := c.pg.SendBatch(c.ctx, batch)
	var tag pgconn.CommandTag
	var err error
	done := 0
	for ; done < batch.Len() && err == nil; done++ {
		tag, err = results.Exec()
	}
	if err == nil {
		err = checkCommit(tag)
	}
	results.Close()
	switch {
	case err == nil:
		return nil
	case c.pg.IsClosed() || sqlState(err) == "":
		c.lost = true
		return l.settle(nonce, err)
	case done <= len(writes):
		err = c.refused(&writes[done-1], err)
		c.rollback()
		return err
	}
	c.rollback()
	return marked{explain("commit", err), errUndone}
}

const (
	noteCommit = `INSERT INTO commits (nonce, at, void) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 0)`
	voidCommit = `INSERT INTO commits (nonce, at, void) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 1)
		ON CONFLICT (nonce) DO UPDATE SET nonce = excluded.nonce RETURNING commits.void`
	newestNote = `SELECT coalesce(max(at), 0) FROM commits`
	dropNotes  = `DELETE FROM commits WHERE at <= $1 AND at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 3600000000`
)

// settle finds out what became of a commit whose answer was lost. It writes the same nonce itself, marked void: if the commit's own is there,
// it happened; if ours goes in, it did not happen and never will, because it would find the nonce taken. The database makes us wait while
// the lost one is still under way, and since our mark differs from the commit's, this can itself be lost and repeated.
func (l *lane) settle(nonce string, lost error) error {
	deadline := time.Now().Add(l.store.options.Patience)
	for {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		var void int64
		c, err := l.store.dial(ctx)
		if err == nil {
			c.bury(ctx, l.conn.backend)
			err = c.pg.QueryRow(ctx, voidCommit, nonce).Scan(&void)
			c.close()
		}
		expired := ctx.Err() != nil
		if err != nil && !expired {
			pause(ctx, 50*time.Millisecond)
		}
		cancel()
		switch {
		case err == nil && void == 1:
			return marked{explain("commit", lost), errUndone}
		case err == nil:
			return nil
		case expired:
			return &holdshort.Error{Code: holdshort.OutcomeUnknown, Op: "commit", Message: "the connection was lost and the database does not answer: whether it was written is not known",
				Err: lost, Hint: "look before you repeat it"}
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// housekeep saves the mark now and then, and drops old nonces. Nobody waits for it.
func (l *lane) housekeep() {
	now := l.store.options.Clock()
	if l.store.db.Mark.Due(now) && l.store.db.Mark.Claim(now) {
		l.store.marking.Go(l.store.saveMark)
	}
	if time.Since(l.cleaned) > 10*time.Minute {
		l.cleaned = time.Now()
		l.dropNonces()
	}
}

// dropNonces drops those that were there when it last looked, ten minutes ago by this process's own clock, and that are an hour old by the
// database's: no commit is settled so late, and no clock that jumps makes one look old to both.
func (l *lane) dropNonces() {
	cancel, err := l.ready()
	if err != nil {
		return
	}
	defer cancel()
	if l.seen > 0 {
		if _, err = l.conn.pg.Exec(l.conn.ctx, dropNotes, l.seen); err != nil {
			return // the next one is as good
		}
	}
	if err = l.conn.pg.QueryRow(l.conn.ctx, newestNote).Scan(&l.seen); err != nil {
		l.seen = 0
	}
}
