package workdb_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/checkpoint/worktest"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

func open(t testing.TB, path string, o workdb.Options) *workdb.Store {
	t.Helper()
	s, err := workdb.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ours(t *testing.T, s work.Store) *workdb.Store {
	t.Helper()
	own, ok := s.(*workdb.Store)
	if !ok {
		t.Fatalf("%T", s)
	}
	return own
}

func TestConformance(t *testing.T) {
	worktest.Run(t, worktest.Harness{
		Open: func(t *testing.T, now func() time.Time) work.Store {
			return open(t, filepath.Join(t.TempDir(), "state", "work.db"), workdb.Options{Now: now})
		},
		Reopen: func(t *testing.T, s work.Store, now func() time.Time) work.Store {
			if err := ours(t, s).Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, ours(t, s).Path(), workdb.Options{Now: now})
			if again.Report() != "" {
				t.Fatal(again.Report())
			}
			return again
		},
		Second: func(t *testing.T, s work.Store) work.Store { return open(t, ours(t, s).Path(), workdb.Options{}) },
		Spoil:  func(t *testing.T, s work.Store, id work.ID, seq int64) { spoil(t, ours(t, s).Path(), id, seq) },
	})
}

// spoil flips one bit of what is stored of an execution, or of one of its events.
func spoil(t *testing.T, path string, id work.ID, seq int64) {
	t.Helper()
	if seq == 0 {
		outside(t, path, "UPDATE work SET doc = CAST(replace(CAST(doc AS TEXT), 'demo', 'demp') AS BLOB) WHERE id = ?", string(id))
		return
	}
	outside(t, path, "DROP TRIGGER work_event_stays")
	outside(t, path, `UPDATE work_event SET doc = CAST(replace(CAST(doc AS TEXT), 'one', 'onf') AS BLOB)
		WHERE seq = ? AND work = (SELECT n FROM work WHERE id = ?)`, seq, string(id))
	outside(t, path, "CREATE TRIGGER work_event_stays BEFORE UPDATE ON work_event BEGIN SELECT RAISE(ABORT, 'events are not changed'); END")
}

// outside runs a statement on a database from outside of the store.
func outside(t testing.TB, path, query string, args ...any) {
	t.Helper()
	if err := run(t, path, query, args...); err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, path, query string, args ...any) error {
	t.Helper()
	c, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Exec(query, args...)
	return err
}

// add adds an execution with some events, and returns it.
func add(t testing.TB, s work.Store, of thread.ID, events ...work.Event) work.Execution {
	t.Helper()
	x, err := s.Add(t.Context(), work.Execution{ID: thread.NewID[work.ID](), Thread: of, Agent: "demo", Lost: work.PolicyAsk})
	if err == nil && len(events) > 0 {
		err = s.Append(t.Context(), x.ID, x.Fence, events...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestEventsStay: the database itself refuses to change an event, and to remove one but for a purge.
func TestEventsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	x := add(t, s, "t1", work.Event{Kind: "text", Text: "one"})
	for query, says := range map[string]string{
		"UPDATE work_event SET doc = x'00'":                        "not changed",
		"UPDATE work_event SET seq = seq + 1":                      "not changed",
		"DELETE FROM work_event":                                   "not removed",
		"REPLACE INTO work_event VALUES (1, 1, x'00', x'00')":      "UNIQUE",
		"INSERT INTO work_event VALUES (1, 1, x'00', x'00')":       "UNIQUE",
		"INSERT INTO work_event VALUES (1, 'three', x'00', x'00')": "cannot store TEXT",
	} {
		err := run(t, path, query)
		if strings.HasPrefix(query, "REPLACE") { // SQLite runs no trigger for it unless asked to
			err = run(t, path, "PRAGMA recursive_triggers = 1; "+query)
			says = "not removed"
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if events, err := s.Events(t.Context(), x.ID, 0, 0); err != nil || len(events) != 2 || events[1].Text != "one" {
		t.Errorf("%+v: %v", events, err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "state", "work.db")
	s := open(t, path, workdb.Options{})
	add(t, s, "t1")
	for _, end := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + end); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", end, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v", err)
	}
}

// TestRefused: what is not ours, or of a newer version, is left as it is.
func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		query string
		is    error
	}{
		"newer":   {"PRAGMA user_version = 99", thread.ErrUnsupported},
		"foreign": {"PRAGMA application_id = 7", thread.ErrInvalid},
	} {
		path := filepath.Join(t.TempDir(), "work.db")
		s := open(t, path, workdb.Options{})
		add(t, s, "t1")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		outside(t, path, tc.query)
		_, err := workdb.Open(t.Context(), path, workdb.Options{})
		if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), ". ") {
			t.Errorf("%s: %v", name, err)
		}
		c, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := c.QueryRow("SELECT count(*) FROM work").Scan(&n); err != nil || n != 1 {
			t.Errorf("%s: %d: %v", name, n, err)
		}
		c.Close()
		if finds, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "damaged-*")); len(finds) > 0 {
			t.Errorf("%s: it was set aside", name)
		}
	}
	path := filepath.Join(t.TempDir(), "work.db")
	if err := os.Symlink("/etc/hostname", path); err != nil {
		t.Fatal(err)
	}
	if _, err := workdb.Open(t.Context(), path, workdb.Options{}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a link: %v", err)
	}
}

// TestLocked: another program that holds the lock is named after a while, and nothing is lost.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{Lock: 300 * time.Millisecond})
	c, err := sql.Open("sqlite3", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	x := work.Execution{ID: thread.NewID[work.ID](), Thread: "t1", Agent: "demo", Lost: work.PolicyAsk}
	if _, err := s.Add(t.Context(), x); err == nil || !strings.Contains(err.Error(), "locked by another program") {
		t.Errorf("%v", err)
	}
	if list, err := s.Open(t.Context()); err != nil || len(list) != 0 { // readers do not wait
		t.Errorf("%v: %v", list, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if x, err := s.Add(t.Context(), x); err != nil || x.Name != "exec-001" {
		t.Errorf("%s: %v", x.Name, err)
	}
}

// TestPanic: a change that panics leaves the store as it was.
func TestPanic(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	x := add(t, s, "t1")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = s.Supersede(t.Context(), x.ID, func(*work.Execution) error { panic("own") })
	}()
	if got, err := s.Claim(t.Context(), x.ID, "s", time.Now()); err != nil || got.Fence != 1 {
		t.Errorf("%+v: %v", got, err)
	}
}

// count reads a number from a database from outside of the store.
func count(t testing.TB, path, query string, to *int) {
	t.Helper()
	c, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.QueryRow(query).Scan(to); err != nil {
		t.Fatal(err)
	}
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
