package postgres_test

import (
	"errors"
	"testing"
	"time"

	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/thread"
)

// TestFrozen stops all processes of a database. The first calls wait until it counts as away, all others fail at once,
// and it is back by itself when it goes on: also for what was being written.
func TestFrozen(t *testing.T) {
	var server pgtest.Server
	url := server.URL(t)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	const limit = time.Second
	s, err := postgres.Open(t.Context(), url, postgres.Options{Project: "p", Host: "h", Silence: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.CreateThread(t.Context(), thread.Thread{ID: "a", Name: "a-0001"}))
	put := func(id thread.CheckpointID) error {
		_, err := s.PutCheckpoint(t.Context(), thread.Checkpoint{ID: id, Thread: "a", Kind: thread.KindTurn, Turn: 1},
			thread.Delta{Items: []thread.Item{{Wire: "w", Raw: []byte(`"one"`)}}})
		return err
	}
	calls := map[string]func() error{
		"put":     func() error { return put("c1") },
		"threads": func() error { _, err := s.Threads(t.Context()); return err },
		"thread":  func() error { _, err := s.Thread(t.Context(), "a"); return err },
		"update": func() error {
			_, err := s.UpdateThread(t.Context(), "a", func(*thread.Thread) error { return nil })
			return err
		},
		"intents": func() error { _, err := s.Intents(t.Context()); return err },
		"find":    func() error { _, err := s.Checkpoints(t.Context(), "a", thread.Page{}); return err },
		"one":     func() error { _, err := s.Checkpoint(t.Context(), "c0"); return err },
	}
	must(put("c0"))
	server.Freeze(t, true)
	thawed := false
	defer func() {
		if !thawed {
			server.Freeze(t, false)
		}
	}()
	began := time.Now()
	failed := make(chan error, 20)
	for range 20 { // more than there are connections
		go func() { failed <- calls["threads"]() }()
	}
	for range 20 {
		if err := <-failed; !errors.Is(err, thread.ErrUnreachable) {
			t.Errorf("the first calls: %v", err)
		}
	}
	first := time.Since(began)
	if s.Away().IsZero() {
		t.Error("it is not away")
	}
	began = time.Now()
	for name, call := range calls {
		if err := call(); !errors.Is(err, thread.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rest := time.Since(began); rest > first {
		t.Errorf("%d further calls took %v, the first ones %v", len(calls), rest, first)
	}
	server.Freeze(t, false)
	thawed = true
	for !s.Away().IsZero() {
		time.Sleep(10 * time.Millisecond)
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("afterwards, %s: %v", name, err)
		}
	}
}
