package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"orchestrator/thread"
)

// mend looks at every thread's record at the start. One that is damaged by itself, which the database's own
// check does not see, is made again from what is left: its name, and the newest of its checkpoints.
func (s *Store) mend(ctx context.Context) error {
	bad := map[thread.ID]string{}
	rows, err := s.read.QueryContext(ctx, "SELECT id, name, sum, doc FROM thread")
	if err != nil {
		return db(err)
	}
	err = each(rows, func(scan func(...any) error) error {
		var id, name string
		var sum, doc sql.RawBytes
		if err := scan(&id, &name, &sum, &doc); err != nil {
			return err
		}
		if _, err := s.packer.OpenListed(thread.ID(id), doc, sum); err != nil {
			bad[thread.ID(id)] = name
		}
		return nil
	})
	if err != nil || len(bad) == 0 {
		return err
	}
	if s.report == nil {
		s.report = &Report{Cause: "records of threads do not match their hashes"}
	}
	for id, name := range bad {
		if err := s.do(ctx, 4096, func(x *tx) error { return s.remake(x, id, name) }); err != nil {
			return fmt.Errorf("mend thread %q: %w", name, err)
		}
		s.report.Dropped = append(s.report.Dropped, fmt.Sprintf("the record of thread %q: its name and its checkpoints are kept; which agent it had, its folder and its settings are lost", name))
	}
	return nil
}

func (s *Store) remake(x *tx, id thread.ID, name string) error {
	t := remade(id, name)
	var n int64
	if _, err := x.row("SELECT n FROM thread WHERE id = ?", []any{string(id)}, &n); err != nil {
		return err
	}
	seq := int64(0)
	if _, err := x.row("SELECT seq, id, turn FROM checkpoint WHERE thread = ? ORDER BY seq DESC LIMIT 1", []any{n}, &seq, &t.Head, &t.Turn); err != nil {
		return err
	}
	doc, sum, err := s.packer.Thread(t)
	if err != nil {
		return err
	}
	return x.exec("UPDATE thread SET sum = ?, doc = ?, seq = max(seq, ?) WHERE n = ?", sum, doc, seq, n)
}
