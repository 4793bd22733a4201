package workdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orchestrator/checkpoint/quarantine"
	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
	"orchestrator/thread/work"
)

const (
	// rescueEnd is the suffix of the file that says how far setting it aside has come.
	rescueEnd = "-rescue"
	// freshEnd is that of the new database while it is filled.
	freshEnd = "-fresh"
)

// rescue sets a damaged database aside and copies what can be read into a new one.
//
// Its steps, each of which a start finishes that finds it half done: what is to happen is noted; the files are moved into
// a folder of package quarantine; they are copied into a database of another name; that gets the right one; the note
// goes.
type rescue struct {
	dir    *private.Folder
	path   string
	now    func() time.Time
	report string
}

// plan is the note.
type plan struct {
	Find  string `json:"find"` // the folder the files go to
	Cause string `json:"cause"`
	Moved bool   `json:"moved"`
}

func (r *rescue) note() string { return filepath.Base(r.path) + rescueEnd }

func (r *rescue) begin(ctx context.Context, cause error) error {
	find, err := quarantine.New(r.dir, r.now())
	if err != nil {
		return err
	}
	p := plan{Find: filepath.Base(find.Path()), Cause: cause.Error()}
	if err := errors.Join(find.Close(), r.write(p)); err != nil {
		return err
	}
	return r.run(ctx, p)
}

// finish goes on with what was interrupted.
func (r *rescue) finish(ctx context.Context) error {
	text, err := r.dir.Read(r.note(), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var p plan
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.Find == "" || p.Find != filepath.Base(p.Find) || !sqlfile.Exists(r.dir.Path(p.Find)) {
		return r.dir.Remove(r.note()) // nobody knows what it meant, or the person removed the folder
	}
	return r.run(ctx, p)
}

func (r *rescue) write(p plan) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return r.dir.Write(r.note(), text)
}

func (r *rescue) run(ctx context.Context, p plan) error {
	find := r.dir.Path(p.Find)
	failpoint.Hit("workdb.rescue.noted")
	if !p.Moved {
		// The log goes first: alone it is harmless, but beside a new file it would be another database's.
		for _, end := range []string{"-wal", "-shm", ""} {
			err := os.Rename(r.path+end, filepath.Join(find, filepath.Base(r.path)+end))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("set aside: %w", err)
			}
		}
		failpoint.Hit("workdb.rescue.moved")
		p.Moved = true
		if err := errors.Join(atomicfile.SyncDir(find), atomicfile.SyncDir(filepath.Dir(r.path)), r.write(p)); err != nil {
			return err
		}
	}
	if !sqlfile.Exists(r.path) {
		if err := r.copy(ctx, filepath.Join(find, filepath.Base(r.path)), p); err != nil {
			return err
		}
	}
	failpoint.Hit("workdb.rescue.copied")
	for _, name := range []string{filepath.Base(r.path) + suspectEnd, r.note()} {
		if err := r.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copy fills a new database from one that was set aside, reports it, and puts it into the old one's place.
func (r *rescue) copy(ctx context.Context, from string, p plan) error {
	fresh := r.path + freshEnd
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(fresh + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	to := &file{dir: r.dir, path: fresh, lock: time.Minute}
	if err := to.connect(ctx); err != nil {
		return err
	}
	c := &copied{ctx: ctx, to: to}
	_, err := to.writer.ExecContext(ctx, "PRAGMA synchronous = OFF") // all of it is made durable at once, by the fold
	if err == nil {
		err = c.all(from)
	}
	if err == nil {
		_, err = to.writer.ExecContext(ctx, "PRAGMA synchronous = FULL")
	}
	err = errors.Join(err, sqlfile.Fold(ctx, to.writer), to.disconnect())
	if err != nil {
		return err
	}
	r.report = fmt.Sprintf("The list of runs was damaged (%s): it was set aside, and %d runs with %d lines of their records "+
		"were copied", p.Cause, c.runs, c.events)
	if len(c.said) > 0 {
		r.report += ", and " + strings.Join(c.said, ", ")
	}
	r.report += "."
	if c.gone > 0 {
		r.report += fmt.Sprintf(" At most %d runs are gone.", c.gone)
	}
	if c.lost != nil {
		r.report += fmt.Sprintf("\nSome could not be read: %v", c.lost)
	}
	find, err := r.dir.Open(p.Find)
	if err != nil {
		return err
	}
	if err := errors.Join(quarantine.Report(find, r.report), find.Close()); err != nil {
		return err
	}
	for _, end := range []string{"-wal", "-shm"} { // the log is empty
		if err := os.Remove(fresh + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(fresh, r.path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(r.path))
}

// copied is a copy at work.
type copied struct {
	ctx          context.Context // of all of it
	to           *file
	from         *sql.DB
	runs, events int
	lost         error            // the last that could not be read
	gone         int64            // how many executions were not read, at most
	said         []string         // what else was copied, and lost
	numbers      map[string]int64 // the last that were given, by prefix
}

// lose notes that something could not be read, once for each cause.
func (c *copied) lose(err error) {
	switch {
	case c.lost == nil:
		c.lost = err
	case err != nil && !strings.Contains(c.lost.Error(), err.Error()):
		c.lost = fmt.Errorf("%w; %w", c.lost, err)
	}
}

// attach opens the damaged database beside one in memory, which any file allows. With a schema that counts as writable, a
// file whose end is missing is read, and of its tables all of which the definition can be read.
func (c *copied) attach(path string) error {
	c.from = sql.OpenDB(sqlfile.Connector("file::memory:"))
	c.from.SetMaxOpenConns(1)
	c.from.SetConnMaxLifetime(0)
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro"}
	if _, err := c.from.ExecContext(c.ctx, "PRAGMA writable_schema = ON"); err != nil {
		return err
	}
	if _, err := c.from.ExecContext(c.ctx, "ATTACH DATABASE ? AS damaged", u.String()); err != nil {
		c.lose(err) // nothing can be read of it
	}
	return nil
}

// all copies what can be read of a database.
func (c *copied) all(path string) error {
	if err := c.attach(path); err != nil {
		return err
	}
	defer c.from.Close()
	names := current()
	var n int
	if err := c.from.QueryRowContext(c.ctx, "SELECT count(*) FROM damaged.sqlite_master WHERE name = 'execution'").Scan(&n); err == nil && n > 0 {
		names = old()
	}
	c.numbers = map[string]int64{}
	err := c.each(names.numbers, func(scan func(...any) error) error {
		var prefix string
		var last int64
		err := scan(&prefix, &last)
		c.numbers[prefix] = last
		return err
	})
	if err != nil {
		c.lose(fmt.Errorf("numbers that were given, so that some may be given again: %w", err))
	}
	rows, err := c.executions(names)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := c.run(names, r); err != nil {
			return err
		}
	}
	if names == current() {
		if err := c.rest(rows); err != nil {
			return err
		}
	}
	for prefix, last := range c.numbers {
		if _, err := c.to.writer.ExecContext(c.ctx, "INSERT OR REPLACE INTO work_number (prefix, last) VALUES (?, ?)", prefix, last); err != nil {
			return err
		}
	}
	s := workrow.New(c.to, nil)
	if err := s.Fill(c.ctx); err != nil {
		return err
	}
	failed, err := s.Plans().Mend(c.ctx)
	if len(failed) > 0 {
		c.said = append(c.said, fmt.Sprintf("%d tasks that were at work have failed, as parts of them are lost (%s)", len(failed), strings.Join(failed, ", ")))
	}
	return err
}

// executions reads what can be read of the executions.
func (c *copied) executions(names tables) (rows []workrow.Row, err error) {
	query := "SELECT " + workrow.Columns + " FROM " + names.work + " NOT INDEXED WHERE n > ? AND n < ? ORDER BY n"
	c.gone, err = around(func(r span) (last int64, n int, damage, err error) {
		damage = c.each(query, func(scan func(...any) error) error {
			var row workrow.Row
			if err := row.Scan(scan); err != nil {
				return err
			}
			rows, last, n = append(rows, row), row.N, n+1
			return nil
		}, r.after, r.before)
		c.lose(damage)
		return last, n, damage, c.ctx.Err()
	})
	return rows, err
}

// rest copies what hangs on the executions, and what they are for.
func (c *copied) rest(rows []workrow.Row) error {
	s := &salvager{ctx: c.ctx, from: c.from, to: c.to, kept: map[string]map[any]bool{"work": {}}, last: c.numbers}
	for _, r := range rows {
		s.kept["work"][r.N] = true
	}
	err := s.all()
	c.said = s.said
	c.lose(s.lost)
	for _, name := range s.names {
		c.named(name)
	}
	return err
}

// named has the number of a name not be given again.
func (c *copied) named(name string) {
	prefix, digits, _ := strings.Cut(name, "-")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && work.NumberedAs(prefix, n) == name {
		c.numbers[prefix] = max(c.numbers[prefix], n)
	}
}

// tables are the names of a version's tables.
type tables struct{ work, events, numbers string }

func current() tables {
	return tables{"work", "work_event WHERE work", "SELECT prefix, last FROM work_number"}
}

func old() tables {
	return tables{"execution", "event WHERE execution", "SELECT 'exec', last FROM number"}
}

// run copies an execution with what can be read of its events.
func (c *copied) run(names tables, r workrow.Row) error {
	c.named(r.Name)
	events := map[int64]workrow.EventRow{}
	for _, order := range []string{"", " DESC"} {
		err := c.each(fmt.Sprintf("SELECT seq, sum, doc FROM %s = %d ORDER BY seq%s", names.events, r.N, order),
			func(scan func(...any) error) error {
				var e workrow.EventRow
				err := scan(&e.Seq, &e.Sum, &e.Doc)
				if e.Sum, e.Doc = some(e.Sum), some(e.Doc); err == nil {
					events[e.Seq] = e
				}
				return err
			})
		if err == nil {
			break
		}
		c.lose(err)
	}
	return c.to.Write(c.ctx, 0, func(tx workrow.Tx) error {
		n, err := tx.Exec("INSERT OR IGNORE INTO work ("+workrow.Columns+") VALUES (?, ?, ?, ?, ?, ?, ?)",
			r.N, string(r.ID), r.Name, string(r.Thread), string(r.State), some(r.Sum), some(r.Doc))
		if err != nil || n == 0 {
			return err
		}
		c.runs++
		for _, e := range events {
			if _, err := tx.Exec("INSERT INTO work_event (work, seq, sum, doc) VALUES (?, ?, ?, ?)", r.N, e.Seq, e.Sum, e.Doc); err != nil {
				return err
			}
			c.events++
		}
		return nil
	})
}

// each reads rows of the damaged database.
func (c *copied) each(query string, read func(scan func(...any) error) error, args ...any) error {
	rows, err := c.from.QueryContext(c.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// some returns bytes that are not NULL, so that what cannot be read is a record that does not match its hash.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
