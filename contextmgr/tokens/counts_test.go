package tokens_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/contextmgr/tokens"
	"orchestrator/thread/private"
)

var quiet = slog.New(slog.DiscardHandler)

func folder(t testing.TB) *private.Folder {
	t.Helper()
	f, err := private.Make(t.TempDir(), "tokens")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func sum(text string) [32]byte { return sha256.Sum256([]byte(text)) }

func closed(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// loaded is the counter with its ranks.
func loaded(t testing.TB) *tokens.Counter {
	t.Helper()
	if err := counter.Load(tokens.Default); err != nil {
		t.Fatal(err)
	}
	return counter
}

// TestCountedInTheBackground: a text is not known at its first request, and is at the next, also after a restart.
func TestCountedInTheBackground(t *testing.T) {
	loaded(t)
	f := folder(t)
	texts := []string{"", "Hello, world!", strings.Repeat("some words of a file\n", 5_000), "\xff broken", "日本語"}
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenCounts(f, counter, quiet)
		for _, text := range texts {
			if n, ok := c.Known(tokens.Default, sum(text)); ok {
				t.Errorf("%.20q has %d tokens already", text, n)
			}
			c.Queue(tokens.Default, sum(text), text)
		}
		for range 2 {
			synctest.Wait()
			for _, text := range texts {
				if n, ok := c.Known(tokens.Default, sum(text)); !ok || n != int64(counter.Count(text)) {
					t.Errorf("%.20q has %d tokens (%v), want %d", text, n, ok, counter.Count(text))
				}
			}
			closed(t, c)
			closed(t, c)
			c.Queue(tokens.Default, sum("late"), "late")
			c = tokens.OpenCounts(f, counter, quiet)
		}
		synctest.Wait()
		if _, ok := c.Known(tokens.Default, sum("late")); ok {
			t.Error("counted after Close")
		}
		closed(t, c)
	})
}

// TestQueueIsBounded: what does not fit is left out, and taken at the next request.
func TestQueueIsBounded(t *testing.T) {
	loaded(t)
	f := folder(t)
	text := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000)) }
	room := int64(3 * (len(text(0)) + tokens.JobSize))
	huge := strings.Repeat("x", int(room))
	synctest.Test(t, func(t *testing.T) {
		slow, release := tokens.Blocked(counter)
		c := tokens.OpenSmallCounts(f, slow, quiet, 100, room)
		request := func() (known int) {
			c.Queue(tokens.Default, sum(huge), huge)
			for i := range 5 {
				if _, ok := c.Known(tokens.Default, sum(text(i))); ok {
					known++
				}
				c.Queue(tokens.Default, sum(text(i)), text(i))
			}
			return known
		}
		for range 3 {
			if n := request(); n != 0 {
				t.Errorf("%d texts are known, before any was counted", n)
			}
		}
		if n, size := c.Queued(); n != 3 || size != room {
			t.Errorf("%d texts of %d bytes are queued, for which there is room for %d", n, size, room)
		}
		release()
		for _, want := range []int{3, 5} {
			synctest.Wait()
			if n := request(); n != want {
				t.Errorf("%d texts are known, want %d", n, want)
			}
		}
		synctest.Wait()
		if _, ok := c.Known(tokens.Default, sum(huge)); ok {
			t.Error("a text for which there is no room was counted")
		}
		closed(t, c)
	})
}

// TestQueueHoldsATextOnce, and none after Close.
func TestQueueHoldsATextOnce(t *testing.T) {
	slow, release := tokens.Blocked(loaded(t))
	c := tokens.OpenCounts(folder(t), slow, quiet)
	for range 3 {
		c.Queue(tokens.Default, sum("a text"), "a text")
		if n, size := c.Queued(); n != 1 || size != 6+tokens.JobSize {
			t.Errorf("%d texts, %d bytes", n, size)
		}
	}
	release()
	closed(t, c)
	before, _ := c.Queued()
	c.Queue(tokens.Default, sum("late"), "late")
	if n, _ := c.Queued(); n != before {
		t.Error("queued after Close")
	}
}

// TestQueueFreesItsRoom: what was counted takes none.
func TestQueueFreesItsRoom(t *testing.T) {
	loaded(t)
	f := folder(t)
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenCounts(f, counter, quiet)
		for i := range 100 {
			text := fmt.Sprint("text ", i)
			c.Queue(tokens.Default, sum(text), text)
			c.Queue(tokens.Default, sum(text), text)
		}
		synctest.Wait()
		if n, size := c.Queued(); n != 0 || size != 0 {
			t.Errorf("%d texts of %d bytes are still queued", n, size)
		}
		closed(t, c)
	})
}

// TestCloseDoesNotCountOn: what Close interrupts is not known, rather than known in part.
func TestCloseDoesNotCountOn(t *testing.T) {
	f := folder(t)
	slow, release := tokens.Blocked(loaded(t))
	c := tokens.OpenCounts(f, slow, quiet)
	long := strings.Repeat("word ", tokens.PartSize)
	c.Queue(tokens.Default, sum(long), long)
	c.Queue(tokens.Default, sum("next"), "next")
	for c.Waiting() > 1 { // the first is not being counted yet
		runtime.Gosched()
	}
	done := make(chan error)
	go func() { done <- c.Close() }()
	<-c.Stopping()
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{long, "next"} {
		if n, ok := c.Known(tokens.Default, sum(text)); ok {
			t.Errorf("%.20q has %d tokens", text, n)
		}
	}
}

// TestLongTexts are counted in parts, which changes little.
func TestLongTexts(t *testing.T) {
	loaded(t)
	f := folder(t)
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenCounts(f, counter, quiet)
		for _, unit := range []string{"some words of a line\n", "word ", "日本語", "=", "a\u0301b"} {
			text := strings.Repeat(unit, 5*tokens.PartSize/len(unit)/2+7)
			c.Queue(tokens.Default, sum(text), text)
			synctest.Wait()
			got, ok := c.Known(tokens.Default, sum(text))
			if want := int64(counter.Count(text)); !ok || got < want-4 || got > want+4 {
				t.Errorf("%q: %d tokens (%v), want %d", unit, got, ok, want)
			}
		}
		closed(t, c)
	})
}

// TestStoresNowAndThen: a server that is killed loses no more than some minutes of counting.
func TestStoresNowAndThen(t *testing.T) {
	loaded(t)
	f := folder(t)
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenCounts(f, counter, quiet)
		for i := range 3 {
			text := fmt.Sprint("text ", i)
			c.Queue(tokens.Default, sum(text), text)
			synctest.Wait()
			time.Sleep(tokens.KeepEvery) // of the test's clock
			synctest.Wait()
			other := tokens.OpenCounts(f, counter, quiet)
			synctest.Wait()
			if _, ok := other.Known(tokens.Default, sum(text)); !ok {
				t.Errorf("%q is not stored", text)
			}
			closed(t, other)
		}
		before, err := os.Stat(f.Path("counts"))
		if err != nil || before.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", before, err)
		}
		time.Sleep(3 * tokens.KeepEvery)
		closed(t, c)
		if after, err := os.Stat(f.Path("counts")); err != nil || !os.SameFile(before, after) {
			t.Errorf("written again although nothing has changed: %v", err)
		}
	})
}

// TestBadCountsFile: a file that cannot be read is as good as none.
func TestBadCountsFile(t *testing.T) {
	loaded(t)
	for name, tc := range map[string]struct {
		put    func(path string) error
		stores bool
	}{
		"missing": {func(string) error { return nil }, true},
		"empty":   {func(path string) error { return os.WriteFile(path, nil, 0o600) }, true},
		"text":    {func(path string) error { return os.WriteFile(path, []byte("hello"), 0o600) }, true},
		"too large": {func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("x"), 9<<20), 0o600)
		}, true},
		"folder": {func(path string) error { return os.Mkdir(path, 0o700) }, false},
		"link":   {func(path string) error { return os.Symlink("/dev/zero", path) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			if err := tc.put(f.Path("counts")); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				c := tokens.OpenCounts(f, counter, quiet)
				c.Queue(tokens.Default, sum("a text"), "a text")
				synctest.Wait()
				if n, ok := c.Known(tokens.Default, sum("a text")); !ok || n != 2 {
					t.Errorf("%d tokens, %v", n, ok)
				}
				if err := c.Close(); (err == nil) != tc.stores {
					t.Errorf("closed with %v", err)
				}
				c = tokens.OpenCounts(f, counter, quiet)
				synctest.Wait()
				if _, ok := c.Known(tokens.Default, sum("a text")); ok != tc.stores {
					t.Errorf("stored: %v", ok)
				}
				closed(t, c)
			})
		})
	}
}

// TestCannotStore: when the state is taken away, or its disk is full, counting goes on, and Close says it.
func TestCannotStore(t *testing.T) {
	loaded(t)
	f := folder(t)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := tokens.OpenCounts(f, counter, slog.New(slog.NewTextHandler(&log, nil)))
		synctest.Wait()
		if err := os.RemoveAll(f.Path()); err != nil {
			t.Fatal(err)
		}
		c.Queue(tokens.Default, sum("a text"), "a text")
		synctest.Wait()
		time.Sleep(10 * tokens.KeepEvery)
		synctest.Wait()
		if n := strings.Count(log.String(), "store token counts"); n != 1 && n != 2 { // one line may say it twice
			t.Errorf("the log says it %d times:\n%s", n, &log)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines in the log:\n%s", n, &log)
		}
		if _, ok := c.Known(tokens.Default, sum("a text")); !ok {
			t.Error("not counted")
		}
		if err := c.Close(); err == nil {
			t.Error("closed without an error")
		}
	})
	if _, err := os.Stat(f.Path()); !os.IsNotExist(err) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
}

// TestFewCounts keeps no more than the limit in the file, and there too those that were used last.
func TestFewCounts(t *testing.T) {
	loaded(t)
	f := folder(t)
	const limit = 20
	text := func(i int) string { return fmt.Sprint("text ", i) }
	known := func(c *tokens.Counts, n int) (all []int) {
		for i := range n {
			if _, ok := c.Known(tokens.Default, sum(text(i))); ok {
				all = append(all, i)
			}
		}
		return all
	}
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenSmallCounts(f, counter, quiet, limit, 1<<20)
		for i := range 100 {
			c.Queue(tokens.Default, sum(text(i)), text(i))
			synctest.Wait()
			if _, ok := c.Known(tokens.Default, sum(text(0))); !ok { // it is used with every request
				t.Fatalf("given up after %d others", i)
			}
		}
		closed(t, c)
		c = tokens.OpenSmallCounts(f, counter, quiet, limit, 1<<20)
		synctest.Wait()
		all := known(c, 100)
		if len(all) > limit || len(all) < limit/2 || all[0] != 0 || all[len(all)-1] != 99 {
			t.Errorf("of 100, with room for %d, these are known: %v", limit, all)
		}
		closed(t, c)
		c = tokens.OpenSmallCounts(f, counter, quiet, 4, 1<<20) // a smaller limit takes what is newest
		synctest.Wait()
		if all := known(c, 100); len(all) > 4 || len(all) == 0 {
			t.Errorf("with room for 4, these are known: %v", all)
		}
		closed(t, c)
	})
}

func TestEstimateLearns(t *testing.T) {
	loaded(t)
	f := folder(t)
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenCounts(f, counter, quiet)
		if n := c.Estimate(3500); n != 1000 {
			t.Errorf("%d tokens in 3500 bytes", n)
		}
		for i := range 20 {
			text := fmt.Sprint(i, strings.Repeat(" 1,2;3", 2_000)) // two bytes for a token
			c.Queue(tokens.Default, sum(text), text)
		}
		synctest.Wait()
		learned := c.Estimate(3500)
		if learned < 2000 {
			t.Errorf("%d tokens in 3500 bytes", learned)
		}
		closed(t, c)
		c = tokens.OpenCounts(f, counter, quiet)
		synctest.Wait()
		if n := c.Estimate(3500); n != learned {
			t.Errorf("%d tokens after a restart, %d before", n, learned)
		}
		closed(t, c)
	})
}

// TestManyAsk: requests of many threads at once, and a Close among them.
func TestManyAsk(t *testing.T) {
	c := tokens.OpenSmallCounts(folder(t), loaded(t), quiet, 200, 4<<10)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				text := fmt.Sprintf("text %d", (i*g)%300)
				if n, ok := c.Known(tokens.Default, sum(text)); ok && n != int64(counter.Count(text)) {
					t.Errorf("%q has %d tokens", text, n)
				}
				c.Queue(tokens.Default, sum(text), text)
				if _, size := c.Queued(); size > 4<<10 {
					t.Errorf("%d bytes are queued", size)
				}
				if c.Estimate(100) < 10 {
					t.Error("no estimate")
				}
				if g == 7 && i == 400 {
					closed(t, c)
				}
			}
		})
	}
	all.Wait()
	closed(t, c)
}

func BenchmarkKnown(b *testing.B) {
	c := tokens.OpenCounts(folder(b), loaded(b), quiet)
	defer closed(b, c)
	s := sum("a text")
	c.Queue(tokens.Default, s, "a text")
	for b.Loop() {
		c.Known(tokens.Default, s)
	}
}
