package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// use notes whether a thread is in use, under its number.
func use(x *tx, n int64, t *thread.Thread) error {
	if t.UsedNow() == thread.InUse {
		if err := x.exec("DELETE FROM at_rest WHERE n = ?", n); err != nil {
			return err
		}
		return x.exec("INSERT OR IGNORE INTO in_use (n) VALUES (?)", n)
	}
	if err := x.exec("DELETE FROM in_use WHERE n = ?", n); err != nil {
		return err
	}
	return x.exec("INSERT OR REPLACE INTO at_rest (n, session) VALUES (?, ?)", n, t.Session)
}

// used is use for a thread that was another one before, if it makes a difference.
func used(x *tx, n int64, was, t *thread.Thread) error {
	if now := t.UsedNow(); now == was.UsedNow() && (now == thread.InUse || t.Session == was.Session) {
		return nil
	}
	return use(x, n, t)
}

// unuse forgets a thread that is gone.
func unuse(x *tx, n int64) error {
	if err := x.exec("DELETE FROM at_rest WHERE n = ?", n); err != nil {
		return err
	}
	return x.exec("DELETE FROM in_use WHERE n = ?", n)
}

// The queries of SelectThreads: ?1 and ?2 are the numbers between which the threads are, ?3 and ?4 the texts. With a +,
// no index is used for the order.
const (
	selectUsed  = "SELECT t.n, t.id, t.sum, t.doc FROM in_use u CROSS JOIN thread t ON t.n = u.n WHERE u.n > ?1 AND u.n < ?2 ORDER BY u.n"
	selectRests = "SELECT t.n, t.id, t.sum, t.doc FROM at_rest r CROSS JOIN thread t ON t.n = r.n WHERE r.n > ?1 AND r.n < ?2 ORDER BY r.n"
	selectHad   = "SELECT t.n, t.id, t.sum, t.doc FROM at_rest r CROSS JOIN thread t ON t.n = r.n WHERE r.n > ?1 AND r.n < ?2 AND r.session = ?3 AND r.session <> '' ORDER BY +r.n"
	selectAny   = "SELECT n, id, sum, doc FROM thread WHERE n > ?1 AND n < ?2 ORDER BY n"
	selectIDs   = "SELECT n, id, sum, doc FROM thread WHERE n > ?1 AND n < ?2 AND id >= ?3 AND id < ?4 ORDER BY +n"
	selectNames = "SELECT n, id, sum, doc FROM thread WHERE n > ?1 AND n < ?2 AND name >= ?3 AND name < ?4 ORDER BY +n"
	newestFirst = " DESC"
)

// SelectThreads returns the threads that a query selects.
func (s *Store) SelectThreads(ctx context.Context, q thread.Query) (list []thread.Thread, next int64, err error) {
	const above = "\U0010FFFF" // after a prefix, it is above every text that begins with that
	low, high, order := q.After, int64(math.MaxInt64), ""
	if q.Newest {
		low, order = 0, newestFirst
		if q.After != 0 {
			high = q.After
		}
	}
	var rows *sql.Rows
	switch {
	case q.Session != "":
		rows, err = s.read.QueryContext(ctx, selectHad+order, low, high, q.Session)
	case q.ID != "":
		rows, err = s.read.QueryContext(ctx, selectIDs+order, low, high, q.ID, q.ID+above)
	case q.Name != "":
		rows, err = s.read.QueryContext(ctx, selectNames+order, low, high, q.Name, q.Name+above)
	case q.Use == thread.InUse:
		rows, err = s.read.QueryContext(ctx, selectUsed+order, low, high)
	case q.Use == thread.AtRest:
		rows, err = s.read.QueryContext(ctx, selectRests+order, low, high)
	default:
		rows, err = s.read.QueryContext(ctx, selectAny+order, low, high)
	}
	if err != nil {
		return nil, 0, s.health.translate(0, db(err))
	}
	list, next, err = selected(rows, s.packer, s.health, q)
	return list, next, s.health.translate(0, err)
}

// errPage ends a page.
var errPage = errors.New("the page is full")

// selected reads a page of threads.
func selected(rows *sql.Rows, packer *pack.Packer, h *health, q thread.Query) (list []thread.Thread, next int64, err error) {
	err = each(rows, func(scan func(...any) error) error {
		var n int64
		var id thread.ID
		var sum, doc sql.RawBytes
		if err := scan(&n, &id, &sum, &doc); err != nil {
			return err
		}
		t, err := packer.OpenThread(id, doc, sum)
		if h.note(err) != nil || !q.Selects(&t) {
			return nil // one must not hide the others
		}
		if q.Limit > 0 && len(list) == q.Limit {
			return errPage
		}
		list, next = append(list, t), n
		return nil
	})
	if errors.Is(err, errPage) {
		return list, next, nil
	}
	return list, 0, err
}
