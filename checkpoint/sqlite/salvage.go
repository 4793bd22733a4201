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
	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/sqlite/raw"
	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

// salvage copies from a damaged database. Threads and checkpoints are read from its pages one by one, whatever its
// trees say, and verified; SQLite reads the small tables as far as it can. If a column differs from the hashed record,
// the record counts: a wrong number, id or name in a row loses nothing else.
type salvage struct {
	ctx  context.Context // lives for one rescue
	view *raw.File
	from *sql.DB // nil if SQLite can read nothing
	to   *Store
	tx   *tx
	rep  *Report
	good map[int64]int64 // rows of checkpoints that are copied, with the numbers of their threads
	// numbers are the numbers of threads in the new database, and owners the threads by number.
	numbers map[thread.ID]int64
	owners  map[int64]thread.ID
	last    int64 // the highest number of a thread so far
	seqs    int   // sum of the threads' newest numbers

	rows []threadCells
	puts map[int64][]raw.Place
}

// threadCells is a thread's row as found. A column of the wrong type is left empty.
type threadCells struct {
	n, seq   int64
	id, name string
	place    raw.Place
	damage   error // of its document; nil if it verifies
}

func (v *salvage) all() error {
	v.puts = map[int64][]raw.Place{}
	bad, err := v.view.Rows(v.sort)
	if err != nil {
		return err
	}
	if bad > 0 {
		v.drop("%d unreadable rows", bad)
	}
	for _, step := range []func() error{v.threads, v.checkpoints, v.damagedThreads, v.sequence, v.heads, v.rest} {
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

// sort recognises rows of threads and checkpoints by their columns; a test compares them with the schema.
func (v *salvage) sort(r raw.Row) error {
	if r.N <= 0 {
		return nil
	}
	switch len(r.Cols) {
	case 6:
		c := threadCells{n: r.N, place: r.Place}
		c.id, _ = r.Cols[1].(string)
		c.name, _ = r.Cols[2].(string)
		c.seq, _ = r.Cols[3].(int64)
		v.rows = append(v.rows, c)
	case 13:
		v.puts[r.N] = append(v.puts[r.N], r.Place)
	}
	return nil
}

// number gives the new database the identity of the old one, and a commit number higher than all before.
func (v *salvage) number(l *onDisk) error {
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

// threads copies the threads whose documents verify. If one is in two places, as in a log that lost a page
// in between, the newest counts.
func (v *salvage) threads() error {
	slices.SortStableFunc(v.rows, func(a, b threadCells) int {
		return cmp.Or(cmp.Compare(b.seq, a.seq), cmp.Compare(a.n, b.n))
	})
	for i := range v.rows {
		c := &v.rows[i]
		t, doc, sum, err := v.document(*c)
		if err != nil {
			c.damage = err
			continue
		}
		if _, done := v.numbers[t.ID]; done {
			continue
		}
		if err := v.add(v.numberOf(t.ID, c.n), t, c.seq, doc, sum); err != nil {
			return err
		}
	}
	return nil
}

// document reads a thread's own record, and what is stored for it.
func (v *salvage) document(c threadCells) (t thread.Thread, doc, sum []byte, err error) {
	r, err := v.view.Row(c.place)
	if err != nil {
		return t, nil, nil, err
	}
	sum, ok1 := r.Cols[4].([]byte)
	doc, ok2 := r.Cols[5].([]byte)
	if !ok1 || !ok2 {
		return t, nil, nil, errRowKind
	}
	t, err = v.to.packer.AnyThread(doc, sum)
	return t, doc, sum, err
}

// mostThreads is above the number of any thread: a larger one is damaged, and would leave no number for new threads.
const mostThreads = 1 << 40

// numberOf returns the number of a thread in the new database: the one in its row, unless the thread already has a
// number or that one is taken.
func (v *salvage) numberOf(id thread.ID, n int64) int64 {
	if known, ok := v.numbers[id]; ok {
		return known
	}
	if _, taken := v.owners[n]; taken || n <= 0 || n > mostThreads {
		n = v.last + 1
	}
	v.last = max(v.last, n)
	v.numbers[id], v.owners[n] = n, id
	return n
}

// add stores a thread under a number.
func (v *salvage) add(n int64, t thread.Thread, seq int64, doc, sum []byte) error {
	v.rep.Threads++
	v.seqs += int(seq)
	err := v.tx.exec("INSERT OR IGNORE INTO thread (n, id, name, seq, sum, doc) VALUES (?, ?, ?, ?, ?, ?)",
		n, string(t.ID), t.Name, seq, sum, doc)
	if err != nil {
		return err
	}
	return use(v.tx, n, &t)
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
	r, err := rowOf(found)
	if err != nil {
		return fmt.Errorf("a checkpoint: %w", err)
	}
	owner, ok := v.good[r.Parent]
	if r.Parent != 0 && !ok {
		return fmt.Errorf("checkpoint %s, turn %d: an ancestor is damaged", r.ID, r.Turn)
	}
	c, err := v.to.packer.Verify(v.ctx, inTx{v.tx}, r)
	if err != nil {
		return fmt.Errorf("checkpoint %s, turn %d: %w", r.ID, r.Turn, notDB(err))
	}
	n := v.numberOf(c.Thread, r.Thread)
	fork := r.Parent != 0 && owner != n
	if err := v.tx.exec(`INSERT OR IGNORE INTO checkpoint
		(n, id, thread, parent, fork, seq, turn, kind, items, chain, raw, sum, data)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.N, string(r.ID), n, r.Parent, fork, r.Seq, r.Turn, string(r.Kind),
		r.Items, r.Chain, r.Raw, r.Sum, r.Data); err != nil {
		return err
	}
	v.good[r.N] = n
	v.rep.Checkpoints++
	return nil
}

// notDB turns an error into one of a row: what it says about the database is about the damaged one.
func notDB(err error) error {
	if isDB(err) {
		return errors.New(err.Error())
	}
	return err
}

// rowOf reads the columns of a checkpoint.
func rowOf(found raw.Row) (r pack.Row, err error) {
	r.N = found.N
	c := found.Cols
	ints := map[int]*int64{2: &r.Thread, 3: &r.Parent, 5: &r.Seq}
	small := map[int]*int{6: &r.Turn, 8: &r.Items, 9: &r.Chain, 10: &r.Raw}
	for i, to := range ints {
		n, ok := c[i].(int64)
		if !ok {
			return r, errRowKind
		}
		*to = n
	}
	for i, to := range small {
		n, ok := c[i].(int64)
		if !ok {
			return r, errRowKind
		}
		*to = int(n)
	}
	id, ok1 := c[1].(string)
	kind, ok2 := c[7].(string)
	sum, ok3 := c[11].([]byte)
	data, ok4 := c[12].([]byte)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return r, errRowKind
	}
	r.ID, r.Kind, r.Sum, r.Data = thread.CheckpointID(id), thread.CheckpointKind(kind), sum, data
	return r, nil
}

var errRowKind = fmt.Errorf("wrong column types: %w", thread.ErrDamaged)

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

// damagedThreads creates threads from rows whose documents are damaged, and for checkpoints whose thread has no row.
func (v *salvage) damagedThreads() error {
	there, names := map[thread.ID]bool{}, map[string]bool{}
	err := v.tx.each("SELECT id, name FROM thread", nil, func(scan func(...any) error) error {
		var id thread.ID
		var name string
		err := scan(&id, &name)
		there[id], names[name] = true, true
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range v.rows {
		if c.damage == nil {
			continue
		}
		id := thread.ID(c.id)
		if owner, ok := v.owners[c.n]; ok && v.numbers[id] == 0 {
			id = owner // its checkpoints say so, and their thread is hashed
		}
		if there[id] {
			continue // there is another row
		}
		if checkpoint.CheckThread(thread.Thread{ID: id, Name: c.name}) != nil || names[c.name] {
			if v.numbers[id] == 0 {
				v.drop("a thread: %v", c.damage)
			}
			continue
		}
		v.drop("the record of thread %q (%v): its name and its checkpoints are kept", c.name, c.damage)
		if err := v.remake(v.numberOf(id, c.n), id, c.name, c.seq); err != nil {
			return err
		}
		there[id], names[c.name] = true, true
	}
	for _, id := range slices.Sorted(maps.Keys(v.numbers)) {
		n := v.numbers[id]
		if there[id] {
			continue
		}
		if purged, err := v.purged(n); purged || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		name := thread.NewName("recovered")
		v.drop("the record of thread %s: its checkpoints are in %q", id, name)
		if err := v.remake(n, id, name, 0); err != nil {
			return err
		}
	}
	return nil
}

// remake stores a thread of which only the id and the name are left.
func (v *salvage) remake(n int64, id thread.ID, name string, seq int64) error {
	t := remade(id, name)
	doc, sum, err := v.to.packer.Thread(t)
	if err != nil {
		return err
	}
	return v.add(n, t, seq, doc, sum)
}

// purged reports whether a thread was purged: its checkpoints have children elsewhere and need none.
func (v *salvage) purged(n int64) (bool, error) {
	if v.from == nil {
		return false, nil
	}
	var there int64
	if v.from.QueryRowContext(v.ctx, "SELECT thread FROM orphan WHERE thread = ?", n).Scan(&there) != nil {
		return false, nil
	}
	return true, v.tx.exec("INSERT OR IGNORE INTO orphan (thread) VALUES (?)", n)
}

// sequence prevents reuse of the numbers of threads that are gone: some of their checkpoints may still exist.
func (v *salvage) sequence() error {
	if v.from != nil {
		var n int64
		err := v.from.QueryRowContext(v.ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'thread'").Scan(&n)
		if err == nil && n <= mostThreads {
			v.last = max(v.last, n)
		}
	}
	if err := v.tx.exec("DELETE FROM sqlite_sequence WHERE name = 'thread'"); err != nil {
		return err
	}
	return v.tx.exec("INSERT INTO sqlite_sequence (name, seq) VALUES ('thread', ?)", v.last)
}

// heads moves threads back to their newest remaining checkpoint.
func (v *salvage) heads() error {
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

// head moves one thread back.
func (v *salvage) head(id thread.ID) error {
	row, err := v.to.lookup(v.tx, id)
	if err != nil {
		return err
	}
	var seq int64
	var newest string
	var turn int
	if _, err := v.tx.row("SELECT seq, id, turn FROM checkpoint WHERE thread = ? ORDER BY seq DESC LIMIT 1", []any{row.n},
		&seq, &newest, &turn); err != nil {
		return err
	}
	row.seq = max(row.seq, seq)
	t := &row.t
	if err := checkBases(v.tx, *t); err == nil {
		if t.Head == "" && newest != "" {
			t.Head, t.Turn = thread.CheckpointID(newest), turn
		}
	} else if errors.Is(err, thread.ErrNotFound) {
		if checkBases(v.tx, thread.Thread{Head: t.ForkPoint}) != nil {
			v.drop("the fork point of thread %q", t.Name)
			t.ForkPoint = ""
		}
		if checkBases(v.tx, thread.Thread{Head: t.Head}) != nil {
			t.Head, t.Turn = thread.CheckpointID(newest), turn
			if newest == "" {
				t.Head = t.ForkPoint
			}
			v.drop("the newest turns of thread %q: it is at checkpoint %q now", t.Name, t.Head)
		}
	} else {
		return err
	}
	return v.to.save(v.tx, row)
}

// rest copies the small tables as far as they can be read.
func (v *salvage) rest() error {
	if v.from == nil {
		v.drop("executions, intents, settings and prompts: SQLite cannot read the file")
		return nil
	}
	for _, table := range []struct{ name, read, write string }{
		{"executions", "SELECT id, thread, agent, session, pid, started, ended, code, reason FROM execution",
			"INSERT OR IGNORE INTO execution (id, thread, agent, session, pid, started, ended, code, reason) " +
				"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{"intents", "SELECT id, kind, thread, data, created FROM intent",
			"INSERT OR IGNORE INTO intent (id, kind, thread, data, created) VALUES (?, ?, ?, ?, ?)"},
		{"settings", "SELECT key, value FROM setting", "INSERT OR IGNORE INTO setting (key, value) VALUES (?, ?)"},
		{"prompts", "SELECT n, id, thread, open, accepted, sum, doc FROM prompt",
			"INSERT OR IGNORE INTO prompt (n, id, thread, open, accepted, sum, doc) VALUES (?, ?, ?, ?, ?, ?, ?)"},
	} {
		rows, err := v.from.QueryContext(v.ctx, table.read)
		if err != nil && table.name == "prompts" && strings.Contains(err.Error(), "no such table") {
			continue // a store of an older version
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
			if err := v.tx.exec(table.write, vals...); sqlfile.Code(err) != 0 && !sqlfile.IsDamage(err) && !sqlfile.IsFull(err) {
				v.drop("one of the %s: %v", table.name, err) // its content violates a constraint
				return nil
			} else if err != nil {
				return err
			}
			return nil
		})
		if sqlfile.IsFull(err) {
			return err
		}
		if err != nil {
			v.drop("%s: %v", table.name, err)
		}
	}
	return nil
}

// remade is a thread of which only the id and the name are left.
func remade(id thread.ID, name string) thread.Thread {
	return thread.Thread{ID: id, Name: name, Label: "recovered: its own record was damaged"}
}
