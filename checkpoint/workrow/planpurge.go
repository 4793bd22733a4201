package workrow

import (
	"context"
	"time"
)

// planBatch is how many tasks are removed in one transaction: others write in between.
const planBatch = 5

// PurgeTasks removes final tasks that ended before a time, and plans that nothing names any more.
func (s *Plans) PurgeTasks(ctx context.Context, before time.Time, limit int) ([]string, error) {
	gone := []string{}
	for len(gone) < limit {
		some := []string{}
		err := s.db.Write(ctx, 0, func(tx Tx) error {
			some = some[:0]
			var rows []taskRow
			query, args := s.d.ended(before, min(planBatch, limit-len(gone)))
			err := tx.Query(query, args, func(scan Scan) error {
				var r taskRow
				err := r.scan(scan)
				rows = append(rows, r)
				return err
			})
			if err != nil || len(rows) == 0 {
				return err
			}
			if _, err := tx.Exec(s.d.Purging); err != nil {
				return err
			}
			for _, r := range rows {
				if err := s.d.removeTask(tx, r.n); err != nil {
					return err
				}
				some = append(some, r.name)
			}
			_, err = tx.Exec(s.d.Purged)
			return err
		})
		if err != nil {
			return gone, err
		}
		if gone = append(gone, some...); len(some) < planBatch {
			break
		}
	}
	if len(gone) == 0 {
		return gone, nil
	}
	w := of("p.", s.d.Project)
	w.and("NOT EXISTS (SELECT 1 FROM plan_task t WHERE t.document = p.n) AND NOT EXISTS (SELECT 1 FROM plan_armed a WHERE a.document = p.n)")
	err := s.db.Write(ctx, 0, func(tx Tx) error {
		_, err := tx.Exec("DELETE FROM plan_document AS p WHERE "+w.String(), w.args...)
		return err
	})
	if err != nil {
		return gone, err
	}
	return gone, s.db.Shrink(ctx)
}

// endedTasks selects the final tasks that ended before a time.
func (d Dialect) endedTasks(before time.Time) *where {
	w := of("", d.all())
	w.and("ended < ? AND ended IS NOT NULL AND "+d.Aside+"status IN ('complete', 'failed', 'cancelled')", micros(before))
	return w
}

// ended is the statement that reads tasks that ended before a time, oldest first.
func (d Dialect) ended(before time.Time, limit int) (string, []any) {
	w := d.endedTasks(before)
	return "SELECT " + taskColumns + " FROM plan_task WHERE " + w.String() + " ORDER BY ended LIMIT ?" + d.Lock, append(w.args, limit)
}

// removeTask removes a task with all that is its.
func (d Dialect) removeTask(tx Tx, n int64) error {
	for _, query := range []string{"DELETE FROM plan_token WHERE handover IN (SELECT n FROM plan_handover WHERE task = ?)",
		"DELETE FROM plan_handover WHERE task = ?", "DELETE FROM plan_event WHERE task = ?"} {
		if _, err := tx.Exec(query, n); err != nil {
			return err
		}
	}
	if err := d.dropNodes(tx, n); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM plan_task WHERE n = ?", n)
	return err
}
