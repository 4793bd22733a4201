package ledger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/ledger"
	"orchestrator/thread/work"
)

// errorLog has a line for each error.
func errorLog(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelError}))
}

// TestRefusedRow: a row that the store refuses for what it is delays no other, is given up after some tries with one line
// in the log and a note in the row of its process, and is not tried again after that.
func TestRefusedRow(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		once bool
	}{
		"final session": {thread.Kindf(thread.ErrRefused, "the work session is completed"), false},
		"damaged":       {fmt.Errorf("sub-001: %w", thread.ErrDamaged), false},
		"gone on":       {work.ErrFence, false},
		"unknown":       {errors.New("SQL logic error"), false},
		"invalid":       {thread.Kindf(thread.ErrInvalid, "odd"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file, log, s := filepath.Join(t.TempDir(), "waiting.json"), &bytes.Buffer{}, newStore()
				b := newLogging(t, s, file, "s", errorLog(log))
				b.begin(theProcess)
				b.side(thread.SubAgent{Key: "first"}, "p", "", "x")
				bad := b.natives()[0].ID
				s.mu.Lock()
				s.bad = map[work.ID]error{bad: c.err}
				s.mu.Unlock()
				b.side(thread.SubAgent{Key: "first"}, "", "more", "")
				synctest.Wait()
				for i := range 50 { // each of them at once
					b.side(thread.SubAgent{Key: fmt.Sprint("k", i)}, "p", "", "x")
					if got := len(b.natives()); got != i+2 {
						t.Fatalf("%d rows of %d are stored", got, i+2)
					}
				}
				time.Sleep(15 * time.Minute)
				synctest.Wait()
				if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), string(bad)) {
					t.Errorf("%d lines in the log:\n%s", n, log)
				}
				if notes := b.text(work.ID(theProcess), "note"); len(notes) != 1 || !strings.Contains(notes[0], "first") {
					t.Errorf("notes %q", notes)
				}
				if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the file is still there: %v", err)
				}
				s.mu.Lock()
				tries := s.tries
				s.mu.Unlock()
				b.side(thread.SubAgent{Key: "first"}, "", "and more", "")
				time.Sleep(time.Hour)
				synctest.Wait()
				if s.tries > tries+1 { // the row of the process
					t.Errorf("%d more tries", s.tries-tries)
				}
				b.close()
				b.wait.Wait()
			})
		})
	}
}

// TestRefusedForAWhile: a row that is refused for some minutes is stored with all its texts once it is taken, once.
func TestRefusedForAWhile(t *testing.T) {
	run(t, func(b *bench) {
		b.side(thread.SubAgent{Key: "k"}, "p", "", "x")
		x := b.natives()[0]
		b.store.mu.Lock()
		b.store.bad = map[work.ID]error{x.ID: errors.New("busy")}
		b.store.mu.Unlock()
		b.side(thread.SubAgent{Key: "k"}, "", "found", "")
		time.Sleep(4 * time.Minute)
		b.store.mu.Lock()
		b.store.bad = nil
		b.store.mu.Unlock()
		time.Sleep(time.Minute)
		if x = b.natives()[0]; x.State != work.Completed || !slices.Equal(b.text(x.ID, work.KindSaid), []string{"found"}) {
			t.Errorf("%+v says %q", x, b.text(x.ID, work.KindSaid))
		}
	})
}

// TestRefusedOverServers: a row that can never be stored is given up also if each server lives for a moment only.
func TestRefusedOverServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, s := filepath.Join(t.TempDir(), "waiting.json"), newStore()
		b := newBench(t, s, file, "0")
		b.begin(theProcess)
		synctest.Wait()
		s.bad = map[work.ID]error{"eeeeeeeeeeeeeeee": thread.ErrDamaged}
		b.begin("eeeeeeeeeeeeeeee")
		servers := 0
		for ; servers < 100; servers++ {
			time.Sleep(time.Second / 2)
			b.close()
			b.wait.Wait()
			if _, err := os.Stat(file); err != nil {
				break
			}
			b = newBench(t, s, file, fmt.Sprint(servers+1))
			b.l.Recover(nil)
		}
		if servers == 0 || servers > 25 {
			t.Errorf("%d servers had it", servers)
		}
	})
}

// TestOpenUnread: what earlier servers left open cannot be read because it is damaged: what comes is stored soon all the same.
func TestOpenUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		b := newBench(t, s, "", "s")
		s.unread = thread.ErrDamaged
		b.l.Recover(nil)
		b.begin(theProcess)
		time.Sleep(time.Minute)
		b.row()
		b.close()
		b.wait.Wait()
	})
}

// TestKeptFile: whatever stands in the place of the file with what waits, the server starts, and records what it may have
// written itself only.
func TestKeptFile(t *testing.T) {
	good := work.Execution{ID: "1111111111111111", Kind: work.KindNative, Thread: theThread, State: work.Running}
	run, negative, named, odd := good, good, good, good
	run.ID, run.Kind = "2222222222222222", work.KindRun
	negative.ID, negative.Usage.CostUSD = "3333333333333333", -1000
	named.ID, named.Name = "4444444444444444", "exec-001"
	odd.ID = "../../x"
	many := make([]work.Execution, 30_000)
	for i := range many {
		many[i] = good
		many[i].ID = work.ID(fmt.Sprintf("%016x", i))
	}
	list := func(rows ...work.Execution) func(string) error {
		return func(path string) error {
			var items []map[string]any
			for _, x := range rows {
				items = append(items, map[string]any{"row": x, "new": true, "said": "s"})
			}
			raw, err := json.Marshal(items)
			return errors.Join(err, os.WriteFile(path, raw, 0o600))
		}
	}
	text := func(s string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(s), 0o600) }
	}
	for name, c := range map[string]struct {
		put    func(string) error
		stored int
	}{
		"none":      {func(string) error { return nil }, 0},
		"empty":     {text(""), 0},
		"null":      {text("null"), 0},
		"garbage":   {text("\x00\xff{"), 0},
		"other":     {text(`{"row": 1}`), 0},
		"nulls":     {text(`[null, {}, {"note": true}]`), 0},
		"cut":       {text(`[{"row": {"id": "1111111111111111"`), 0},
		"tries":     {text(`[{"row": {"id": "1111111111111111", "kind": "native", "thread": "aaaaaaaaaaaaaaaa"}, "new": true, "tries": -9}]`), 0},
		"a pipe":    {func(path string) error { return syscall.Mkfifo(path, 0o600) }, 0},
		"a folder":  {func(path string) error { return os.Mkdir(path, 0o700) }, 0},
		"a link":    {func(path string) error { return os.Symlink("/dev/zero", path) }, 0},
		"too large": {func(path string) error { return errors.Join(text("[")(path), os.Truncate(path, 1<<40)) }, 0},
		"good":      {list(good), 1},
		"others'":   {list(run, negative, named, odd, good), 1},
		"twice":     {list(good, good), 1},
		"many":      {list(many...), 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file, s := filepath.Join(t.TempDir(), "waiting.json"), newStore()
				if err := c.put(file); err != nil {
					t.Fatal(err)
				}
				b := newBench(t, s, file, "s")
				b.l.Recover([]ledger.Left{})
				synctest.Wait()
				if len(s.rows) != c.stored {
					t.Errorf("%d rows, want %d", len(s.rows), c.stored)
				}
				for _, x := range s.rows {
					if x.Kind != work.KindNative || x.State != work.Lost {
						t.Errorf("%+v", x)
					}
				}
				b.begin(theProcess) // and it goes on
				if _, err := s.Execution(t.Context(), string(theProcess)); err != nil {
					t.Error(err)
				}
				b.close()
				b.wait.Wait()
			})
		})
	}
}
