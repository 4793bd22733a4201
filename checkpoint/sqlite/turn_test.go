package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// turns opens a store and returns what takes the database's lock as another program would, and gives it back.
func turns(t *testing.T) (s *Store, hold, release func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := Open(t.Context(), path, Options{Lock: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := errors.Join(other.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	exec := func(query string) func() {
		return func() {
			if _, err := other.Exec(query); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, exec("BEGIN IMMEDIATE"), exec("ROLLBACK")
}

// TestBeginEndsWithItsContext waits for another program's lock for a caller that has gone: not for the hour that it may
// take. What others ask for is written once the lock is free, and what the caller asked for is not.
func TestBeginEndsWithItsContext(t *testing.T) {
	s, hold, release := turns(t)
	hold()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- s.SetSetting(ctx, "gone", "x") }()
	for len(s.turn) == 0 { // until it has the turn
		time.Sleep(time.Millisecond)
	}
	stays := make(chan error)
	go func() { stays <- s.SetSetting(t.Context(), "stays", "x") }()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	if err := <-stays; err != nil {
		t.Error(err)
	}
	for key, want := range map[string]string{"gone": "", "stays": "x"} {
		if got, err := s.Setting(t.Context(), key); got != want || err != nil {
			t.Errorf("%s is %q, want %q: %v", key, got, want, err)
		}
	}
}

// TestPanicLeavesTheStoreInOrder panics inside a transaction that another request shares: that one gets an error, and
// the next is written.
func TestPanicLeavesTheStoreInOrder(t *testing.T) {
	s, _, _ := turns(t)
	s.turn <- struct{}{}
	other := make(chan error)
	go func() { other <- s.SetSetting(t.Context(), "shares", "x") }()
	for !s.waiting() {
		time.Sleep(time.Millisecond)
	}
	var wait sync.WaitGroup
	panicked := 0
	wait.Go(func() {
		defer func() {
			if recover() != nil {
				panicked++
			}
		}()
		s.enqueue(&request{ctx: t.Context(), run: func(*tx) error { panic("change") }, done: make(chan error, 1)})
		s.writeBatch(t.Context())
	})
	wait.Wait()
	if err := <-other; !errors.Is(err, errPanic) || panicked != 1 {
		t.Errorf("the other request got %v; %d panics", err, panicked)
	}
	if err := s.SetSetting(t.Context(), "next", "x"); err != nil {
		t.Error(err)
	}
	if got, err := s.Setting(t.Context(), "shares"); got != "" || err != nil {
		t.Errorf("a part of the transaction is stored: %q %v", got, err)
	}
}

// TestManyAsk has more callers ask at once than share a commit, some of which give up: each of the others is answered.
func TestManyAsk(t *testing.T) {
	s, _, _ := turns(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.turn <- struct{}{} // so that all of them wait
	var wait sync.WaitGroup
	const n = 3 * batchLimit
	for i := range n {
		wait.Go(func() {
			if i%3 == 0 {
				_ = s.SetSetting(ctx, fmt.Sprint(i), "x") // its outcome is unknown
			} else if err := s.SetSetting(t.Context(), fmt.Sprint(i), "x"); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	cancel()
	<-s.turn
	wait.Wait()
	for i := range n {
		if got, err := s.Setting(t.Context(), fmt.Sprint(i)); i%3 != 0 && got != "x" || err != nil {
			t.Errorf("%d is %q: %v", i, got, err)
		}
	}
}
