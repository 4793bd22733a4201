package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/pack"
	"orchestrator/checkpoint/sqlite/raw"
	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

// salvage copies out of a damaged database. Threads and checkpoints are read from its pages one by one, whatever its
// trees say, and verified; the small tables are read by SQLite as far as it can.
type salvage struct {
	ctx  context.Context // lives for one rescue
	view *raw.File
	from *sql.DB // nil when SQLite can read nothing
	to   *Store
	tx   *tx
	rep  *Report
	good map[int64]bool // rows that are copied
	// owner is which thread the rows of a thread's number say that they are of.
	owner map[int64]thread.ID
	seqs  int // sum of the threads' newest numbers

	rows []threadCells
	puts map[int64][]raw.Place
}

// threadCells is a thread's row as it was found.
type threadCells struct {
	n, seq   int64
	id, name string
	place    raw.Place
}

func (v *salvage) all() error {
	v.puts = map[int64][]raw.Place{}
	bad, err := v.view.Rows(v.sort)
	if err != nil {
		return err
	}
	if bad > 0 {
		v.drop("%d rows that cannot be read", bad)
	}
	for _, step := range []func() error{v.threads, v.checkpoints, v.heads, v.rest} {
		if err := v.tx.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		if err := step(); err != nil {
			v.tx.rollback()
			return err
		}
		if err := v.tx.exec("COMMIT"); err != nil {
			return err
		}
	}
	return nil
}

// sort tells rows of threads and checkpoints by their columns; a test compares them with the schema.
func (v *salvage) sort(r raw.Row) error {
	if r.N <= 0 {
		return nil
	}
	switch len(r.Cols) {
	case 6:
		id, ok1 := r.Cols[1].(string)
		name, ok2 := r.Cols[2].(string)
		seq, ok3 := r.Cols[3].(int64)
		if ok1 && ok2 && ok3 {
			v.rows = append(v.rows, threadCells{n: r.N, seq: seq, id: id, name: name, place: r.Place})
		}
	case 13:
		v.puts[r.N] = append(v.puts[r.N], r.Place)
	}
	return nil
}

// number gives the new database the identity of the old one, and a number that follows every one that was given.
func (v *salvage) number(l *lying) error {
	m := mark.Mark{DB: l.id, Seq: l.expected()}
	if m.DB == (mark.ID{}) {
		m.DB = v.to.at.DB
	}
	has, err := newestIn(v.view)
	if err != nil {
		return err
	}
	if l.keptIs == nil || l.has.ok || l.shows.ok {
		v.rep.Missing = m.Seq
		if has.ok && has.DB == m.DB {
			v.rep.Missing = m.Seq - has.Seq
		}
	}
	_, err = v.to.writer.ExecContext(v.ctx, "UPDATE mark SET row = ? WHERE n = 1", m.Bytes())
	return db(err)
}

// threads copies the threads. Of one that lies in two places, as in a log that lost a page between, the newest counts.
func (v *salvage) threads() error {
	slices.SortStableFunc(v.rows, func(a, b threadCells) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(b.seq, a.seq)) })
	done := map[int64]bool{}
	for i, c := range v.rows {
		if done[c.n] {
			continue
		}
		doc, sum, err := v.document(c)
		if err != nil {
			if i+1 < len(v.rows) && v.rows[i+1].n == c.n {
				continue // there is another one
			}
			if checkpoint.CheckThread(thread.Thread{ID: thread.ID(c.id), Name: c.name}) != nil {
				v.drop("a thread: %v", err)
				continue
			}
			v.drop("the record of thread %q (%v): its name and its checkpoints are kept", c.name, err)
			if doc, sum, err = v.to.packer.Thread(remade(thread.ID(c.id), c.name)); err != nil {
				return err
			}
		}
		done[c.n] = true
		v.rep.Threads++
		v.seqs += int(c.seq)
		if err := v.tx.exec("INSERT OR IGNORE INTO thread (n, id, name, seq, sum, doc) VALUES (?, ?, ?, ?, ?, ?)",
			c.n, c.id, c.name, c.seq, sum, doc); err != nil {
			return err
		}
	}
	return nil
}

// document reads a thread's own record.
func (v *salvage) document(c threadCells) (doc, sum []byte, err error) {
	r, err := v.view.Row(c.place)
	if err != nil {
		return nil, nil, err
	}
	sum, ok1 := r.Cols[4].([]byte)
	doc, ok2 := r.Cols[5].([]byte)
	if !ok1 || !ok2 {
		return nil, nil, fmt.Errorf("its columns are of the wrong kind: %w", thread.ErrDamaged)
	}
	_, err = v.to.packer.OpenThread(thread.ID(c.id), doc, sum)
	return doc, sum, err
}

// checkpoints copies the rows that verify and whose ancestors all do.
func (v *salvage) checkpoints() error {
	for _, n := range slices.Sorted(maps.Keys(v.puts)) {
		var why error
		for _, place := range v.puts[n] {
			if why = v.checkpoint(place); why == nil {
				break
			}
			if isDB(why) {
				return why
			}
		}
		if why != nil {
			v.drop("%v", why)
		}
	}
	return nil
}

// checkpoint copies one row.
func (v *salvage) checkpoint(at raw.Place) error {
	found, err := v.view.Row(at)
	if err != nil {
		return fmt.Errorf("a checkpoint: %w", err)
	}
	r, fork, err := rowOf(found)
	if err != nil {
		return fmt.Errorf("a checkpoint: %w", err)
	}
	if r.Parent != 0 && !v.good[r.Parent] {
		return fmt.Errorf("checkpoint %s, turn %d: one that it builds on is damaged", r.ID, r.Turn)
	}
	c, err := v.to.packer.Verify(v.ctx, inTx{v.tx}, r)
	if err != nil {
		return fmt.Errorf("checkpoint %s, turn %d: %w", r.ID, r.Turn, notDB(err))
	}
	if err := v.tx.exec(`INSERT OR IGNORE INTO checkpoint (n, id, thread, parent, fork, seq, turn, kind, items, chain, raw, sum, data)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.N, string(r.ID), r.Thread, r.Parent, fork, r.Seq, r.Turn, string(r.Kind),
		r.Items, r.Chain, r.Raw, r.Sum, r.Data); err != nil {
		return err
	}
	v.good[r.N] = true
	v.owner[r.Thread] = c.Thread
	v.rep.Checkpoints++
	return nil
}

// notDB makes an error one of a row: what it says about the database is the damaged one's.
func notDB(err error) error {
	if isDB(err) {
		return errors.New(err.Error())
	}
	return err
}

// rowOf takes the columns of a checkpoint.
func rowOf(found raw.Row) (r pack.Row, fork int64, err error) {
	r.N = found.N
	c := found.Cols
	ints := map[int]*int64{2: &r.Thread, 3: &r.Parent, 4: &fork, 5: &r.Seq}
	small := map[int]*int{6: &r.Turn, 8: &r.Items, 9: &r.Chain, 10: &r.Raw}
	for i, to := range ints {
		n, ok := c[i].(int64)
		if !ok {
			return r, 0, errRowKind
		}
		*to = n
	}
	for i, to := range small {
		n, ok := c[i].(int64)
		if !ok {
			return r, 0, errRowKind
		}
		*to = int(n)
	}
	id, ok1 := c[1].(string)
	kind, ok2 := c[7].(string)
	sum, ok3 := c[11].([]byte)
	data, ok4 := c[12].([]byte)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return r, 0, errRowKind
	}
	r.ID, r.Kind, r.Sum, r.Data = thread.CheckpointID(id), thread.CheckpointKind(kind), sum, data
	return r, fork, nil
}

var errRowKind = fmt.Errorf("its columns are of the wrong kind: %w", thread.ErrDamaged)

// inTx gives the packer the rows that a rescue has copied so far.
type inTx struct{ x *tx }

func (s inTx) Lineage(_ context.Context, n int64, limit int) ([]pack.Row, error) {
	var out []pack.Row
	err := s.x.each(lineageQuery, []any{n, limit}, func(scan func(...any) error) error {
		r, err := sqlrow.Checkpoint(scan)
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
	if v.from != nil {
		var purged int64
		if err := v.from.QueryRowContext(v.ctx, "SELECT thread FROM orphan WHERE thread = ?", n).Scan(&purged); err == nil {
			return v.tx.exec("INSERT OR IGNORE INTO orphan (thread) VALUES (?)", n)
		}
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
	if v.from == nil {
		v.drop("executions, intents, settings and prompts: SQLite can read nothing of the file")
		return nil
	}
	for _, table := range []struct{ name, read, write string }{
		{"executions", "SELECT id, thread, agent, session, pid, started, ended, code, reason FROM execution",
			"INSERT OR IGNORE INTO execution (id, thread, agent, session, pid, started, ended, code, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{"intents", "SELECT id, kind, thread, data, created FROM intent", "INSERT OR IGNORE INTO intent (id, kind, thread, data, created) VALUES (?, ?, ?, ?, ?)"},
		{"settings", "SELECT key, value FROM setting", "INSERT OR IGNORE INTO setting (key, value) VALUES (?, ?)"},
		{"prompts", "SELECT n, id, thread, open, accepted, sum, doc FROM prompt", "INSERT OR IGNORE INTO prompt (n, id, thread, open, accepted, sum, doc) VALUES (?, ?, ?, ?, ?, ?, ?)"},
	} {
		rows, err := v.from.QueryContext(v.ctx, table.read)
		if err != nil && table.name == "prompts" && strings.Contains(err.Error(), "no such table") {
			continue // a store of an older program
		}
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

// remade is a thread of which only the name is left.
func remade(id thread.ID, name string) thread.Thread {
	return thread.Thread{ID: id, Name: name, Label: "recovered: its own record was damaged"}
}
