package sqlite_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// TestSmallDatabase damages databases of every size in the places that a small one stands and falls with: nothing but
// the rows of the damaged page is lost.
func TestSmallDatabase(t *testing.T) {
	for _, n := range []int{2, 10, 200} {
		path := filepath.Join(t.TempDir(), "state.db")
		s := open(t, path)
		p := newProse()
		for i := range n {
			newTalk(t, s, fmt.Sprintf("t-%04d", i)).say(p.text(200), p.text(400))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewSource(int64(n)))
		// The database's own check sees nothing wrong with a letter of a column's name.
		if bad := bytes.Replace(good, []byte("turn   INTEGER"), []byte("turm   INTEGER"), -1); !bytes.Equal(bad, good) {
			path := filepath.Join(t.TempDir(), "state.db")
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, path)
			if list, err := s.Threads(t.Context()); err != nil || len(list) != n || s.Report() == nil ||
				s.Report().Checkpoints != n {
				t.Errorf("a letter of the schema: %d threads, %v, %v", len(list), err, s.Report())
			}
		} else {
			t.Error("the schema reads differently")
		}
		first := bytes.Index(good, []byte("t-0000")) / 1024 // a page with a thread or its name
		for what, at := range map[string]int{"header": 20, "root of the schema": 100, "page 1": 500,
			"schema": bytes.Index(good, []byte("CREATE TABLE thread")), "first leaf": first * 1024} {
			for _, width := range []int{1, 512} {
				if n > 100 && width == 1 {
					continue // each takes its time
				}
				bad := bytes.Clone(good)
				rnd.Read(bad[at:min(at+width, len(bad))])
				bad[at] = ^good[at]
				path := filepath.Join(t.TempDir(), "state.db")
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%d threads, %d bytes of the %s", n, width, what)
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				list, err := s.Threads(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				// A page of names holds 40, and a leaf of threads 3: those with checkpoints come back from them.
				if len(list) < n || what != "first leaf" && len(list) != n {
					t.Errorf("%s: %d threads are left: %v", name, len(list), s.Report())
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestFoldsWhenIdle lets no commit come for a while: from then on all of it lies in the database, and the log is empty.
func TestFoldsWhenIdle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	size := func(end string) int64 {
		info, err := os.Stat(path + end)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		k := newTalk(t, s, "a-0001")
		k.say("one", newProse().text(100_000))
		before := size("")
		if size("-wal") == 0 {
			t.Error("nothing lies in the log")
		}
		time.Sleep(sqlite.FoldIdle + time.Millisecond)
		synctest.Wait()
		if size("-wal") != 0 || size("") <= before {
			t.Errorf("after a pause the log has %d bytes, the database %d of %d", size("-wal"), size(""), before)
		}
		k.say("three", "four")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestFoldsAtTheStart kills a store: the next start folds what lies in the log.
func TestFoldsAtTheStart(t *testing.T) {
	k := killed(t, nil)
	path := k.files.lay(t)
	open(t, path)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("the log after the start: %v %v", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() <= int64(len(k.files[""])) {
		t.Errorf("the database after the start: %v %v", info, err)
	}
}

// TestFoldsAtASize writes without a pause: the log does not grow on and on.
func TestFoldsAtASize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	k, rnd := newTalk(t, s, "a-0001"), rand.New(rand.NewSource(1))
	most := int64(0)
	for range 150 {
		b := make([]byte, 100_000) // does not compress: 15 MB
		rnd.Read(b)
		k.say(fmt.Sprintf("%x", b))
		if info, err := os.Stat(path + "-wal"); err == nil {
			most = max(most, info.Size())
		}
	}
	if most > 10<<20 {
		t.Errorf("the log grew to %d bytes", most)
	}
}

// TestNewerBuild lets an older program meet a newer one's database, folded and in a log: it says so with both numbers,
// and changes no byte.
func TestNewerBuild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	newTalk(t, s, "a-0001").say("one", "two")
	outside(t, path, "PRAGMA user_version = 99") // the newest frame of its log
	for what, f := range map[string]files{"in the log": take(t, path), "folded": func() files {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return take(t, path)
	}()} {
		path := f.lay(t)
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil || !strings.Contains(err.Error(), "schema version 99, this program supports 4") ||
			!strings.Contains(err.Error(), "Upgrade orchestrator") {
			t.Errorf("%s: %v", what, err)
		}
		for end, b := range take(t, path) {
			if !bytes.Equal(b, f[end]) {
				t.Errorf("%s: %q changed", what, end)
			}
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != len(f) {
			t.Errorf("%s: %d files, want %d: %v", what, len(entries), len(f), err)
		}
	}
}

// TestOlderBuild brings databases of older schemas up to date: of the first, which has no mark, of the second, which has
// no prompts, and of the third, which does not say which threads are in use.
func TestOlderBuild(t *testing.T) {
	for version, statements := range map[int]string{
		1: "DROP TABLE in_use; DROP TABLE at_rest; DROP TABLE mark; DROP TABLE prompt;",
		2: "DROP TABLE in_use; DROP TABLE at_rest; DROP TABLE prompt;",
		3: "DROP TABLE in_use; DROP TABLE at_rest;",
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			s := open(t, path)
			k := newTalk(t, s, "a-0001")
			k.say("one", "two")
			rests := newTalk(t, s, "b-0001")
			if _, err := s.UpdateThread(t.Context(), rests.id, func(t *thread.Thread) error {
				t.Archived, t.Session = time.Unix(1e9, 0), "session"
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			outside(t, path, fmt.Sprintf("%s DELETE FROM goose_db_version WHERE version_id > %d; PRAGMA user_version = %[2]d",
				statements, version))
			if err := os.Remove(path + "-mark"); version == 1 && err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s := open(t, path)
				if version == 1 && s.Report() != nil {
					t.Errorf("an older database is reported: %s", s.Report())
				}
				if items, err := s.Conversation(t.Context(), k.head.ID); err != nil || len(items) != 2 {
					t.Errorf("%d items: %v", len(items), err)
				}
				for _, q := range []thread.Query{{Use: thread.AtRest}, {Session: "session"}} {
					if list, _, err := s.SelectThreads(t.Context(), q); err != nil || len(list) != 1 || list[0].ID != rests.id {
						t.Errorf("%+v: %v, %v", q, list, err)
					}
				}
				p := thread.Prompt{ID: thread.NewPromptID(), Thread: k.head.Thread, Text: "hello", State: thread.PromptQueued}
				if _, err := s.PutPrompt(t.Context(), p); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestReplacedDatabase puts another sound database in the place: it is used, and named.
func TestReplacedDatabase(t *testing.T) {
	k, other := killed(t, nil), killed(t, nil)
	f := other.files.with("-mark", k.files["-mark"])
	if r := other.start(t, f, "another database"); r.lost > 0 || r.report == nil ||
		!strings.Contains(r.report.Cause, "not the database that was used last") {
		t.Errorf("%+v", r)
	}
	if r := k.start(t, k.files.with("-mark", nil), "no mark"); r.lost > 0 || r.report == nil ||
		!strings.Contains(r.report.Cause, "mark") {
		t.Errorf("without its mark: %+v", r)
	}
}
