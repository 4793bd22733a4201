package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// TestRoomOnAFullDisk fills the disk: answers go into the room that was kept for them, a new thread is refused, and the
// room is kept again once there is space.
func TestRoomOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m,mode=0700"); err != nil {
		t.Skipf("SKIPPED: it needs a small file system of its own, and mounting one is not allowed (%v); as root `go test -run %s ./checkpoint/sqlite` runs it", err, t.Name())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), filepath.Join(dir, "state.db"), sqlite.Options{Room: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		k, rnd := newTalk(t, s, "a-0001"), rand.New(rand.NewSource(1))
		say := func() error {
			raw := make([]byte, 20_000)
			rnd.Read(raw)
			c, d := k.next("prompt", "answer")
			d.Items[1].Raw = raw
			c, err := s.PutCheckpoint(t.Context(), c, d)
			if err == nil {
				k.head = c
			}
			return err
		}
		if err := say(); err != nil {
			t.Fatal(err)
		}
		free := fillDisk(t, dir)
		for i := 0; err == nil && i < 1000; i++ {
			id := thread.ID(fmt.Sprintf("t-%04d", i))
			err = s.CreateThread(t.Context(), thread.Thread{ID: id, Name: string(id)})
		}
		if !errors.Is(err, thread.ErrDiskFull) || s.Short() {
			t.Errorf("threads took the room that is kept for answers (%v): %v", s.Short(), err)
		}
		refused := false
		stored := 0
		for err = nil; err == nil && stored < 1000; stored++ {
			err = say()
			if err == nil && stored > 10 && !s.Short() {
				t.Fatal("the disk is not full")
			}
			if err == nil && s.Short() && !refused { // there is room, which answers need
				early := thread.Thread{ID: "early", Name: "early-0001"}
				if err := s.CreateThread(t.Context(), early); !errors.Is(err, thread.ErrDiskFull) {
					t.Errorf("a new thread in the room that is kept for answers: %v", err)
				}
				rewind, delta := k.next("", "")
				rewind.Kind, delta.Items = thread.KindRewind, nil
				for what, other := range map[string]func() error{
					"a change": func() error {
						_, err := s.UpdateThread(t.Context(), k.id, func(th *thread.Thread) error { th.Pinned = true; return nil })
						return err
					},
					"a setting": func() error { return s.SetSetting(t.Context(), "offers", "never") },
					"an intent": func() error { return s.PutIntent(t.Context(), thread.Intent{ID: "i", Kind: "merge"}) },
					"a rewind":  func() error { _, err := s.PutCheckpoint(t.Context(), rewind, delta); return err },
				} {
					if err := other(); !errors.Is(err, thread.ErrDiskFull) {
						t.Errorf("%s in the room that is kept for answers: %v", what, err)
					}
				}
				refused = true
			}
		}
		if !errors.Is(err, thread.ErrDiskFull) || stored < 40 {
			t.Errorf("%d answers were stored on a full disk, then %v", stored, err)
		}
		if err := s.CreateThread(t.Context(), thread.Thread{
			ID: "new", Name: "new-0001",
		}); !errors.Is(err, thread.ErrDiskFull) {
			t.Errorf("a new thread on a full disk: %v", err)
		}
		if items, err := s.Conversation(t.Context(), k.head.ID); err != nil || len(items) != 2*(stored) {
			t.Errorf("%d items of %d answers: %v", len(items), stored, err)
		}
		free()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s.Short() {
			t.Error("the room is not kept again")
		}
		if err := errors.Join(say(), s.CreateThread(t.Context(), thread.Thread{ID: "new", Name: "new-0001"}), s.Close()); err != nil {
			t.Error(err)
		}
	})
}

// fillDisk leaves no room.
func fillDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	}
}
