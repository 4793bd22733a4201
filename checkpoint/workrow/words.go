package workrow

import (
	"slices"

	"orchestrator/thread/work"
)

// foundBy returns the words by which an execution is found now.
func foundBy(tx Tx, n int64, x work.Execution) ([]string, error) {
	given := ""
	if x.Given > 0 {
		err := tx.Query("SELECT seq, sum, doc FROM work_event WHERE work = ? AND seq = ?", []any{n, x.Given}, func(scan Scan) error {
			var r EventRow
			if err := scan(&r.Seq, &r.Sum, &r.Doc); err != nil {
				return err
			}
			given = r.Event().Text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var paths []string
	err := tx.Query("SELECT DISTINCT path FROM work_output WHERE work = ? AND path <> ''", []any{n}, func(scan Scan) error {
		var p string
		err := scan(&p)
		paths = append(paths, p)
		return err
	})
	return work.FoundBy(x, given, paths), err
}

// reword has an execution be found by other words than before.
func (d Dialect) reword(tx Tx, n int64, before, now []string) error {
	var gone, added []string
	for _, w := range before {
		if _, stays := slices.BinarySearch(now, w); !stays {
			gone = append(gone, w)
		}
	}
	for _, w := range now {
		if _, was := slices.BinarySearch(before, w); !was {
			added = append(added, w)
		}
	}
	for part := range slices.Chunk(gone, 100) {
		w := of("", d.Project)
		in(w, "word", part)
		w.and("work = ?", n)
		if _, err := tx.Exec("DELETE FROM work_word WHERE "+w.String(), w.args...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(added, 100) {
		values, args := "", []any{}
		for _, word := range part {
			values += ", (" + marks(len(d.Project)+2) + ")"
			for _, p := range d.Project {
				args = append(args, p.Value)
			}
			args = append(args, word, n)
		}
		if _, err := tx.Exec("INSERT INTO work_word ("+names(d.Project)+"word, work) VALUES "+values[2:]+" ON CONFLICT DO NOTHING",
			args...); err != nil {
			return err
		}
	}
	return nil
}

// retold reports whether an execution may be found by other words after a change.
func retold(old, x work.Execution) bool {
	return x.Name != old.Name || x.AgentType() != old.AgentType() || x.Scope != old.Scope || x.Answer != old.Answer || x.Given != old.Given
}
