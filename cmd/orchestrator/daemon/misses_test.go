package daemon

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/manager"
	"orchestrator/thread/private"
	"orchestrator/thread/record"
)

// guessing is a limit of misses with a clock that stands still and pauses that are noted.
func guessing() (m *misses, at *time.Time, paused *[]time.Duration) {
	m, at, paused = newMisses(), new(time.Time), new([]time.Duration)
	*at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return *at }
	var mu sync.Mutex
	m.pause = func(_ context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		*paused = append(*paused, d)
		return nil
	}
	return m, at, paused
}

// TestGuesses: an agent that guesses is slowed and then refused, also if it asks all at once, whether there is something
// or not, for an hour; other agents and the person are neither.
func TestGuesses(t *testing.T) {
	agent := func(id thread.ID) grant.Caller { return grant.Caller{Agent: true, Thread: id} }
	nothing := func() error { return thread.ErrNotFound }
	there := func() error { return nil }
	try := func(m *misses, c grant.Caller, find func() error) error { return m.look(t.Context(), c, find) }

	m, at, paused := guessing()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { _ = try(m, agent("a"), nothing) })
	}
	all.Wait()
	if n := len(*paused); n != missesMost-missesFree {
		t.Errorf("%d guesses were slowed", n)
	}
	for _, d := range *paused {
		if d < missPause || d > missLongest {
			t.Errorf("a pause of %s", d)
		}
	}
	for name, find := range map[string]func() error{"a miss": nothing, "a hit": there} {
		if err := try(m, agent("a"), find); !errors.Is(err, thread.ErrLimit) {
			t.Errorf("%s after too many: %v", name, err)
		}
	}
	for name, c := range map[string]grant.Caller{"another agent": agent("b"), "an agent of no thread": agent(""), "the person": {}} {
		if err := try(m, c, there); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 1000 {
		if err := try(m, grant.Caller{}, nothing); !errors.Is(err, thread.ErrNotFound) {
			t.Fatalf("the person: %v", err)
		}
	}
	*at = at.Add(missesFor)
	if err := try(m, agent("a"), there); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	if len(m.by) != 0 {
		t.Errorf("%d agents are remembered", len(m.by))
	}

	m, _, paused = guessing()
	for range 1000 { // what is right costs nothing, between misses too
		if err := try(m, agent("a"), there); err != nil {
			t.Fatal(err)
		}
	}
	for range missesFree {
		_ = try(m, agent("a"), nothing)
	}
	if len(*paused) != 0 {
		t.Errorf("slowed without need: %v", *paused)
	}
}

// TestGuessesThroughTheSocket: an agent that guesses tokens is refused what it guesses, and still gets its own.
func TestGuessesThroughTheSocket(t *testing.T) {
	folder, err := private.Make(t.TempDir(), "staging")
	if err != nil {
		t.Fatal(err)
	}
	store := staging.New(folder, staging.Config{})
	t.Cleanup(func() { _ = store.Close() })
	stage := func(id thread.ID) thread.Staged {
		d, err := store.Stage(t.Context(), thread.StageRequest{Thread: id}, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	own, foreign := stage("a"), stage("b")
	info := func(c Callers, tokens ...thread.Token) (err error) {
		s := New(Config{Manager: new(manager.Manager), Callers: c, Transfer: struct{ Transfer }{}, Record: record.New(record.Config{}), Staging: store,
			Log: slog.New(slog.DiscardHandler)})
		s.status = func(_ context.Context, name string) (thread.Status, error) {
			return thread.Status{Thread: thread.Thread{ID: thread.ID(name)}}, nil
		}
		s.misses.pause = func(context.Context, time.Duration) error { return nil }
		cl, _ := serve(t, s)
		for _, token := range tokens {
			_, err = api.StageInfo.Do(t.Context(), cl, api.StagedRef{Token: string(token)})
		}
		return err
	}
	var guesses []thread.Token
	for range missesMost {
		guesses = append(guesses, thread.NewToken())
	}
	if err := info(of("a"), foreign.Token); err != nil {
		t.Errorf("a token that it was given: %v", err)
	}
	if err := info(of("a"), append(guesses, own.Token)...); err != nil {
		t.Errorf("its own after many guesses: %v", err)
	}
	if err := info(of("a"), append(guesses, foreign.Token)...); !errors.Is(err, thread.ErrLimit) {
		t.Errorf("another's after many guesses: %v", err)
	}
	if err := info(persons{}, append(guesses, foreign.Token)...); err != nil {
		t.Errorf("the person after many wrong tokens: %v", err)
	}
	junk := make([]thread.Token, 100)
	for i := range junk {
		junk[i] = "nonsense"
	}
	if err := info(of("a"), append(junk, "max:a", foreign.Token)...); err != nil {
		t.Errorf("after what is no token: %v", err)
	}
}
