package staging_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
)

// kib is data of so many KiB.
func kib(n int64) io.Reader { return io.LimitReader(repeated("0123456789\n"), n<<10) }

// put stages data of a thread.
func (s *shelf) put(id thread.ID, kb int64) (thread.Staged, error) {
	return s.Stage(s.Context(), thread.StageRequest{Thread: id}, kib(kb))
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, thread.ErrLimit) {
		t.Fatalf("not refused: %v", err)
	}
	for _, w := range append(words, "orchestrator unstage") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("it does not say %q: %v", w, err)
		}
	}
}

// TestSums: neither a thread nor all threads have more than their share, whatever it consists of; a quarter is left to
// the person; what is removed gives its room back, and what was there before a start counts.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	cfg := staging.Config{OfThread: 200 << 10, OfAll: 400 << 10} // threads: 300 KiB
	s := openWith(t, dir, cfg)
	first, err := s.put("a", 150)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.put("a", 100)
	refused(t, err, "the thread may have 200 KiB", "limits.stage_thread_mb")
	if n := len(s.files()); n != 2 {
		t.Errorf("what was refused left %v", s.files())
	}
	if _, err := s.put("b", 100); err != nil {
		t.Fatalf("another thread: %v", err)
	}
	_, err = s.put("c", 50)
	refused(t, err, "the threads of this project may have 300 KiB", "limits.stage_total_mb")
	mine, err := s.put("", 50)
	if err != nil {
		t.Fatalf("the person beside threads that use up their share: %v", err)
	}
	_, err = s.put("", 100)
	refused(t, err, "this project may have 400 KiB", "limits.stage_total_mb")

	again := openWith(t, dir, cfg)
	_, err = again.put("a", 100)
	refused(t, err, "the thread may have 200 KiB")
	_, err = again.put("", 100)
	refused(t, err, "this project may have 400 KiB")
	if err := errors.Join(again.Unstage(first.Token), again.Discard([]thread.Token{mine.Token})); err != nil {
		t.Fatal(err)
	}
	if _, err := again.put("a", 190); err != nil {
		t.Errorf("after some was removed: %v", err)
	}
	again.ahead = 2 * time.Hour
	again.sweep()
	if _, err := again.put("c", 190); err != nil {
		t.Errorf("after all has expired: %v", err)
	}
}

// TestSmallEntriesCount: an entry takes what its files take on the disk, and many small ones are as much as a large one.
func TestSmallEntriesCount(t *testing.T) {
	s := openWith(t, t.TempDir(), staging.Config{OfThread: 80 << 10})
	for n := range 10 {
		if _, err := s.Stage(t.Context(), thread.StageRequest{Thread: "a"}, strings.NewReader("x")); err != nil {
			t.Fatalf("entry %d: %v", n, err)
		}
	}
	_, err := s.Stage(t.Context(), thread.StageRequest{Thread: "a"}, strings.NewReader("x"))
	refused(t, err, "the thread may have 80 KiB")
	for n := range 10 {
		if _, err := s.Stage(t.Context(), thread.StageRequest{Thread: thread.ID(fmt.Sprint(n))}, strings.NewReader("x")); err != nil {
			t.Fatalf("thread %d: %v", n, err)
		}
	}
}

// TestSumsAtOnce: those that stage at the same time share the room, and what failed holds none of it.
func TestSumsAtOnce(t *testing.T) {
	s := openWith(t, t.TempDir(), staging.Config{OfThread: 1 << 20})
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 20 {
		all.Go(func() {
			if _, err := s.put("a", 200); err == nil {
				mu.Lock()
				taken++
				mu.Unlock()
			} else if !errors.Is(err, thread.ErrLimit) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if taken == 0 || taken > 5 {
		t.Fatalf("%d of 200 KiB were taken, of 1 MiB", taken)
	}
	broken := errors.New("broken")
	for range 20 {
		_, err := s.Stage(t.Context(), thread.StageRequest{Thread: "b", Size: 800 << 10}, failing{broken})
		if !errors.Is(err, broken) {
			t.Fatalf("data that cannot be read: %v", err)
		}
	}
	if _, err := s.put("b", 1000); err != nil {
		t.Errorf("after what failed: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// unread is data that must not be read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("data that is known to be too large was read")
	return 0, io.EOF
}

// TestHoles: what is nothing but zeros takes no room on the disk, counts in full, and comes back byte for byte.
func TestHoles(t *testing.T) {
	s := openWith(t, t.TempDir(), staging.Config{OfThread: 64 << 20})
	for _, end := range []string{"", "end\n"} {
		zeros := make([]byte, 8<<20)
		copy(zeros[3<<20:], "middle")
		want := string(zeros) + end
		d, err := s.Stage(t.Context(), thread.StageRequest{Thread: "a", Kind: thread.DataBinary}, strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != want {
			t.Errorf("%d bytes of %d came back: %v", len(got), len(want), err)
		}
		info, err := os.Stat(filepath.Join(s.dir, d.Token.Digits()+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		if on := info.Sys().(*syscall.Stat_t).Blocks * 512; on > 1<<20 {
			t.Errorf("8 MiB of zeros take %d bytes", on)
		}
	}
	_, err := s.Stage(t.Context(), thread.StageRequest{Thread: "a"}, io.LimitReader(repeated("\x00"), 49<<20))
	refused(t, err, "the thread may have 64 MiB")
	_, err = s.Stage(t.Context(), thread.StageRequest{Thread: "a", Size: 3 << 30}, unread{t})
	refused(t, err, "the thread may have 64 MiB")
}
