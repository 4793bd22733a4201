package workrow

import (
	"context"
	"math"
	"slices"
	"time"

	"orchestrator/thread/work"
)

// expired selects the facts of executions that ended before a time.
func (d Dialect) expired(alias string, before time.Time) *where {
	w := of(alias, d.all())
	in(w, d.Aside+alias+"state", finals())
	w.and(alias+"ended < ?", micros(before))
	return w
}

// Expire removes what ended before a time.
func (s *Store) Expire(ctx context.Context, before time.Time, dry bool) (out work.Expired, err error) {
	gone := s.d.expired("", before)
	if out, err = s.expiring(ctx, before); err != nil || dry || out == (work.Expired{}) {
		return out, err
	}
	if out.Executions, err = s.removeAll(ctx, gone); err != nil {
		return out, err
	}
	for _, part := range []struct {
		which   *where
		table   string
		removal []string
		count   *int
	}{
		{s.d.oldSessions(before), "work_session v", []string{"DELETE FROM work_task WHERE session = ?", "DELETE FROM work_session WHERE n = ?"}, &out.Sessions},
		{s.d.oldBundles(before), "work_bundle b", []string{"DELETE FROM work_bundle_piece WHERE bundle = ?", "DELETE FROM work_bundle WHERE n = ?"}, &out.Bundles},
	} {
		if *part.count, err = s.clear(ctx, part.table, part.which, part.removal); err != nil {
			return out, err
		}
	}
	if err := s.dropPieces(ctx); err != nil {
		return out, err
	}
	gonePlans, err := s.Plans().PurgeTasks(ctx, before, math.MaxInt)
	if out.Tasks = len(gonePlans); err != nil {
		return out, err
	}
	return out, s.db.Shrink(ctx)
}

// expiring counts what would be removed.
func (s *Store) expiring(ctx context.Context, before time.Time) (out work.Expired, err error) {
	gone := s.d.expired("", before)
	list := "(SELECT work FROM work_fact WHERE " + gone.String() + ")"
	sessions, bundles, tasks := s.d.oldSessions(before), s.d.oldBundles(before), s.d.endedTasks(before)
	var events, handed int64
	for _, q := range []struct {
		query string
		args  []any
		to    []any
	}{
		{"SELECT count(*), CAST(coalesce(sum(length(doc)), 0) AS BIGINT) FROM work WHERE n IN " + list, gone.args, []any{&out.Executions, &out.Bytes}},
		{"SELECT CAST(coalesce(sum(length(doc)), 0) AS BIGINT) FROM work_event WHERE work IN " + list, gone.args, []any{&events}},
		{"SELECT count(*) FROM work_session v WHERE " + sessions.String(), sessions.args, []any{&out.Sessions}},
		{"SELECT count(*) FROM work_bundle b WHERE " + bundles.String(), bundles.args, []any{&out.Bundles}},
		{"SELECT count(*) FROM plan_task WHERE " + tasks.String(), tasks.args, []any{&out.Tasks}},
		{"SELECT CAST(coalesce(sum(length(data)), 0) AS BIGINT) FROM plan_handover WHERE task IN (SELECT n FROM plan_task WHERE " + tasks.String() + ")",
			tasks.args, []any{&handed}},
	} {
		if err := s.db.Query(ctx, q.query, q.args, func(scan Scan) error { return scan(q.to...) }); err != nil {
			return out, err
		}
	}
	out.Bytes += events + handed
	return out, nil
}

// same is the condition that a row of another table is of the same project, and of the same host if hosts.
func (d Dialect) same(alias, as string, hosts bool) string {
	scope := d.Project
	if hosts {
		scope = d.all()
	}
	text := ""
	for _, p := range scope {
		text += alias + p.Column + " = " + as + p.Column + " AND "
	}
	return text
}

// oldSessions selects the work sessions v that ended before a time, of which no execution is left that did not.
func (d Dialect) oldSessions(before time.Time) *where {
	w := of("v.", d.all())
	in(w, "v.status", []work.SessionStatus{work.SessionCompleted, work.SessionFailed, work.SessionCancelled})
	w.and("v.updated < ?", micros(before))
	gone := d.expired("f.", before)
	w.and("NOT EXISTS (SELECT 1 FROM work_fact f WHERE "+d.same("f.", "v.", true)+"f.session = v.name AND f.session <> '' AND NOT coalesce("+
		gone.String()+", "+d.False+"))", gone.args...)
	return w
}

// oldBundles selects the bundles b that were made before a time, and that nothing names that stays.
func (d Dialect) oldBundles(before time.Time) *where {
	w := of("b.", d.Project)
	w.and("b.created < ?", micros(before))
	gone := d.expired("f.", before)
	stays := "NOT coalesce(" + gone.String() + ", " + d.False + ")"
	w.and("NOT EXISTS (SELECT 1 FROM work_fact f WHERE "+d.same("f.", "b.", false)+"f.bundle = b.id AND f.bundle <> '' AND "+stays+")", gone.args...)
	w.and("NOT EXISTS (SELECT 1 FROM work_allocation a JOIN work_fact f ON f.work = a.work WHERE "+d.same("f.", "b.", false)+
		"a.bundle = b.id AND a.bundle <> '' AND "+stays+")", gone.args...)
	old := d.oldSessions(before)
	w.and("NOT EXISTS (SELECT 1 FROM work_session v WHERE "+d.same("v.", "b.", false)+"v.name = b.session AND NOT ("+old.String()+"))", old.args...)
	return w
}

// clear removes the rows of a table that a condition selects, each in a transaction of its own with what hangs on it.
func (s *Store) clear(ctx context.Context, table string, which *where, removal []string) (int, error) {
	var gone []int64
	err := s.db.Query(ctx, "SELECT n FROM "+table+" WHERE "+which.String()+" ORDER BY n", which.args, func(scan Scan) error {
		var n int64
		err := scan(&n)
		gone = append(gone, n)
		return err
	})
	if err != nil {
		return 0, err
	}
	for i, n := range gone {
		err := s.db.Write(ctx, 0, func(tx Tx) error {
			for _, query := range removal {
				if _, err := tx.Exec(query, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return i, err
		}
	}
	return len(gone), nil
}

// dropPieces removes the pieces that no bundle names.
func (s *Store) dropPieces(ctx context.Context) error {
	w := of("p.", s.d.Project)
	w.and("NOT EXISTS (SELECT 1 FROM work_bundle_piece k WHERE " + s.d.same("k.", "p.", false) + "k.hash = p.hash)")
	return s.db.Write(ctx, 0, func(tx Tx) error {
		var pieces []string
		if err := tx.Query("SELECT p.hash FROM work_piece p WHERE "+w.String(), w.args, func(scan Scan) error {
			var h string
			err := scan(&h)
			pieces = append(pieces, h)
			return err
		}); err != nil {
			return err
		}
		for part := range slices.Chunk(pieces, 100) {
			w := of("", s.d.Project)
			in(w, "hash", part)
			if _, err := tx.Exec("DELETE FROM work_piece WHERE "+w.String(), w.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Measure counts what is stored.
func (s *Store) Measure(ctx context.Context) (m work.Measure, err error) {
	w := of("", s.d.all())
	p := of("", s.d.Project)
	for _, q := range []struct {
		query string
		args  []any
		to    *int
	}{
		{"SELECT count(*) FROM work WHERE " + w.String(), w.args, &m.Executions},
		{"SELECT count(*) FROM work_session WHERE " + w.String(), w.args, &m.Sessions},
		{"SELECT count(*) FROM work_output WHERE " + w.String(), w.args, &m.Outputs},
		{"SELECT count(*) FROM work_bundle WHERE " + p.String(), p.args, &m.Bundles},
		{"SELECT count(*) FROM plan_task WHERE " + w.String(), w.args, &m.Tasks},
		{"SELECT count(*) FROM plan_handover WHERE " + w.String(), w.args, &m.Handed},
		{"SELECT count(*) FROM work_event WHERE work IN (SELECT n FROM work WHERE " + w.String() + ")", w.args, &m.Events},
	} {
		if err := s.db.Query(ctx, q.query, q.args, func(scan Scan) error { return scan(q.to) }); err != nil {
			return m, err
		}
	}
	return m, s.db.Measure(ctx, &m)
}
