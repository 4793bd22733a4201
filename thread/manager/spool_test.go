package manager_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/spool"
)

var errNoRoom = errors.New("no space left on device")

// spooling gives the manager a real spool.
func spooling(w *world) {
	folder, err := private.Make(w.dir, "spool")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { folder.Close() })
	w.cfg.Spool = spool.Open(folder, nil)
}

// told returns the conversation of a thread's head as it is stored.
func (w *world) told(id thread.ID) string {
	w.t.Helper()
	items, err := w.store.Conversation(context.Background(), w.status(id).Head)
	if err != nil {
		w.t.Fatal(err)
	}
	return texts(items)
}

// spooled returns the names in the spool.
func (w *world) spooled() string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, "spool"))
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

const toldInAll = "one|call|result|answer to one|two|call|result|answer to two|three|call|result|answer to three"

func TestRefusedAnswersSurvive(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"a kill": func(w *world) { w.crash() },
		"a stop": func(w *world) {
			if err := w.m.Close(context.Background()); err != nil {
				w.t.Errorf("Close: %v", err)
			}
			if kept, unsaved := w.m.Threads.Refused(); kept == 0 || unsaved != 0 {
				w.t.Errorf("%d kept, %d unsaved", kept, unsaved)
			}
			w.stop()
			w.store.fail(nil)
			w.sess.forget()
			w.open()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				w.turn(s.ID, "one")
				w.store.fail(errNoRoom)
				w.turn(s.ID, "two")
				w.turn(s.ID, "three")
				end(w)
				if got := w.told(s.ID); got != toldInAll {
					t.Errorf("stored is %s", got)
				}
				if got := w.status(s.ID); got.Turn != 3 {
					t.Errorf("turn %d", got.Turn)
				}
				if left := w.spooled(); left != "" {
					t.Errorf("the spool still holds %s", left)
				}
			}, spooling)
		})
	}
}

func TestRefusedAtTheNextStartToo(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.store.fail(errNoRoom)
		w.turn(s.ID, "two")
		w.store.keepRefusing()
		w.crash()
		if kept, unsaved := w.m.Threads.Refused(); kept == 0 || unsaved != 0 {
			t.Errorf("%d kept, %d unsaved after the start", kept, unsaved)
		}
		if _, err := w.m.Agents.Start(context.Background(), string(s.ID), 0, 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.turn(s.ID, "three")
		w.store.fail(nil)
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if got := w.told(s.ID); got != toldInAll {
			t.Errorf("stored is %s", got)
		}
		if left := w.spooled(); left != "" {
			t.Errorf("the spool still holds %s", left)
		}
	}, spooling)
}

// brokenSpool keeps nothing.
type brokenSpool struct{ thread.Spool }

func (brokenSpool) Append(thread.Checkpoint, thread.Delta) (int64, error) { return 0, errNoRoom }
func (brokenSpool) Kept() (map[thread.ID]thread.Spooled, error)           { return nil, nil }

func TestUnsavedAnswersAreCounted(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.store.fail(errNoRoom)
		w.turn(s.ID, "one")
		if kept, unsaved := w.m.Threads.Refused(); kept != 0 || unsaved == 0 {
			t.Errorf("%d kept, %d unsaved", kept, unsaved)
		}
		if err := w.m.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "could not be saved") {
			t.Errorf("Close: %v", err)
		}
	}, func(w *world) { w.cfg.Spool = brokenSpool{} })
}

func TestADamagedSpoolIsNamedAndKept(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.store.fail(errNoRoom)
		w.turn(s.ID, "two")
		w.turn(s.ID, "three")
		file := filepath.Join(w.dir, "spool", string(s.ID)+".spool")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[strings.LastIndex(string(b), "three")] ^= 1
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		w.crash()
		if got := w.told(s.ID); !strings.HasPrefix(got, "one|call|result|answer to one|two|call|result|answer to two") {
			t.Errorf("stored is %s", got)
		}
		if left := w.spooled(); !strings.Contains(left, "damaged") {
			t.Errorf("the spool holds %q", left)
		}
		if !strings.Contains(w.events.notices(), "can be read") {
			t.Errorf("people were told %q", w.events.notices())
		}
	}, spooling)
}
