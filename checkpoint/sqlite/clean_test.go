package sqlite

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// closedOnce makes a store of a few threads and closes it.
func closedOnce(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	s := opened(t, path)
	for _, name := range []string{"a-0001", "b-0001", "c-0001"} {
		if err := s.CreateThread(t.Context(), thread.Thread{ID: thread.ID(name), Name: name, Agent: "claude"}); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, s)
	return path
}

func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// write replaces bytes of a file in place.
func write(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteAt(b, at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCleanEnd opens a store that was closed, after each thing that may happen to its files meanwhile: the start checks
// all of it unless nothing did.
func TestCleanEnd(t *testing.T) {
	again := func(t *testing.T, path string) []byte {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for what, c := range map[string]struct {
		happens func(t *testing.T, path string)
		whole   bool
	}{
		"nothing":            {happens: func(*testing.T, string) {}},
		"it is read":         {happens: func(t *testing.T, path string) { again(t, path) }},
		"a start and an end": {happens: func(t *testing.T, path string) { shut(t, opened(t, path)) }},
		"no end": {whole: true, happens: func(t *testing.T, path string) {
			if err := os.Remove(path + cleanEnd); err != nil {
				t.Fatal(err)
			}
		}},
		"a byte is written as it was": {whole: true, happens: func(t *testing.T, path string) {
			write(t, path, 5000, again(t, path)[5000:5001])
		}},
		"the same, its times put back": {whole: true, happens: func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // a clock of file systems may stand still for some of them
			write(t, path, 5000, again(t, path)[5000:5001])
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}},
		"a copy takes its place": {whole: true, happens: func(t *testing.T, path string) {
			if err := os.WriteFile(path+"-copy", again(t, path), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+"-copy", path); err != nil {
				t.Fatal(err)
			}
		}},
		"its log is written": {whole: true, happens: func(t *testing.T, path string) {
			write(t, path+"-wal", 0, make([]byte, 100))
		}},
		"the mark of the newest commit is gone": {whole: true, happens: func(t *testing.T, path string) {
			if err := os.Remove(path + markEnd); err != nil {
				t.Fatal(err)
			}
		}},
		"what says it is damaged": {whole: true, happens: func(t *testing.T, path string) {
			write(t, path+cleanEnd, 20, []byte("x"))
		}},
		"what says it is cut": {whole: true, happens: func(t *testing.T, path string) {
			if err := os.Truncate(path+cleanEnd, 30); err != nil {
				t.Fatal(err)
			}
		}},
		"what says it is a folder": {whole: true, happens: func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path+cleanEnd), os.Mkdir(path+cleanEnd, 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(what, func(t *testing.T) {
			path := closedOnce(t)
			c.happens(t, path)
			s := opened(t, path)
			defer shut(t, s)
			if s.health.whole != c.whole {
				t.Errorf("all of it is checked: %v", s.health.whole)
			}
			if info, err := os.Lstat(path + cleanEnd); err == nil && info.Mode().IsRegular() {
				t.Error("while it is open, it is said to be closed")
			}
			if list, err := s.Threads(t.Context()); err != nil || len(list) != 3 {
				t.Errorf("%d threads: %v", len(list), err)
			}
		})
	}
}

// rot changes the record of a thread as a failing disk does: nothing tells that anybody wrote.
func rot(t *testing.T, path, name string) {
	t.Helper()
	text, err := os.ReadFile(path + cleanEnd)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = c.do(t.Context(), 0, func(x *tx) error {
		return x.exec("UPDATE thread SET doc = substr(doc, 1, 30) || x'ffffffff' || substr(doc, 35) WHERE name = ?", name)
	})
	at := c.at
	if err != nil {
		t.Fatal(err)
	}
	shut(t, c)
	pretend(t, path, text, func(said *clean) { said.Mark = at })
}

// pretend says again that a database was closed whole, and that it looks as it does.
func pretend(t *testing.T, path string, text []byte, change func(*clean)) {
	t.Helper()
	var said clean
	_, doc, _ := strings.Cut(string(text), " ")
	err := json.Unmarshal([]byte(doc), &said)
	if err == nil {
		said.Files, err = lookBoth(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(&said)
	b, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+cleanEnd, append([]byte(cleanSum(b)+" "), b...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFoundLate damages a record without a trace: the start does not see it, the check in the background says so once it
// is due, and the next start repairs and reports it, as a start that checks everything does.
func TestFoundLate(t *testing.T) {
	path := closedOnce(t)
	rot(t, path, "b-0001")
	s := opened(t, path)
	if s.health.whole || s.Report() != nil {
		t.Fatalf("the start checked it: %v", s.Report())
	}
	if err := s.Check(t.Context(), s.health.checked.Add(checkEach-time.Minute)); err != nil {
		t.Errorf("a check that is not due: %v", err)
	}
	if err := s.Check(t.Context(), s.health.checked.Add(checkEach)); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("the check says %v", err)
	}
	shut(t, s)
	s = opened(t, path)
	r := s.Report()
	if !s.health.whole || r == nil || len(r.Dropped) != 1 || !strings.Contains(r.Dropped[0], "b-0001") {
		t.Errorf("the next start: %v", r)
	}
	shut(t, s)
	if s = opened(t, path); s.health.whole || s.Report() != nil {
		t.Errorf("the one after it: %v", s.Report())
	}
	shut(t, s)
}

// TestMetLate reads a damaged record: the next start repairs it, without a check in the background.
func TestMetLate(t *testing.T) {
	for what, read := range map[string]func(*Store) error{
		"by its id":   func(s *Store) error { _, err := s.Thread(t.Context(), "b-0001"); return err },
		"in the list": func(s *Store) error { _, err := s.Threads(t.Context()); return err },
		"to write it": func(s *Store) error {
			_, err := s.UpdateThread(t.Context(), "b-0001", func(*thread.Thread) error { return nil })
			return err
		},
	} {
		path := closedOnce(t)
		rot(t, path, "b-0001")
		s := opened(t, path)
		if err := read(s); err != nil && !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
		shut(t, s)
		if s = opened(t, path); s.Report() == nil || len(s.Report().Dropped) != 1 {
			t.Errorf("%s: the next start: %v", what, s.Report())
		}
		shut(t, s)
	}
}

// TestCheckWhole checks a sound database in the background: the next start remembers when.
func TestCheckWhole(t *testing.T) {
	path := closedOnce(t)
	s := opened(t, path)
	at := s.health.checked.Add(2 * checkEach)
	if err := s.Check(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	s = opened(t, path)
	if s.health.whole || !s.health.checked.Equal(at) {
		t.Errorf("checked at %v, want %v", s.health.checked, at)
	}
	if err := s.Check(t.Context(), at.Add(-time.Hour)); err != nil { // the clock jumped back
		t.Error(err)
	}
	shut(t, s)
}
