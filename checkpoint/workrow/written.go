package workrow

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// fixed is about what a row has beside its texts.
const fixed = 256

// wrote counts what a thread's agent has written down in a transaction; a person's is not counted.
func (d Dialect) wrote(tx Tx, by thread.ID, rows int, bytes int) error {
	if by == "" {
		return nil
	}
	query, args := insertion("work_written", "ON CONFLICT ("+names(d.all())+"author) DO UPDATE SET rows = work_written.rows + excluded.rows, "+
		"bytes = work_written.bytes + excluded.bytes", d.all(), []Pair{{"author", string(by)}, {"rows", rows}, {"bytes", bytes}})
	_, err := tx.Exec(query, args...)
	return err
}

// wroteEvents counts what is written of an execution by hand: its row if it is new, and its events.
func (d Dialect) wroteEvents(tx Tx, x work.Execution, rows int, events []EventRow) error {
	if x.Kind != work.KindHand {
		return nil
	}
	bytes := rows * (len(x.Scope) + fixed)
	for _, e := range events {
		bytes += len(e.Doc)
	}
	return d.wrote(tx, x.By, rows, bytes)
}

// Written counts what a thread's agent has ever written down.
func (s *Store) Written(ctx context.Context, by thread.ID) (rows, bytes int64, err error) {
	w := of("", s.d.all())
	w.and("author = ?", string(by))
	err = s.db.Query(ctx, "SELECT rows, bytes FROM work_written WHERE "+w.String(), w.args, func(scan Scan) error { return scan(&rows, &bytes) })
	return rows, bytes, err
}
