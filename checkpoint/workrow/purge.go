package workrow

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// purgeBatch is how many executions are removed in one transaction: others write in between.
const purgeBatch = 20

// finals are the states that are final.
func finals() []work.State {
	return slices.DeleteFunc(work.States(), func(s work.State) bool { return !s.Final() })
}

// Purge removes the final executions of threads, but for those by hand.
func (s *Store) Purge(ctx context.Context, threads []thread.ID) (int, error) {
	removed := 0
	for _, id := range threads {
		w := of("", s.d.all())
		w.and("thread = ?", string(id))
		w.and(s.d.Aside+"kind <> ?", string(work.KindHand))
		in(w, s.d.Aside+"state", finals())
		n, err := s.removeAll(ctx, w)
		if removed += n; err != nil {
			return removed, err
		}
	}
	if removed == 0 {
		return 0, nil
	}
	return removed, s.db.Shrink(ctx)
}

// removeAll removes the executions whose facts a condition selects, in batches.
func (s *Store) removeAll(ctx context.Context, which *where) (removed int, err error) {
	for {
		n := 0
		err := s.db.Write(ctx, 0, func(tx Tx) error {
			var rows []Row
			err := tx.Query("SELECT "+Columns+" FROM work WHERE n IN (SELECT work FROM work_fact WHERE "+which.String()+
				" ORDER BY work LIMIT ?) ORDER BY n"+s.d.Lock, append(append([]any{}, which.args...), purgeBatch), func(scan Scan) error {
				var r Row
				err := r.Scan(scan)
				rows = append(rows, r)
				return err
			})
			if err != nil || len(rows) == 0 {
				return err
			}
			n = len(rows)
			return s.remove(tx, rows)
		})
		if err != nil {
			return removed, err
		}
		if removed += n; n < purgeBatch {
			return removed, nil
		}
	}
}

// remove removes executions with all that hangs on them.
func (s *Store) remove(tx Tx, rows []Row) error {
	if _, err := tx.Exec(s.d.Purging); err != nil {
		return err
	}
	for _, r := range rows {
		if x, err := r.Execution(); err == nil {
			words, err := foundBy(tx, r.N, x)
			if err != nil {
				return err
			}
			if err := s.d.reword(tx, r.N, words, nil); err != nil {
				return err
			}
		}
		if err := s.removeOutputs(tx, r.N); err != nil {
			return err
		}
		for _, query := range []string{"DELETE FROM work_allocation WHERE work = ?", removeEvents, "DELETE FROM work_fact WHERE work = ?",
			"DELETE FROM work WHERE n = ?"} {
			if _, err := tx.Exec(query, r.N); err != nil {
				return err
			}
		}
	}
	_, err := tx.Exec(s.d.Purged)
	return err
}

const removeEvents = "DELETE FROM work_event WHERE work = ?"

// removeOutputs removes the outputs of an execution; what is then the newest version is current.
func (s *Store) removeOutputs(tx Tx, n int64) error {
	var lines [][]byte
	err := tx.Query("SELECT line FROM work_output WHERE work = ? AND path <> '' AND current = 1", []any{n}, func(scan Scan) error {
		var line []byte
		err := scan(&line)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM work_output WHERE work = ?", n); err != nil {
		return err
	}
	for _, line := range lines {
		w := of("", s.d.all())
		w.and("line = ?", line)
		if _, err := tx.Exec("UPDATE work_output SET current = 1 WHERE n = (SELECT max(n) FROM work_output WHERE "+w.String()+")",
			w.args...); err != nil {
			return err
		}
	}
	return nil
}

// Retire removes the work sessions that were final before a time, with their tasks and what was written down by hand of
// them, and then the bundles that are as old and that no execution names any more. A work session of which an execution
// of a thread is left stays: that goes with its thread. It returns how many work sessions it removed.
func (s *Store) Retire(ctx context.Context, before time.Time) (int, error) {
	w := of("v.", s.d.all())
	in(w, "v.status", []work.SessionStatus{work.SessionCompleted, work.SessionFailed, work.SessionCancelled})
	w.and("v.updated < ?", micros(before))
	mine := of("f.", s.d.all())
	mine.and("f.session = v.name")
	mine.and("f.kind <> ?", string(work.KindHand))
	w.and("NOT EXISTS (SELECT 1 FROM work_fact f WHERE "+mine.String()+")", mine.args...)
	var list []sessionRow
	err := s.db.Query(ctx, "SELECT "+sessionColumns+" FROM work_session v WHERE "+w.String()+" ORDER BY n", w.args, func(scan Scan) error {
		var r sessionRow
		err := r.scan(scan)
		list = append(list, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	for i, r := range list {
		if err := s.retire(ctx, r); err != nil {
			return i, err
		}
	}
	return len(list), s.retireBundles(ctx, before)
}

// retire removes a work session and what was written down by hand of it.
func (s *Store) retire(ctx context.Context, r sessionRow) error {
	w := of("", s.d.all())
	w.and("session = ?", r.name)
	w.and(s.d.Aside+"kind = ?", string(work.KindHand))
	if _, err := s.removeAll(ctx, w); err != nil {
		return err
	}
	return s.db.Write(ctx, 0, func(tx Tx) error {
		for _, query := range []string{"DELETE FROM work_task WHERE session = ?", "DELETE FROM work_session WHERE n = ?"} {
			if _, err := tx.Exec(query, r.n); err != nil {
				return err
			}
		}
		return nil
	})
}

// retireBundles removes the bundles that were made before a time and that neither an execution nor a work session names, and
// the pieces that no bundle names.
func (s *Store) retireBundles(ctx context.Context, before time.Time) error {
	unused := of("b.", s.d.Project)
	unused.and("b.created < ?", micros(before))
	same := func(alias string) string { // another table's row of the same project
		text := ""
		for _, p := range s.d.Project {
			text += alias + p.Column + " = b." + p.Column + " AND "
		}
		return text
	}
	unused.and("NOT EXISTS (SELECT 1 FROM work_fact f WHERE " + same("f.") + "f.bundle = b.id)")
	unused.and("NOT EXISTS (SELECT 1 FROM work_allocation a JOIN work w ON w.n = a.work WHERE " + same("w.") + "a.bundle = b.id)")
	unused.and("NOT EXISTS (SELECT 1 FROM work_session v WHERE " + same("v.") + "v.name = b.session)")
	return s.db.Write(ctx, 0, func(tx Tx) error {
		which := "SELECT b.n FROM work_bundle b WHERE " + unused.String()
		var gone []int64
		if err := tx.Query(which, unused.args, func(scan Scan) error {
			var n int64
			err := scan(&n)
			gone = append(gone, n)
			return err
		}); err != nil {
			return err
		}
		for _, n := range gone {
			for _, query := range []string{"DELETE FROM work_bundle_piece WHERE bundle = ?", "DELETE FROM work_bundle WHERE n = ?"} {
				if _, err := tx.Exec(query, n); err != nil {
					return err
				}
			}
		}
		w := of("p.", s.d.Project)
		text := ""
		for _, p := range s.d.Project {
			text += "k." + p.Column + " = p." + p.Column + " AND "
		}
		w.and("NOT EXISTS (SELECT 1 FROM work_bundle_piece k WHERE " + text + "k.hash = p.hash)")
		var pieces []string
		if err := tx.Query("SELECT p.hash FROM work_piece p WHERE "+w.String(), w.args, func(scan Scan) error {
			var h string
			err := scan(&h)
			pieces = append(pieces, h)
			return err
		}); err != nil {
			return err
		}
		for _, h := range pieces {
			w := of("", s.d.Project)
			w.and("hash = ?", h)
			if _, err := tx.Exec("DELETE FROM work_piece WHERE "+w.String(), w.args...); err != nil {
				return err
			}
		}
		return nil
	})
}
