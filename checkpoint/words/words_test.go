package words_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/checkpoint/words"
	"orchestrator/thread"
	"orchestrator/thread/secret/secrettest"
)

// world is a store with an index.
type world struct {
	t     *testing.T
	store *memory.Store
	dir   string
	after time.Duration // of the start, that the index is filled by itself
	index *words.Index
	heads map[thread.ID]thread.CheckpointID
	turns map[thread.ID]int
	// changes lists changed files, and snap is the number of the last snapshot.
	changes words.Changes
	snap    int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.New(), dir: t.TempDir(), heads: map[thread.ID]thread.CheckpointID{},
		turns: map[thread.ID]int{}}
	w.open()
	t.Cleanup(func() { _ = w.index.Close() }) // a test may have closed it
	return w
}

func (w *world) open() {
	w.t.Helper()
	w.index = words.Open(w.dir, w.store, w.changes, w.after)
}

func (w *world) thread(id thread.ID, name string) {
	w.t.Helper()
	if err := w.store.CreateThread(context.Background(), thread.Thread{
		ID: id, Name: name, Created: time.Unix(1, 0),
	}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) turn(id thread.ID, prompt, answer string) {
	w.t.Helper()
	w.turns[id]++
	c := thread.Checkpoint{
		ID: thread.CheckpointID(fmt.Sprintf("%s-%d", id, w.turns[id])), Thread: id, Parent: w.heads[id], Turn: w.turns[id],
		Kind: thread.KindTurn, Created: time.Unix(int64(w.turns[id]), 0), Prompt: prompt, Answer: answer,
	}
	if _, err := w.store.PutCheckpoint(context.Background(), c, thread.Delta{}); err != nil {
		w.t.Fatal(err)
	}
	w.heads[id] = c.ID
}

// find returns hits as "name/turn/where".
func (w *world) find(query string) []string {
	w.t.Helper()
	hits, err := w.index.Find(context.Background(), query, 10)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s/%d/%s", h.Name, h.Turn, h.Where))
	}
	return out
}

func (w *world) expect(query string, want ...string) {
	w.t.Helper()
	if got := w.find(query); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("find %q: got %v, want %v", query, got, want)
	}
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	w.thread("a", "auth-feature-a3f2")
	w.thread("b", "docs-f9a0")
	w.turn("a", "add a login page", "The Login page stands in `login.go`.")
	w.turn("b", "describe authentication", "It says how. Ärger über Größen.")
	w.turn("a", "now test it", "All tests pass")

	w.expect("auth", "auth-feature-a3f2/2/name", "docs-f9a0/1/prompt")
	w.expect("login page", "auth-feature-a3f2/1/answer", "auth-feature-a3f2/1/prompt")
	w.expect("tes", "auth-feature-a3f2/2/answer", "auth-feature-a3f2/2/prompt")
	w.expect("arger", "docs-f9a0/1/answer")
	w.expect("nothing of this")
	for _, odd := range []string{`"login`, `login" OR "x`, "login*", "text:login", "login -page", "NEAR/2 login",
		"'; DROP TABLE docs --"} {
		if _, err := w.index.Find(context.Background(), odd, 5); err != nil {
			t.Errorf("find %q: %v", odd, err)
		}
	}
	if _, err := w.index.Find(context.Background(), " -- ", 5); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("no words: %v", err)
	}
}

func TestFindForgets(t *testing.T) {
	w := newWorld(t)
	w.thread("a", "one-0001")
	w.turn("a", "unusual words", "")
	w.expect("unusual", "one-0001/1/prompt")
	_, err := w.store.UpdateThread(context.Background(), "a", func(t *thread.Thread) error {
		t.Deleted = time.Unix(5, 0)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.expect("unusual")
	if err := w.store.PurgeThread(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	w.expect("unusual")
}

func TestDamagedIndexIsMadeAnew(t *testing.T) {
	w := newWorld(t)
	w.thread("a", "one-0001")
	w.turn("a", "unusual words", "")
	w.expect("unusual", "one-0001/1/prompt")
	if err := w.index.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.expect("unusual", "one-0001/1/prompt")
	if err := w.index.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, "search.db")
	if err := os.WriteFile(file, []byte("no database at all, but long enough to be read as the header of one, or nearly so, it is hoped......"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.expect("unusual", "one-0001/1/prompt")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestFillsByItself: what was stored before is indexed though nobody searches, after a while and not at once.
func TestFillsByItself(t *testing.T) {
	w := newWorld(t)
	w.thread("a", "one-0001")
	w.turn("a", "unusual words", "")
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		source := &counting{Source: w.store}
		x := words.Open(dir, source, nil, time.Minute)
		time.Sleep(59 * time.Second) // of the bubble's clock
		synctest.Wait()
		if source.reads.Load() != 0 {
			t.Error("the start itself filled it")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := source.reads.Load(); n != 1 {
			t.Errorf("its one thread is read %d times", n)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
}

// counting is a source that counts how often checkpoints are read.
type counting struct {
	words.Source
	reads atomic.Int32
}

func (c *counting) Checkpoints(ctx context.Context, id thread.ID, p thread.Page) ([]thread.Checkpoint, error) {
	c.reads.Add(1)
	return c.Source.Checkpoints(ctx, id, p)
}

// TestManyThreads indexes more threads than are looked at at once: each is read once, also over a restart, and nothing stays
// of those that are purged.
func TestManyThreads(t *testing.T) {
	const many, gone = 600, 350
	w := newWorld(t)
	source := &counting{Source: w.store}
	if err := w.index.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		id := thread.ID(fmt.Sprintf("t%d", i))
		w.thread(id, fmt.Sprintf("thread-%04d", i))
		w.turn(id, fmt.Sprintf("ask %04d", i), "")
	}
	var x *words.Index
	search := func(query string, hits int, reads int32) {
		t.Helper()
		x = words.Open(w.dir, source, nil, time.Hour)
		for range 2 {
			found, err := x.Find(t.Context(), query, 0)
			if err != nil || len(found) != hits {
				t.Errorf("find %q: %d hits, %v", query, len(found), err)
			}
		}
		if n := source.reads.Swap(0); n != reads {
			t.Errorf("the threads were read %d times, not %d", n, reads)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	search("ask 0007", 1, many)
	search("ask 0599", 1, 0)
	for i := range gone {
		if err := w.store.PurgeThread(t.Context(), thread.ID(fmt.Sprintf("t%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	w.thread("new", "new-0000")
	w.turn("new", "ask 0007", "")
	search("ask 0007", 1, 1)
	db, err := sql.Open("sqlite3", filepath.Join(w.dir, "search.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"marks", "docs", "texts"} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n != many-gone+1 {
			t.Errorf("%d rows of %s: %v", n, table, err)
		}
	}
}

// TestSearchRightAfterTheStart finds all of what was stored before, though the index would be filled much later, and
// Close waits for nothing.
func TestSearchRightAfterTheStart(t *testing.T) {
	w := newWorld(t)
	w.after = time.Hour
	w.thread("a", "one-0001")
	w.turn("a", "unusual words", "")
	if err := errors.Join(w.index.Close(), os.RemoveAll(w.dir), os.Mkdir(w.dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.expect("unusual", "one-0001/1/prompt")
	if err := w.index.Close(); err != nil {
		t.Error(err)
	}
	w.open()
	begin := time.Now()
	if err := w.index.Close(); err != nil || time.Since(begin) > time.Minute {
		t.Errorf("closed after %v: %v", time.Since(begin), err)
	}
}

// TestFilesAreOurs: the files are made 0600 whatever the umask is, for the program's own is the person's by then.
func TestFilesAreOurs(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	w := newWorld(t)
	w.after = time.Hour
	w.thread("a", "one-0001")
	w.turn("a", "unusual words", "")
	w.expect("unusual", "one-0001/1/prompt")
	entries, err := os.ReadDir(w.dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// TestLinksAreNotFollowed puts links, pipes and folders in the place of the index: what a link leads to is not written,
// nothing waits, and the index is made again.
func TestLinksAreNotFollowed(t *testing.T) {
	w := newWorld(t)
	w.thread("a", "one-0001")
	w.turn("a", "unusual words", "")
	w.expect("unusual", "one-0001/1/prompt") // makes the file
	outside := filepath.Join(t.TempDir(), "outside")
	file := filepath.Join(w.dir, "search.db")
	for what, make := range map[string]func() error{
		"link":   func() error { return os.Symlink(outside, file) },
		"pipe":   func() error { return syscall.Mkfifo(file, 0o600) },
		"folder": func() error { return os.Mkdir(file, 0o700) },
	} {
		// RemoveAll: one that is closed before it was filled has no file.
		if err := errors.Join(w.index.Close(), os.RemoveAll(file), make()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		w.open()
		w.expect("unusual", "one-0001/1/prompt")
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("the file that a link led to was made")
	}
}

// BenchmarkFind searches 5,000 turns.
func BenchmarkFind(b *testing.B) {
	store := memory.New()
	if err := store.CreateThread(context.Background(), thread.Thread{ID: "a", Name: "long-0001"}); err != nil {
		b.Fatal(err)
	}
	var parent thread.CheckpointID
	for n := 1; n <= 5000; n++ {
		c := thread.Checkpoint{
			ID: thread.CheckpointID(fmt.Sprint(n)), Thread: "a", Parent: parent, Turn: n, Kind: thread.KindTurn,
			Prompt: fmt.Sprintf("change file%d in module%d so that it compiles", n, n%17),
			Answer: fmt.Sprintf("file%d compiles now, with %d tests", n, n%29),
		}
		if _, err := store.PutCheckpoint(context.Background(), c, thread.Delta{}); err != nil {
			b.Fatal(err)
		}
		parent = c.ID
	}
	x := words.Open(b.TempDir(), store, nil, 0)
	b.Cleanup(func() {
		if err := x.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := x.Update(context.Background()); err != nil {
		b.Fatal(err)
	}
	for _, query := range []string{"file4711", "compiles", "module3 tes", "c"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Find(context.Background(), query, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSecretsAreNotIndexed: what an older program stored with secrets in it is indexed without them.
func TestSecretsAreNotIndexed(t *testing.T) {
	w := newWorld(t)
	w.thread("a", "keys-0001")
	all := secrettest.All()
	for _, c := range all {
		w.turn("a", "please "+c.Text, "I use "+c.Text)
	}
	w.expect("redacted Anthropic", "keys-0001/2/answer", "keys-0001/2/prompt", "keys-0001/1/answer", "keys-0001/1/prompt")
	if err := w.index.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.In(string(b)) {
				t.Errorf("%s is in %s", c.Name, file)
			}
		}
	}
}
