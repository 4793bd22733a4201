package roster

import (
	"fmt"
	"os"
	"testing"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// ended makes a list of a store of 20 threads that ends at commit "c1".
func ended(t *testing.T) (*private.Folder, sized) {
	t.Helper()
	dir, s := folder(t), sized{memory.New()}
	w, err := open(t, dir).Watch(s, nil, clock)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		create(t, w, thread.ID(fmt.Sprintf("t%02d", i)))
	}
	if err := w.list.End("c1", now); err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// TestResume goes on with a list that nobody reads: what is put, dropped and advanced then is in the file beside the
// others.
func TestResume(t *testing.T) {
	dir, s := ended(t)
	if Resume(dir, "threads", "c2") != nil || Resume(dir, "threads", "") != nil || Resume(dir, "other", "c1") != nil {
		t.Error("a list of another commit is taken")
	}
	r := Resume(dir, "threads", "c1")
	if r == nil {
		t.Fatal("the list is not taken")
	}
	w := r.Follow(s, clock)
	create(t, w, "new")
	put(t, w, "t03", 1, "")
	put(t, w, "t03", 2, "t03-1")
	if err := w.PurgeThread(t.Context(), "t05"); err != nil {
		t.Fatal(err)
	}
	if n := len(r.threads); n != 2 || !r.partial {
		t.Errorf("%d threads are in memory", n)
	}
	if Resume(dir, "threads", "c1") != nil {
		t.Error("a list that goes on is taken for one that ended")
	}
	check := func(r *Roster) {
		t.Helper()
		stored, err := s.Threads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != len(stored) || len(stored) != 20 {
			t.Errorf("%d threads are listed, %d stored", r.Len(), len(stored))
		}
		for i := range stored {
			if got, ok := r.Thread(stored[i].ID); !ok || !same(&got, &stored[i]) {
				t.Errorf("listed is %+v, stored %+v", got, stored[i])
			}
		}
	}
	check(open(t, dir))
	check(r)
	if err := r.End("c2", now); err != nil {
		t.Fatal(err)
	}
	if r = Resume(dir, "threads", "c2"); r == nil {
		t.Fatal("the list is not taken again")
	}
	was, err := os.Stat(dir.Path("threads"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.End("c2", now); err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(dir.Path("threads")); err != nil || is.Size() != was.Size() {
		t.Errorf("a list to which nothing happened was written: %v", err)
	}
	r = Resume(dir, "threads", "c2")
	r.written = dead + 1 // it is time to write it as a whole
	w = r.Follow(s, clock)
	if _, err := w.UpdateThread(t.Context(), "t07", func(t *thread.Thread) error { t.Label = "changed"; return nil }); err != nil {
		t.Fatal(err)
	}
	r.written = dead + 1
	if err := w.PurgeThread(t.Context(), "t08"); err != nil {
		t.Fatal(err)
	}
	create(t, w, "t20")
	if len(r.threads) > 1 || !r.partial {
		t.Errorf("%d threads stay in memory", len(r.threads))
	}
	check(open(t, dir))
}

// TestResumeDamaged spoils the end of a list: it is not taken.
func TestResumeDamaged(t *testing.T) {
	dir, _ := ended(t)
	whole, err := dir.Read("threads", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		if n == 0 {
			continue
		}
		if err := os.WriteFile(dir.Path("threads"), whole[:len(whole)-n], 0o600); err != nil {
			t.Fatal(err)
		}
		if Resume(dir, "threads", "c1") != nil {
			t.Errorf("%d bytes are missing, and it is taken", n)
		}
	}
	if err := os.WriteFile(dir.Path("threads"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if Resume(dir, "threads", "c1") != nil {
		t.Error("an empty list is taken")
	}
}

// TestEndOfFailed marks no list as whole when something could not be written.
func TestEndOfFailed(t *testing.T) {
	dir, s := ended(t)
	r := Resume(dir, "threads", "c1")
	w := r.Follow(s, clock)
	create(t, w, "new")
	if err := r.file.Close(); err != nil { // the next line goes nowhere
		t.Fatal(err)
	}
	create(t, w, "newer")
	_ = r.End("c2", now) // the file is closed
	if Resume(dir, "threads", "c2") != nil {
		t.Error("a list with a gap is taken")
	}
}
