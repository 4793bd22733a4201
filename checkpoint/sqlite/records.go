package sqlite

import (
	"context"
	"fmt"

	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// repairRows checks every thread's row at the start for damage that the database's own check does not see.
func repairRows(ctx context.Context, s *Store) error {
	if err := repairNumbers(ctx, s); err != nil {
		return err
	}
	return repairRecords(ctx, s)
}

// behind selects the threads whose number of the newest checkpoint is damaged: the next checkpoint would get the number
// of another one, and be refused.
const behind = "typeof(seq) <> 'integer' OR seq < (SELECT max(c.seq) FROM checkpoint c WHERE c.thread = thread.n)"

// repairNumbers repairs the numbers of threads' newest checkpoints.
func repairNumbers(ctx context.Context, s *Store) error {
	var n int
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM thread WHERE "+behind).Scan(&n); err != nil || n == 0 {
		return db(err)
	}
	err := s.do(ctx, 4096, func(x *tx) error {
		return x.exec(`UPDATE thread SET seq = coalesce((SELECT max(c.seq) FROM checkpoint c WHERE c.thread = thread.n), 0)
			WHERE ` + behind)
	})
	if err != nil {
		return fmt.Errorf("repair the numbers of checkpoints: %w", err)
	}
	if s.report == nil {
		s.report = &Report{Cause: "the numbers of threads' newest checkpoints were wrong, and were repaired"}
	}
	return nil
}

// repairRecords looks at every thread's record. One that is damaged by itself is rebuilt from what is left: its name,
// and the newest of its checkpoints.
func repairRecords(ctx context.Context, s *Store) error {
	rows, err := s.list(ctx)
	if err != nil {
		return err
	}
	bad := map[thread.ID]string{}
	all := make([]thread.Thread, 0, len(rows))
	for i := range rows {
		if r := &rows[i]; r.damage != nil {
			bad[thread.ID(r.id)] = r.name
		} else {
			all = append(all, r.t)
		}
	}
	if err := repairUse(ctx, s, rows); err != nil {
		return err
	}
	if len(bad) == 0 {
		s.first.Store(&all)
		return nil
	}
	if s.report == nil {
		s.report = &Report{Cause: "records of threads do not match their hashes"}
	}
	for id, name := range bad {
		if err := s.do(ctx, 4096, func(x *tx) error { return remake(x, s.packer, id, name) }); err != nil {
			return fmt.Errorf("repair thread %q: %w", name, err)
		}
		s.report.Dropped = append(s.report.Dropped, fmt.Sprintf("the record of thread %q: "+
			"its name and its checkpoints are kept; its agent, folder and settings are lost", name))
	}
	return nil
}

// repairUse has the tables of the threads in use and at rest say what their documents say. What is damaged is in use.
func repairUse(ctx context.Context, s *Store, rows []listRow) error {
	said := map[int64]string{} // "" in use, otherwise with what session it rests
	found, err := s.read.QueryContext(ctx, "SELECT n, '' FROM in_use UNION ALL SELECT n, '+' || session FROM at_rest")
	if err != nil {
		return db(err)
	}
	twice := map[int64]bool{}
	if err := each(found, func(scan func(...any) error) error {
		var n int64
		var how string
		err := scan(&n, &how)
		_, twice[n] = said[n]
		said[n] = how
		return err
	}); err != nil {
		return err
	}
	wrong, gone := map[int64]*thread.Thread{}, said
	for i := range rows {
		r := &rows[i]
		want := ""
		if r.t.UsedNow() == thread.AtRest {
			want = "+" + r.t.Session
		}
		if how, is := said[r.n]; !is || how != want || twice[r.n] {
			wrong[r.n] = &r.t
		}
		delete(gone, r.n)
	}
	if len(wrong) == 0 && len(gone) == 0 {
		return nil
	}
	err = s.do(ctx, 4096, func(x *tx) error {
		for n := range gone {
			if err := unuse(x, n); err != nil {
				return err
			}
		}
		for n, t := range wrong {
			if err := use(x, n, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("repair which threads are in use: %w", err)
	}
	return nil
}

func remake(x *tx, packer *pack.Packer, id thread.ID, name string) error {
	t := remade(id, name)
	var n int64
	if _, err := x.row("SELECT n FROM thread WHERE id = ?", []any{string(id)}, &n); err != nil {
		return err
	}
	seq := int64(0)
	const newest = "SELECT seq, id, CAST(turn AS bigint) FROM checkpoint WHERE thread = ? ORDER BY seq DESC LIMIT 1"
	if _, err := x.row(newest, []any{n}, &seq,
		&t.Head, &t.Turn); err != nil {
		return err
	}
	doc, sum, err := packer.Thread(t)
	if err != nil {
		return err
	}
	return x.exec("UPDATE thread SET sum = ?, doc = ?, seq = max(seq, ?) WHERE n = ?", sum, doc, seq, n)
}
