package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread"
)

// Check checks all of the database, in the background, as a start does that does not know it to be whole. It does nothing
// if that was done within a day. What is damaged is repaired by the next start, and reported then: it is too late to move
// the database aside under those who use it. The error says so, and is thread.ErrDamaged.
func (s *Store) Check(ctx context.Context, now time.Time) error {
	if age := now.Sub(s.health.checked); s.health.whole || age >= 0 && age < checkEach {
		return nil
	}
	err := checkAll(ctx, s)
	if err == nil {
		err = ctx.Err()
	}
	if err = s.health.translate(0, err); errors.Is(err, thread.ErrDamaged) {
		var hint *thread.HintError
		if !errors.As(err, &hint) {
			err = thread.Hint(err, "restart to repair it")
		}
	}
	if err != nil {
		return err
	}
	s.health.again.Store(&now)
	return nil
}

func checkAll(ctx context.Context, s *Store) error {
	if err := valid(ctx, s.read); err != nil {
		return err
	}
	var n int
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM thread WHERE "+behind).Scan(&n); err != nil {
		return db(err)
	}
	if n > 0 {
		return db(fmt.Errorf("%w: the numbers of the newest checkpoints of %d threads are wrong", sqlfile.ErrCheck, n))
	}
	rows, err := s.read.QueryContext(ctx, `SELECT id, sum, doc, n IN (SELECT n FROM in_use),
		n IN (SELECT n FROM at_rest) FROM thread`)
	if err != nil {
		return db(err)
	}
	return each(rows, func(scan func(...any) error) error {
		var id thread.ID
		var sum, doc sql.RawBytes
		var used, rests bool
		if err := scan(&id, &sum, &doc, &used, &rests); err != nil {
			return err
		}
		t, err := s.packer.OpenThread(id, doc, sum)
		if err == nil && (used == rests || used != (t.UsedNow() == thread.InUse)) {
			err = db(fmt.Errorf("%w: whether thread %s is in use is wrong", sqlfile.ErrCheck, id))
		}
		return err
	})
}
