// Package words is a full-text search over the names of threads, the prompts and answers of their turns, and the paths
// of the files that these changed.
//
// The index is a file of its own beside the store, built from nothing but the store: it may lag as long as nobody
// searches, it never slows a put, and a missing or damaged one is rebuilt. It contains what checkpoints contain of
// prompts and answers, their first 2,000 bytes, with secrets redacted. It works with any thread.Store.
package words

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3" // the driver, too

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// Source is what the index is built from.
type Source interface {
	Thread(context.Context, thread.ID) (thread.Thread, error)
	SelectThreads(context.Context, thread.Query) ([]thread.Thread, int64, error)
	Checkpoints(context.Context, thread.ID, thread.Page) ([]thread.Checkpoint, error)
	Checkpoint(context.Context, thread.CheckpointID) (thread.Checkpoint, error)
}

// Index is the search index.
type Index struct {
	source  Source
	changes Changes // nil: no files are found
	file    string

	// mu is held while the index is being updated, and guards the creation of db.
	mu sync.Mutex
	db *sql.DB // set by the first update that can

	// stop ends the goroutine that indexes what an earlier run left unindexed; filled is closed when it has ended.
	stop   context.CancelFunc
	filled chan struct{}
}

// mark describes how far a thread is indexed.
type mark struct {
	seq  int64
	head thread.CheckpointID
}

// version of the file's layout; a file with another one is rebuilt.
const version = 3

const layout = `
CREATE TABLE marks (thread TEXT PRIMARY KEY, seq INTEGER NOT NULL, head TEXT NOT NULL);
CREATE TABLE docs (id INTEGER PRIMARY KEY, thread TEXT NOT NULL, checkpoint TEXT NOT NULL, turn INTEGER NOT NULL,
	part TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX docs_thread ON docs (thread);
CREATE TABLE paths (id INTEGER PRIMARY KEY, thread TEXT NOT NULL, checkpoint TEXT NOT NULL, turn INTEGER NOT NULL,
	path TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX paths_thread ON paths (thread);
CREATE VIRTUAL TABLE texts USING fts4(text, tokenize=unicode61 "remove_diacritics=1");
`

// Open returns the index in a folder. After a delay it starts indexing what exists already, so that neither the start
// of the program nor a later search has to wait for that. A search before that does it first. On a full disk the first
// search that finds space creates the file.
func Open(dir string, source Source, changes Changes, after time.Duration) *Index {
	ctx, stop := context.WithCancel(context.Background())
	x := &Index{source: source, changes: changes, file: filepath.Join(dir, "search.db"), stop: stop, filled: make(chan struct{})}
	go func() {
		defer close(x.filled)
		begin := time.NewTimer(after)
		defer begin.Stop()
		select {
		case <-begin.C:
			if x.Update(ctx) == nil { // a search meets the same error and reports it
				debug.FreeOSMemory() // it has read all threads, of which nothing is needed any more
			}
		case <-ctx.Done():
		}
	}()
	return x
}

// ready opens the file unless it is open. An unreadable one is rebuilt. mu is held.
func (x *Index) ready() error {
	if x.db != nil {
		return nil
	}
	files := []string{x.file, x.file + "-wal", x.file + "-shm"}
	for _, f := range files { // SQLite would follow a link and block at a pipe
		info, err := os.Lstat(f)
		if err != nil || info.Mode().IsRegular() {
			continue
		}
		if err := os.Remove(f); err != nil {
			return thread.Hint(fmt.Errorf("open the search index: %w", err), "move it away: the index will be rebuilt")
		}
	}
	if err := create(x.file); err != nil {
		return fmt.Errorf("open the search index: %w", full(err))
	}
	err := x.open(x.file)
	if err == nil {
		return nil
	}
	if untouched(err) {
		return fmt.Errorf("open the search index: %w", full(err))
	}
	// It contains nothing that the store does not: rebuild it.
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("rebuild the search index: %w", err)
		}
	}
	if err := create(x.file); err != nil {
		return fmt.Errorf("open the search index: %w", full(err))
	}
	if err := x.open(x.file); err != nil {
		return fmt.Errorf("open the search index: %w", err)
	}
	return nil
}

// full turns an error for lack of space into a thread.ErrDiskFull.
func full(err error) error {
	var e sqlite3.Error
	if !errors.Is(err, syscall.ENOSPC) && (!errors.As(err, &e) ||
		e.Code != sqlite3.ErrFull && e.SystemErrno != syscall.ENOSPC) {
		return err
	}
	return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err), "free some space; the next search then continues")
}

// untouched reports whether a file could not be opened, created or written; its content may be valid.
func untouched(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrFull || e.Code == sqlite3.ErrIoErr || e.Code == sqlite3.ErrCantOpen)
}

// create creates the file with its mode before SQLite opens it, which gives -wal and -shm the same: the program's umask
// does not matter then. It follows no link.
func create(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func (x *Index) open(file string) error {
	db, err := sql.Open("sqlite3",
		"file:"+escape(file)+"?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=5000&_stmt_cache_size=16"+sqlfile.Small)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(4)
	if err := x.prepare(db, file); err != nil {
		db.Close()
		return err
	}
	x.db = db
	return nil
}

// escape makes a path safe inside a URI.
func escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

func (x *Index) prepare(db *sql.DB, file string) error {
	var v int
	if err := db.QueryRow("PRAGMA user_version").Scan(&v); err != nil {
		return err
	}
	if v == 0 {
		if _, err := db.Exec(layout + fmt.Sprintf("PRAGMA user_version = %d;", version)); err != nil {
			return err
		}
	} else if v != version {
		return fmt.Errorf("layout %d, want %d", v, version)
	}
	var check string
	if err := db.QueryRow("PRAGMA quick_check(1)").Scan(&check); err != nil {
		return err
	}
	if check != "ok" {
		return fmt.Errorf("damaged: %s", check)
	}
	return os.Chmod(file, 0o600)
}

// Close closes the file.
func (x *Index) Close() error {
	x.stop()
	<-x.filled
	if x.db == nil {
		return nil
	}
	return x.db.Close()
}

// Update updates the index from the store.
func (x *Index) Update(ctx context.Context) error { return x.update(ctx, func(*thread.Thread) {}) }

// update is Update; see is called with each thread, oldest first.
func (x *Index) update(ctx context.Context, see func(*thread.Thread)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.ready(); err != nil {
		return err
	}
	marked := 0
	err := x.each(ctx, func(list []thread.Thread) error {
		marks, err := x.marks(ctx, list)
		if err != nil {
			return full(err)
		}
		for i := range list {
			t := &list[i]
			see(t)
			m, known := marks[t.ID]
			if known {
				marked++
			}
			if known && m.head == t.Head {
				continue
			}
			err := x.add(ctx, *t, m)
			if err == nil && !known {
				marked++
			}
			if err != nil && !errors.Is(err, thread.ErrDamaged) { // it hides no other thread; who asks for it learns it from the store
				return fmt.Errorf("index %s: %w", t.Name, full(err))
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := x.dropGone(ctx, marked); err != nil {
		return fmt.Errorf("drop from the index: %w", full(err))
	}
	return nil
}

// some is how many threads are looked at at once.
const some = 256

// each calls do with all threads, oldest first, some at once.
func (x *Index) each(ctx context.Context, do func([]thread.Thread) error) error {
	list := make([]thread.Thread, 0, some)
	hand := func() error {
		err := do(list)
		clear(list)
		list = list[:0]
		return err
	}
	err := thread.EachThread(ctx, x.source, thread.Query{}, func(t thread.Thread) error {
		if list = append(list, t); len(list) < some {
			return nil
		}
		return hand()
	})
	if err != nil {
		return err
	}
	return hand()
}

// marks returns how far some threads are indexed. It is asked for with each update: a project may have very many threads.
func (x *Index) marks(ctx context.Context, list []thread.Thread) (map[thread.ID]mark, error) {
	marks := make(map[thread.ID]mark, len(list))
	ids := make([]any, some)
	for i := range ids { // always as many: the statement is prepared once
		ids[i] = ""
		if i < len(list) {
			ids[i] = string(list[i].ID)
		}
	}
	rows, err := x.db.QueryContext(ctx, "SELECT thread, seq, head FROM marks WHERE thread IN (?"+strings.Repeat(",?", some-1)+")", ids...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id thread.ID
		var m mark
		if err := rows.Scan(&id, &m.seq, &m.head); err != nil {
			return nil, err
		}
		marks[id] = m
	}
	return marks, rows.Err()
}

// dropGone removes the threads that are no longer stored; marked is how many of those that are stored have marks.
func (x *Index) dropGone(ctx context.Context, marked int) error {
	var all int
	if err := x.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM marks").Scan(&all); err != nil || all == marked {
		return err
	}
	there := make(map[thread.ID]bool, marked)
	err := x.each(ctx, func(list []thread.Thread) error {
		for i := range list {
			there[list[i].ID] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	var gone []thread.ID
	rows, err := x.db.QueryContext(ctx, "SELECT thread FROM marks")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id thread.ID
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if !there[id] {
			gone = append(gone, id)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, id := range gone {
		if err := x.drop(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// names returns a function that returns the name of a thread; "" for one that is deleted or gone.
func (x *Index) names(ctx context.Context) func(thread.ID) string {
	known := map[thread.ID]string{}
	return func(id thread.ID) string {
		name, asked := known[id]
		if !asked {
			if t, err := x.source.Thread(ctx, id); err == nil && t.Deleted.IsZero() {
				name = t.Name
			}
			known[id] = name
		}
		return name
	}
}

// page is how many checkpoints are read at once.
const page = 500

// add indexes what was added to a thread since the mark.
func (x *Index) add(ctx context.Context, t thread.Thread, m mark) error {
	var fresh, all []thread.Checkpoint
	for before := int64(0); ; {
		list, err := x.source.Checkpoints(ctx, t.ID, thread.Page{Before: before, Limit: page, Turns: true})
		if err != nil {
			return err
		}
		all = append(all, list...)
		for _, c := range list {
			if c.Seq > m.seq {
				fresh = append(fresh, c)
			}
		}
		if len(list) < page || list[len(list)-1].Seq <= m.seq {
			break
		}
		before = list[len(list)-1].Seq
	}
	files, err := x.changes.of(ctx, x.source.Checkpoint, m.seq, all)
	if err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := addPaths(ctx, tx, files); err != nil {
		return err
	}
	next := mark{seq: m.seq, head: t.Head}
	for i := len(fresh) - 1; i >= 0; i-- {
		c := fresh[i]
		next.seq = max(next.seq, c.Seq)
		if c.Kind != thread.KindTurn && c.Kind != thread.KindImport {
			continue
		}
		for _, part := range []struct{ name, text string }{{"prompt", c.Prompt}, {"answer", c.Answer}} {
			if strings.TrimSpace(part.text) == "" {
				continue
			}
			res, err := tx.ExecContext(ctx, "INSERT INTO docs (thread, checkpoint, turn, part, at) VALUES (?, ?, ?, ?, ?)",
				t.ID, c.ID, c.Turn, part.name, c.Created.UnixMilli())
			if err != nil {
				return err
			}
			id, err := res.LastInsertId()
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO texts (docid, text) VALUES (?, ?)", id,
				secret.Redact(part.text)); err != nil {
				return err
			}
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO marks (thread, seq, head) VALUES (?, ?, ?)", t.ID, next.seq,
		next.head); err != nil {
		return err
	}
	return tx.Commit()
}

// drop removes a thread that is no longer stored.
func (x *Index) drop(ctx context.Context, id thread.ID) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, q := range []string{
		"DELETE FROM texts WHERE docid IN (SELECT id FROM docs WHERE thread = ?)",
		"DELETE FROM docs WHERE thread = ?", "DELETE FROM paths WHERE thread = ?", "DELETE FROM marks WHERE thread = ?",
	} {
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// defaultLimit is the number of hits if none is given.
const defaultLimit = 50
