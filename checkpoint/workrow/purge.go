package workrow

import (
	"context"
	"slices"

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

// removeAll removes the final executions whose facts a condition selects, in batches.
func (s *Store) removeAll(ctx context.Context, which *where) (removed int, err error) {
	for {
		n, gone := 0, 0
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
			rows = slices.DeleteFunc(rows, func(r Row) bool { return !r.State.Final() }) // it goes on since it was selected
			gone = len(rows)
			return s.d.remove(tx, rows)
		})
		if err != nil {
			return removed, err
		}
		if removed += gone; n < purgeBatch {
			return removed, nil
		}
	}
}

// remove removes executions with all that hangs on them.
func (d Dialect) remove(tx Tx, rows []Row) error {
	if _, err := tx.Exec(d.Purging); err != nil {
		return err
	}
	for _, r := range rows {
		if x, err := r.Execution(); err == nil {
			words, err := foundBy(tx, r.N, x)
			if err != nil {
				return err
			}
			if err := d.reword(tx, r.N, words, nil); err != nil {
				return err
			}
		}
		if err := d.removeOutputs(tx, r.N); err != nil {
			return err
		}
		for _, query := range []string{"DELETE FROM work_allocation WHERE work = ?", removeEvents, "DELETE FROM work_part WHERE work = ?", "DELETE FROM work_fact WHERE work = ?",
			"DELETE FROM work WHERE n = ?"} {
			if _, err := tx.Exec(query, r.N); err != nil {
				return err
			}
		}
	}
	_, err := tx.Exec(d.Purged)
	return err
}

const removeEvents = "DELETE FROM work_event WHERE work = ?"

// removeOutputs removes the outputs of an execution; what is then the newest version is current.
func (d Dialect) removeOutputs(tx Tx, n int64) error {
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
		w := of("", d.all())
		w.and("line = ?", line)
		if _, err := tx.Exec("UPDATE work_output SET current = 1 WHERE "+w.String()+" AND n = (SELECT max(n) FROM work_output WHERE "+w.String()+")",
			append(slices.Clone(w.args), w.args...)...); err != nil {
			return err
		}
	}
	return nil
}
