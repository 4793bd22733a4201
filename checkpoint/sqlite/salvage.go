package sqlite

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// inTx gives the packer the rows that a rescue has copied so far.
type inTx struct{ x *tx }

func (s inTx) Lineage(_ context.Context, n int64, limit int) ([]pack.Row, error) {
	var out []pack.Row
	err := s.x.each(lineageQuery, []any{n, limit}, func(scan func(...any) error) error {
		r, err := scanRow(scan)
		out = append(out, r)
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("checkpoint row %d: %w", n, thread.ErrNotFound)
	}
	return out, err
}

func (v *salvage) drop(format string, args ...any) {
	v.rep.Dropped = append(v.rep.Dropped, fmt.Sprintf(format, args...))
}

// heads sets threads back to the newest checkpoint that is left of them, and makes threads for checkpoints
// whose own is lost.
func (v *salvage) heads() error {
	for n, id := range v.owner {
		var there int64
		found, err := v.tx.row("SELECT n FROM thread WHERE n = ?", []any{n}, &there)
		if err != nil {
			return err
		}
		if !found {
			if err := v.recover(n, id); err != nil {
				return err
			}
		}
	}
	var ids []thread.ID
	err := v.tx.each("SELECT id FROM thread ORDER BY n", nil, func(scan func(...any) error) error {
		var id thread.ID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	for _, id := range ids {
		if err == nil {
			err = v.head(id)
		}
	}
	return err
}

// recover makes a thread for checkpoints whose thread was purged or is damaged. Those of a purged one have
// children elsewhere and need none.
func (v *salvage) recover(n int64, id thread.ID) error {
	var purged int64
	err := v.from.QueryRowContext(v.ctx, "SELECT thread FROM orphan WHERE thread = ?", n).Scan(&purged)
	if err == nil {
		return v.tx.exec("INSERT OR IGNORE INTO orphan (thread) VALUES (?)", n)
	}
	t := remade(id, thread.NewName("recovered"))
	doc, sum, err := v.to.packer.Thread(t)
	if err != nil {
		return err
	}
	v.drop("the record of thread %s: its checkpoints are in %q", id, t.Name)
	v.rep.Threads++
	return v.tx.exec("INSERT INTO thread (n, id, name, sum, doc) VALUES (?, ?, ?, ?, ?)", n, string(id), t.Name, sum, doc)
}

// head moves one thread to what is left.
func (v *salvage) head(id thread.ID) error {
	row, err := v.to.lookup(v.tx, id)
	if err != nil {
		return err
	}
	var seq int64
	var newest string
	var turn int
	if _, err := v.tx.row("SELECT seq, id, turn FROM checkpoint WHERE thread = ? ORDER BY seq DESC LIMIT 1", []any{row.n}, &seq, &newest, &turn); err != nil {
		return err
	}
	row.seq = max(row.seq, seq)
	t := &row.t
	if err := stands(v.tx, *t); err == nil {
		if t.Head == "" && newest != "" {
			t.Head = thread.CheckpointID(newest)
		}
	} else if errors.Is(err, thread.ErrNotFound) {
		if stands(v.tx, thread.Thread{Head: t.ForkPoint}) != nil {
			v.drop("the fork point of thread %q", t.Name)
			t.ForkPoint = ""
		}
		if stands(v.tx, thread.Thread{Head: t.Head}) != nil {
			t.Head, t.Turn = thread.CheckpointID(newest), turn
			if newest == "" {
				t.Head = t.ForkPoint
			}
			v.drop("the newest turns of thread %q: it is back at checkpoint %q", t.Name, t.Head)
		}
	} else {
		return err
	}
	return v.to.save(v.tx, row)
}

// rest copies the small tables as far as they can be read.
func (v *salvage) rest() error {
	for _, table := range []struct{ name, read, write string }{
		{"executions", "SELECT id, thread, agent, session, pid, started, ended, code, reason FROM execution",
			"INSERT OR IGNORE INTO execution (id, thread, agent, session, pid, started, ended, code, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{"intents", "SELECT id, kind, thread, data, created FROM intent", "INSERT OR IGNORE INTO intent (id, kind, thread, data, created) VALUES (?, ?, ?, ?, ?)"},
		{"settings", "SELECT key, value FROM setting", "INSERT OR IGNORE INTO setting (key, value) VALUES (?, ?)"},
	} {
		rows, err := v.from.QueryContext(v.ctx, table.read)
		if err != nil {
			v.drop("%s: %v", table.name, err)
			continue
		}
		cols, err := rows.Columns()
		if err != nil {
			rows.Close()
			return err
		}
		vals, to := make([]any, len(cols)), make([]any, len(cols))
		for i := range vals {
			to[i] = &vals[i]
		}
		err = each(rows, func(scan func(...any) error) error {
			if err := scan(to...); err != nil {
				return err
			}
			if err := v.tx.exec(table.write, vals...); code(err) != 0 && !isDamage(err) && !isFull(err) {
				v.drop("one of the %s: %v", table.name, err) // what it holds breaks a rule
				return nil
			} else if err != nil {
				return err
			}
			return nil
		})
		if isFull(err) {
			return err
		}
		if err != nil {
			v.drop("%s: %v", table.name, err)
		}
	}
	return nil
}

// mend looks at every thread's record at the start. One that is damaged by itself, which the database's own
// check does not see, is made anew from what is left: its name, and the newest of its checkpoints.
func (s *Store) mend(ctx context.Context) error {
	bad := map[thread.ID]string{}
	rows, err := s.read.QueryContext(ctx, "SELECT id, name, sum, doc FROM thread")
	if err != nil {
		return db(err)
	}
	err = each(rows, func(scan func(...any) error) error {
		var id, name string
		var sum, doc []byte
		if err := scan(&id, &name, &sum, &doc); err != nil {
			return err
		}
		if _, err := s.packer.OpenThread(thread.ID(id), doc, sum); err != nil {
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

// remade is a thread of which only the name is left.
func remade(id thread.ID, name string) thread.Thread {
	return thread.Thread{ID: id, Name: name, Label: "recovered: its own record was damaged"}
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
