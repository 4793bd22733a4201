package roster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

var now = time.Unix(1e9, 0).UTC()

func clock() time.Time { return now }

func folder(t testing.TB) *private.Folder {
	t.Helper()
	dir, err := private.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func open(t testing.TB, dir *private.Folder) *Roster {
	t.Helper()
	r, err := Open(dir, "threads")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sized is a store in memory that could say sizes.
type sized struct{ *memory.Store }

func (sized) ThreadSizes(context.Context) (map[thread.ID]int64, error) { return nil, nil }

// watched is a store with its list.
func watched(t *testing.T, dir *private.Folder) Watched {
	t.Helper()
	w, err := open(t, dir).Watch(sized{memory.New()}, nil, clock)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func put(t *testing.T, s thread.Store, id thread.ID, turn int, parent thread.CheckpointID) thread.CheckpointID {
	t.Helper()
	c, err := s.PutCheckpoint(t.Context(), thread.Checkpoint{ID: thread.CheckpointID(fmt.Sprint(id, "-", turn)),
		Thread: id, Parent: parent,
		Turn: turn, Kind: thread.KindTurn, Session: fmt.Sprint("session-", id), Created: now}, thread.Delta{})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// restore compares a store with the list in a folder.
func restore(t *testing.T, dir *private.Folder, s thread.Store) ([]Loss, error) {
	t.Helper()
	stored, err := s.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lost, changed, err := open(t, dir).Restore(t.Context(), s, stored)
	gone := func(l Loss) bool { return l.Gone }
	if changed != slices.ContainsFunc(lost, gone) {
		t.Errorf("changed the store: %v, lost %q", changed, lost)
	}
	return lost, err
}

func create(t *testing.T, s thread.Store, id thread.ID) {
	t.Helper()
	if err := s.CreateThread(t.Context(), thread.Thread{
		ID: id, Name: string(id) + "-0001", Agent: "claude", Dir: "/p", Created: now,
	}); err != nil {
		t.Fatal(err)
	}
}

// TestRestore loses a whole store, and the newest turn of another: what the list knows is listed again and named, what
// was purged is not.
func TestRestore(t *testing.T) {
	dir := folder(t)
	s := watched(t, dir)
	for _, id := range []thread.ID{"a", "b", "gone"} {
		create(t, s, id)
	}
	var head thread.CheckpointID
	for turn := range 3 {
		head = put(t, s, "a", turn+1, head)
	}
	if err := s.PurgeThread(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateThread(t.Context(), "b", func(t *thread.Thread) error {
		t.Name = "other-0001"
		return nil
	}); err != nil {
		t.Fatal(err)
	}

	if lost, err := restore(t, dir, s.Backend); err != nil || len(lost) != 0 {
		t.Errorf("nothing is lost, and %q is named: %v", lost, err)
	}
	empty := memory.New()
	lost, err := restore(t, dir, empty)
	if err != nil || len(lost) != 2 || !strings.Contains(lost[0].String(), "session-a") ||
		!strings.Contains(lost[0].String(), "3 turns") {
		t.Fatalf("%q, %v", lost, err)
	}
	a, err := empty.Thread(t.Context(), "a")
	if err != nil || a.Session != "session-a" || a.Turn != 3 || a.Head != "" || !a.Interrupted || a.Agent != "claude" {
		t.Errorf("listed again: %+v, %v", a, err)
	}
	if b, err := empty.Thread(t.Context(), "b"); err != nil || b.Name != "other-0001" || b.Interrupted {
		t.Errorf("listed again: %+v, %v", b, err)
	}

	older := memory.New()
	create(t, older, "a")
	create(t, older, "b")
	put(t, older, "a", 1, "")
	lost, err = restore(t, dir, older)
	if err != nil || len(lost) != 1 || !strings.Contains(lost[0].String(), "at turn 1 of 3 now") {
		t.Errorf("%q, %v", lost, err)
	}
}

// TestRestoreFork loses a fork that was not started yet: it begins at its fork point again.
func TestRestoreFork(t *testing.T) {
	dir := folder(t)
	s := watched(t, dir)
	create(t, s, "p")
	point := put(t, s, "p", 1, "")
	fork := thread.Thread{ID: "f", Name: "fork-0001", Agent: "claude", Parent: "p", ForkPoint: point, Head: point,
		Turn: 1, Created: now}
	if err := s.CreateThread(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	older := memory.New()
	create(t, older, "p")
	put(t, older, "p", 1, "")
	if lost, err := restore(t, dir, older); err != nil || len(lost) != 1 {
		t.Errorf("%q, %v", lost, err)
	}
	if f, err := older.Thread(t.Context(), "f"); err != nil || f.Head != point || f.Turn != 1 {
		t.Errorf("listed again: %+v, %v", f, err)
	}
}

// TestDamagedLines spoils the file: a line that does not match changes nothing, and the others are read.
func TestDamagedLines(t *testing.T) {
	dir := folder(t)
	s := watched(t, dir)
	for i := range 20 {
		create(t, s, thread.ID(fmt.Sprintf("t%02d", i)))
	}
	whole, err := dir.Read("threads", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(1))
	for range 100 {
		bad := bytes.Clone(whole)
		bad[rnd.Intn(len(bad))] ^= 1 << rnd.Intn(8)
		if err := os.WriteFile(dir.Path("threads"), bad[:len(bad)-rnd.Intn(3)], 0o600); err != nil {
			t.Fatal(err)
		}
		list, _ := open(t, dir).Threads()
		if len(list) < 17 {
			t.Fatalf("%d of 20 threads are left", len(list))
		}
		for _, th := range list {
			if th.Agent != "claude" || th.Name != string(th.ID)+"-0001" {
				t.Fatalf("a wrong one is read: %+v", th)
			}
		}
	}
}

// TestOneReading starts with threads that are listed as they are stored: the file is not written again. What differs in any
// way is written.
func TestOneReading(t *testing.T) {
	dir := folder(t)
	s := sized{memory.New()}
	start := func() Watched {
		t.Helper()
		stored, err := s.Threads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := open(t, dir)
		if lost, changed, err := r.Restore(t.Context(), s, stored); err != nil || changed || len(lost) > 0 {
			t.Fatalf("%q, %v, %v", lost, changed, err)
		}
		w, err := r.Watch(s, stored, clock)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	stat := func() os.FileInfo {
		t.Helper()
		info, err := os.Stat(dir.Path("threads"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	w := start()
	for i := range 20 {
		create(t, w, thread.ID(fmt.Sprintf("t%02d", i)))
	}
	put(t, w, "t03", 1, "")
	if err := w.list.Close(); err != nil {
		t.Fatal(err)
	}
	was := stat()
	start()
	if now := stat(); !os.SameFile(was, now) || now.Size() != was.Size() {
		t.Errorf("the list was written again: %d bytes, %d before", now.Size(), was.Size())
	}
	// The list lags: the store was written past it.
	if _, err := s.UpdateThread(t.Context(), "t07", func(t *thread.Thread) error {
		t.Label = "unlisted"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	was = stat()
	start()
	if os.SameFile(was, stat()) {
		t.Error("a list that lags was left as it is")
	}
	if list := open(t, dir).Select(func(t *thread.Thread) bool { return t.Label == "unlisted" }); len(list) != 1 {
		t.Errorf("listed as stored: %+v", list)
	}
}

// TestRewrites keeps the file small however often a thread changes.
func TestRewrites(t *testing.T) {
	dir := folder(t)
	s := watched(t, dir)
	create(t, s, "a")
	big := strings.Repeat("x", 100_000)
	for i := range 100 {
		if _, err := s.UpdateThread(t.Context(), "a", func(t *thread.Thread) error {
			t.Label = fmt.Sprint(big, i)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir.Path("threads")); err != nil || info.Size() > dead+1<<20 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if list, _ := open(t, dir).Threads(); len(list) != 1 || list[0].Label != fmt.Sprint(big, 99) {
		t.Errorf("%d threads", len(list))
	}
}

// FuzzLines reads any file: no panic, and what is read reads the same after it was written again.
func FuzzLines(f *testing.F) {
	line, err := encode(entry{At: now, Thread: &thread.Thread{ID: "a", Name: "a-0001"}})
	if err != nil {
		f.Fatal(err)
	}
	gone, err := encode(entry{At: now, Gone: "a"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(append(line, gone...))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &Roster{threads: map[thread.ID]*thread.Thread{}}
		for l := range bytes.SplitSeq(b, []byte("\n")) {
			r.take(l)
		}
		again := &Roster{threads: map[thread.ID]*thread.Thread{}}
		for _, one := range r.all() {
			l, err := encode(entry{Thread: one})
			if err != nil {
				t.Fatal(err)
			}
			again.take(bytes.TrimSuffix(l, []byte("\n")))
		}
		if len(again.threads) != len(r.threads) {
			t.Errorf("%d threads, read again %d", len(r.threads), len(again.threads))
		}
	})
}
