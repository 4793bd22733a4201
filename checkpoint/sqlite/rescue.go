package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Report says what was found damaged at the start, and what became of it.
type Report struct {
	// Quarantined is where the damaged file lies now; its log lies beside it. It is empty when the file was
	// sound but for what Dropped names, and stayed in its place.
	Quarantined string
	// Cause is what was wrong with it.
	Cause string
	// Threads and Checkpoints are how many were copied whole out of a quarantined file.
	Threads, Checkpoints int
	// Dropped names what could not be, for people.
	Dropped []string
}

// String is the report as people read it.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The store was damaged (%s).\n", r.Cause)
	if r.Quarantined != "" {
		fmt.Fprintf(&b, "It was moved to %s.\n%d threads and %d checkpoints were read from it whole and are in the new store.\n",
			r.Quarantined, r.Threads, r.Checkpoints)
	}
	if len(r.Dropped) == 0 {
		b.WriteString("Nothing that could be listed was dropped.\n")
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(&b, "dropped: %s\n", d)
	}
	return b.String()
}

// Report returns what Open repaired, nil when nothing was damaged.
func (s *Store) Report() *Report { return s.report }

// rescue moves a damaged database aside and copies what verifies into a new one at the old place. Until the new
// one is complete it has another name, so that a rescue that was cut off begins again.
func rescue(ctx context.Context, path string, now time.Time, cause error) (*Report, error) {
	aside := path + ".damaged-" + now.UTC().Format("20060102T150405")
	for n := 2; exists(aside); n++ {
		aside = fmt.Sprintf("%s.damaged-%s-%d", path, now.UTC().Format("20060102T150405"), n)
	}
	rep := &Report{Quarantined: aside, Cause: cause.Error()}
	fresh := path + ".rescue"
	for _, p := range []string{fresh, fresh + "-wal", fresh + "-shm", fresh + "-journal"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("store: remove what an earlier rescue left: %w", err)
		}
	}
	to := &Store{path: fresh, packer: pack.New()}
	if err := prepare(fresh); err != nil {
		return nil, err
	}
	if err := to.connect(ctx); err != nil {
		return nil, err
	}
	err := copyWhole(ctx, path, to, rep)
	to.disconnect() // the last one to close folds the log in
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(aside+".txt", []byte(rep.String()), 0o600); err != nil {
		return nil, fmt.Errorf("store: write the report of the rescue: %w", err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	failpoint.Hit("sqlite.rescue.copied")
	// The log first: alone it is nothing, but with a new file it would be another's.
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("store: quarantine: %w", err)
		}
		failpoint.Hit("sqlite.rescue.moved")
	}
	if err := os.Rename(fresh, path); err != nil {
		return nil, fmt.Errorf("store: quarantine: %w", err)
	}
	return rep, syncDir(filepath.Dir(path))
}

// finishRescue puts the new file in its place when the process that made it ended before it could.
func finishRescue(path string) (*Report, error) {
	if exists(path) || !exists(path+".rescue") {
		return nil, nil
	}
	rep := &Report{Cause: "an earlier start found it and was cut off while it repaired"}
	if old, err := filepath.Glob(path + ".damaged-*.txt"); err == nil && len(old) > 0 {
		rep.Quarantined = strings.TrimSuffix(slices.Max(old), ".txt")
		rep.Dropped = []string{"see " + slices.Max(old)}
	}
	if err := os.Rename(path+".rescue", path); err != nil {
		return nil, fmt.Errorf("finish the rescue: %w", err)
	}
	return rep, syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("store: sync %s: %w", dir, err)
	}
	return nil
}

// salvage copies out of a damaged database.
type salvage struct {
	ctx  context.Context // lives for one rescue
	from *sql.DB
	to   *Store
	tx   *tx
	rep  *Report
	good map[int64]bool // rows that are copied
	// owner is which thread the rows of a thread's number say that they are of.
	owner map[int64]thread.ID
}

func copyWhole(ctx context.Context, path string, to *Store, rep *Report) error {
	from, err := openDamaged(ctx, path)
	if err != nil {
		rep.Dropped = append(rep.Dropped, "everything: "+err.Error())
		return nil // an empty store is better than none
	}
	defer from.Close()
	v := &salvage{ctx: ctx, from: from, to: to, rep: rep, good: map[int64]bool{}, owner: map[int64]thread.ID{},
		tx: &tx{ctx: ctx, db: to.write, stmts: map[string]*sql.Stmt{}}}
	defer v.tx.close()
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

// openDamaged opens the file as it lies, its log applied as far as it is sound.
func openDamaged(ctx context.Context, path string) (*sql.DB, error) {
	c, err := sql.Open("sqlite3", dsn(path, "&_query_only=1"))
	if err != nil {
		return nil, err
	}
	c.SetMaxOpenConns(1)
	var n int
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name IN ('thread', 'checkpoint')").Scan(&n); err != nil || n < 2 {
		c.Close()
		return nil, fmt.Errorf("no table can be read: %w", errors.Join(err, errCheck))
	}
	return c, nil
}

// scan reads a table by ascending row number and goes on behind what cannot be read.
func (v *salvage) scan(what, query, last string, each func(func(...any) error) (int64, error)) error {
	var end int64
	if err := v.from.QueryRowContext(v.ctx, last).Scan(&end); err != nil {
		end = -1 // its right edge is damaged: go on until many in a row fail
	}
	const blind = 1000
	misses := 0
	for at := int64(1); (end >= 0 && at <= end) || (end < 0 && misses < blind); {
		rows, err := v.from.QueryContext(v.ctx, query, at)
		if err == nil {
			for rows.Next() {
				n, serr := each(rows.Scan)
				if serr != nil {
					rows.Close()
					return serr
				}
				at, misses = n+1, 0
			}
			err = rows.Err()
			rows.Close()
		}
		if err == nil {
			return nil // to the table's end
		}
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if misses == 0 {
			v.drop("%s from row %d on: %v", what, at, err)
		}
		at, misses = at+1, misses+1
	}
	return nil
}

func (v *salvage) threads() error {
	return v.scan("threads", "SELECT n, id, name, seq, sum, doc FROM thread NOT INDEXED WHERE n >= ? ORDER BY n", "SELECT max(n) FROM thread",
		func(scan func(...any) error) (int64, error) {
			var n, seq int64
			var id, name string
			var sum, doc []byte
			if err := scan(&n, &id, &name, &seq, &sum, &doc); err != nil {
				v.drop("a thread: %v", err)
				return n, nil
			}
			if _, err := v.to.packer.OpenThread(thread.ID(id), doc, sum); err != nil {
				v.drop("the record of thread %q (%v): its name and its checkpoints are kept", name, err)
				if doc, sum, err = v.to.packer.Thread(remade(thread.ID(id), name)); err != nil {
					return n, err
				}
			}
			v.rep.Threads++
			return n, v.tx.exec("INSERT OR IGNORE INTO thread (n, id, name, seq, sum, doc) VALUES (?, ?, ?, ?, ?, ?)", n, id, name, seq, sum, doc)
		})
}

// checkpoints copies the rows that verify and whose ancestors all do.
func (v *salvage) checkpoints() error {
	return v.scan("checkpoints", "SELECT "+columns+", c.fork FROM checkpoint c NOT INDEXED WHERE n >= ? ORDER BY n", "SELECT max(n) FROM checkpoint",
		func(scan func(...any) error) (int64, error) {
			fork := 0
			r, err := scanRow(func(to ...any) error { return scan(append(to, &fork)...) })
			if err != nil {
				v.drop("a checkpoint: %v", err)
				return r.N, nil
			}
			if r.Parent != 0 && !v.good[r.Parent] {
				v.drop("checkpoint %s, turn %d: one that it stands on is damaged", r.ID, r.Turn)
				return r.N, nil
			}
			c, err := v.to.packer.Verify(v.ctx, inTx{v.tx}, r)
			if err != nil {
				v.drop("checkpoint %s, turn %d: %v", r.ID, r.Turn, err)
				return r.N, nil
			}
			v.good[r.N] = true
			v.owner[r.Thread] = c.Thread
			v.rep.Checkpoints++
			return r.N, v.tx.exec(`INSERT INTO checkpoint (n, id, thread, parent, fork, seq, turn, kind, items, chain, raw, sum, data)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.N, string(r.ID), r.Thread, r.Parent, fork, r.Seq, r.Turn, string(r.Kind),
				r.Items, r.Chain, r.Raw, r.Sum, r.Data)
		})
}
