package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Whole is the window that has everything.
const Whole time.Duration = -1

// HistoryQuery selects what was said in a session.
type HistoryQuery struct {
	Session       holdshort.SessionID
	Window        time.Duration // back from now; pinned messages count however old they are; default: Config.History.Window; Whole: everything
	Pinned        bool          // only what is pinned, however old
	WithoutSystem bool          // no messages of role system
	Suppressed    bool          // also what runs said while a person had the session: the user never saw that
	Limit         int
	Cursor        string
}

// History gives a page of what was said in a session, oldest first, as it may be shown. A page may be short and still have a cursor.
func (e *Engine) History(ctx context.Context, tenant holdshort.TenantID, q HistoryQuery) (store.Page[holdshort.Message], error) {
	page, since, err := e.historyPage(ctx, tenant, q)
	if err == nil && page.Next != "" {
		page.Next = withSince(since, page.Next)
	}
	return page, err
}

// historyPage also gives where the window begins: the next page's begins there too.
func (e *Engine) historyPage(ctx context.Context, tenant holdshort.TenantID, q HistoryQuery) (page store.Page[holdshort.Message], since time.Time, err error) {
	sq := store.MessageQuery{Session: q.Session, Pinned: q.Pinned, Limit: q.Limit}
	if q.Cursor != "" {
		if since, sq.Cursor, err = sinceOf(q.Cursor); err != nil {
			return page, since, err
		}
	}
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		if q.Cursor == "" && !q.Pinned && q.Window != Whole {
			since = tx.Now().Add(-or(q.Window, e.config.History.Window))
		}
		sq.Since = since
		page, err = tx.Messages(sq)
		return err
	})
	if err != nil {
		return page, since, err
	}
	page.Items = slices.DeleteFunc(page.Items, func(m holdshort.Message) bool {
		return q.WithoutSystem && m.Role == holdshort.RoleSystem || !q.Suppressed && m.Type == holdshort.TypeSuppressed
	})
	for i := range page.Items {
		page.Items[i] = e.shown(ctx, tenant, page.Items[i])
	}
	return page, since, nil
}

// A cursor of a history carries the beginning of its window, so that nothing falls out of it between two pages.
func withSince(since time.Time, cursor string) string {
	if since.IsZero() {
		return "0." + cursor
	}
	return strconv.FormatInt(since.UnixMicro(), 36) + "." + cursor
}

func sinceOf(cursor string) (since time.Time, rest string, err error) {
	head, rest, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(head, 36, 64)
	if !ok || err != nil || n < 0 || strconv.FormatInt(n, 36) != head {
		return since, "", &holdshort.Error{Code: holdshort.Invalid, Op: "read history", Field: "cursor", Message: "the cursor is not one of this list",
			Hint: "take next_cursor as it was given, or start without one"}
	}
	if n > 0 {
		since = time.UnixMicro(n).UTC()
	}
	return since, rest, nil
}

// EachMessage hands a history to fn, page by page, until its end or an error of fn. Between two pages nothing is held open, and no more than
// one is in memory; what is said meanwhile comes along.
func (e *Engine) EachMessage(ctx context.Context, tenant holdshort.TenantID, q HistoryQuery, fn func(holdshort.Message) error) error {
	for {
		page, since, err := e.historyPage(ctx, tenant, q)
		if err != nil {
			return err
		}
		for _, m := range page.Items {
			if err := fn(m); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = withSince(since, page.Next)
	}
}

// ModelHistory gives what a model may know of a session in a run, oldest first: what is pinned, and the last of what was said since a window
// before the run began, up to now. The window counts back from the run's start however long it paused. Without a run it counts from now.
func (e *Engine) ModelHistory(ctx context.Context, tenant holdshort.TenantID, session holdshort.SessionID, run holdshort.RunID) ([]holdshort.Message, error) {
	list, err := view(ctx, e, tenant, func(tx store.ReadTx) ([]holdshort.Message, error) {
		start := tx.Now()
		if run != "" {
			r, err := tx.Run(run)
			if err != nil {
				return nil, err
			}
			if r.SessionID != session {
				return nil, &holdshort.Error{Code: holdshort.NotFound, Op: "read history for " + string(run), Message: "the run is not of this session", Hint: "check the ids"}
			}
			start = r.CreatedAt
		}
		return e.window(tx, session, start.Add(-e.config.History.Window))
	})
	list = newest(list, mostHistory)
	for i := range list {
		list[i].Parts = e.redact(ctx, tenant, StageModel, list[i])
	}
	return list, err
}

// mostHistory is how many bytes of text a model gets: a run keeps them in its journal, where a byte may take six.
const mostHistory = 512 << 10

// newest leaves out the oldest where it is too much altogether. What is pinned takes half of it at most.
func newest(list []holdshort.Message, room int) []holdshort.Message {
	keep := make([]bool, len(list))
	for _, pinned := range []bool{true, false} {
		most := room
		if pinned {
			most /= 2
		}
		room -= most
		for i, m := range slices.Backward(list) {
			size := 200
			for _, p := range m.Parts {
				size += len(p.Text) + len(p.Data) + len(p.URL) + len(p.Name)
			}
			if m.Pinned == pinned && most >= size {
				keep[i] = true
				most -= size
			} else if m.Pinned == pinned {
				break
			}
		}
		room += most
	}
	var kept []holdshort.Message
	for i, m := range list {
		if keep[i] {
			kept = append(kept, m)
		}
	}
	return kept
}

// mostPinned is how many pinned messages a model gets: the latest.
const mostPinned = 100

// window reads from the end until it has enough.
func (e *Engine) window(tx store.ReadTx, session holdshort.SessionID, since time.Time) ([]holdshort.Message, error) {
	var list []holdshort.Message
	last, pinned := e.config.History.Last, mostPinned
	q := store.MessageQuery{Session: session, Since: since, Newest: true}
	for last > 0 || pinned > 0 {
		if last == 0 { // only pinned ones count from here on
			q.Pinned, q.Since = true, time.Time{}
		}
		page, err := tx.Messages(q)
		if err != nil {
			return nil, err
		}
		for _, m := range slices.Backward(page.Items) {
			left := &last
			if m.Pinned {
				left = &pinned
			}
			if *left == 0 || !m.ModelVisible {
				continue
			}
			*left--
			list = append(list, m)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	slices.Reverse(list)
	return list, nil
}

// MessageByID gives a message as it may be shown.
func (e *Engine) MessageByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.MessageID) (holdshort.Message, error) {
	m, err := view(ctx, e, tenant, func(tx store.ReadTx) (holdshort.Message, error) { return tx.Message(id) })
	if err != nil {
		return m, err
	}
	return e.shown(ctx, tenant, m), nil
}
