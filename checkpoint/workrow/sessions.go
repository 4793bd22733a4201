package workrow

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

// sessionPairs are the columns of a work session.
func sessionPairs(v work.Session) ([]Pair, error) {
	doc, sum, err := document(v)
	if err != nil {
		return nil, fmt.Errorf("work session %s: %w", v.Name, err)
	}
	return []Pair{{"name", v.Name}, {"status", string(v.Status)}, {"author", string(v.By)}, {"created", micros(v.Created)},
		{"updated", micros(v.Updated)}, {"sum", sum}, {"doc", doc}}, nil
}

// AddSession stores a work session.
func (s *Store) AddSession(ctx context.Context, v work.Session) (work.Session, error) {
	v, err := work.AddedSession(v, s.now())
	if err != nil {
		return work.Session{}, err
	}
	number := v.Name == ""
	err = s.db.Write(ctx, rowSize, func(tx Tx) error {
		for {
			if number {
				n, err := s.d.next(tx, work.SessionPrefix)
				if err != nil {
					return err
				}
				v.Name = work.NumberedAs(work.SessionPrefix, n)
			}
			cols, err := sessionPairs(v)
			if err != nil {
				return err
			}
			query, args := insertion("work_session", "ON CONFLICT DO NOTHING", s.d.all(), cols)
			added, err := tx.Exec(query, args...)
			switch {
			case err != nil:
				return err
			case added == 1:
				failpoint.Hit("work.session.row")
				return s.d.wrote(tx, v.By, 1, len(v.Scope)+len(v.Metadata)+fixed)
			case !number:
				return thread.Hint(fmt.Errorf("work session %q: %w", v.Name, thread.ErrNameTaken), "choose another name")
			}
		}
	})
	if err != nil {
		return work.Session{}, err
	}
	return v, nil
}

// ChangeSession changes a work session in one step.
func (s *Store) ChangeSession(ctx context.Context, name string, change func(*work.Session) error) (work.Session, error) {
	var out work.Session
	err := s.db.Write(ctx, rowSize, func(tx Tx) error {
		r, old, err := s.sessionOf(tx, name, s.d.Lock)
		if err != nil {
			return err
		}
		if out, err = work.ChangedSession(old, change, s.now()); err != nil {
			return err
		}
		doc, sum, err := document(out)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE work_session SET status = ?, updated = ?, sum = ?, doc = ? WHERE n = ?", string(out.Status),
			micros(out.Updated), sum, doc, r.n)
		return err
	})
	if err != nil {
		return work.Session{}, err
	}
	return out, nil
}

// sessionRow finds the row of a work session.
func (s *Store) sessionRow(ctx context.Context, name string) (r sessionRow, err error) {
	there := false
	query, args := s.d.bySession(name, "")
	err = s.db.Query(ctx, query, args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	if err == nil && !there {
		err = noSession(name)
	}
	return r, err
}

// Session finds a work session.
func (s *Store) Session(ctx context.Context, name string) (work.Session, error) {
	r, err := s.sessionRow(ctx, name)
	if err != nil {
		return work.Session{}, err
	}
	return r.session()
}

// Sessions lists some, newest first.
func (s *Store) Sessions(ctx context.Context, q work.SessionQuery) ([]work.Session, error) {
	before := maxN
	if q.Before != "" {
		r, err := s.sessionRow(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		before = r.n
	}
	query, args := s.d.sessions(q, before)
	out := []work.Session{}
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var r sessionRow
		if err := r.scan(scan); err != nil {
			return err
		}
		v, err := r.session()
		if err != nil {
			v = work.DamagedSession(r.name)
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// sessions is the statement of Sessions.
func (d Dialect) sessions(q work.SessionQuery, before int64) (string, []any) {
	w := of("", d.all())
	in(w, d.Aside+"status", q.Statuses)
	if q.By != "" {
		w.and("author = ?", string(q.By))
	}
	w.and("n < ?", before)
	return "SELECT " + sessionColumns + " FROM work_session WHERE " + w.String() + " ORDER BY n DESC LIMIT ?", append(w.args, q.Size())
}

// taskPairs are the columns of a task of a work session.
func taskPairs(session int64, t work.Task) ([]Pair, error) {
	doc, sum, err := document(t)
	if err != nil {
		return nil, fmt.Errorf("task %q: %w", t.Title, err)
	}
	return []Pair{{"session", session}, {"title", t.Title}, {"status", string(t.Status)}, {"created", micros(t.Created)},
		{"sum", sum}, {"doc", doc}}, nil
}

// ChangeTask changes a task in one step.
func (s *Store) ChangeTask(ctx context.Context, session, title string, change func(*work.Task) error) (work.Task, error) {
	var out work.Task
	err := s.db.Write(ctx, rowSize, func(tx Tx) error {
		r, v, err := s.sessionOf(tx, session, s.d.Lock)
		if err != nil {
			return err
		}
		var old *work.Task
		err = tx.Query(oneTask, []any{r.n, title}, func(scan Scan) error {
			var name string
			var sum, doc []byte
			if err := scan(&name, &sum, &doc); err != nil {
				return err
			}
			old = &work.Task{Created: s.now()} // of one that is damaged
			opened(sum, doc, old)
			return nil
		})
		if err != nil {
			return err
		}
		if old == nil {
			if err := v.Open(); err != nil {
				return err
			}
		}
		if out, err = work.ChangedTask(session, title, old, change, s.now()); err != nil {
			return err
		}
		cols, err := taskPairs(r.n, out)
		if err != nil {
			return err
		}
		query, args := insertion("work_task", "ON CONFLICT (session, title) DO UPDATE SET status = excluded.status, sum = excluded.sum, "+
			"doc = excluded.doc", cols)
		if _, err = tx.Exec(query, args...); err != nil || old != nil {
			return err
		}
		return s.d.wrote(tx, out.By, 1, len(out.Title)+len(out.Body)+fixed)
	})
	if err != nil {
		return work.Task{}, err
	}
	return out, nil
}

const (
	oneTask  = "SELECT title, sum, doc FROM work_task WHERE session = ? AND title = ?"
	allTasks = "SELECT title, sum, doc FROM work_task WHERE session = ? ORDER BY n"
)

// Tasks returns those of a work session, oldest first.
func (s *Store) Tasks(ctx context.Context, session string) ([]work.Task, error) {
	r, err := s.sessionRow(ctx, session)
	if err != nil {
		return nil, err
	}
	out := []work.Task{}
	err = s.db.Query(ctx, allTasks, []any{r.n}, func(scan Scan) error {
		t := work.Task{Session: session, Body: "its record is damaged", Status: work.TaskPending}
		var title string
		var sum, doc []byte
		if err := scan(&title, &sum, &doc); err != nil {
			return err
		}
		var read work.Task
		if opened(sum, doc, &read) && read.Title == title {
			t = read
		}
		t.Title = title
		out = append(out, t)
		return nil
	})
	return out, err
}
