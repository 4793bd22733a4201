package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	memstore "orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// countedStore counts how many checkpoints are read.
type countedStore struct {
	*memstore.Store
	read int
	err  error
}

func (s *countedStore) Checkpoints(ctx context.Context, id thread.ID, p thread.Page) ([]thread.Checkpoint, error) {
	list, err := s.Store.Checkpoints(ctx, id, p)
	s.read += len(list)
	return list, errors.Join(err, s.err)
}

// needed says what needs a token.
func needed(t *testing.T, p *pins, token thread.Token) string {
	t.Helper()
	all, err := p.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all[token], "; ")
}

// turnOf stores a turn.
func turnOf(t *testing.T, s thread.Store, id thread.ID, parent thread.CheckpointID, turn int, prompt, answer string) thread.CheckpointID {
	t.Helper()
	c, err := s.PutCheckpoint(t.Context(), thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: id, Parent: parent, Turn: turn, Kind: thread.KindTurn,
		Created: time.Now(), Prompt: prompt, Answer: answer,
	}, thread.Delta{})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// TestPins: prompts, turns, handoffs and masks keep what they name, and only for as long as they exist.
func TestPins(t *testing.T) {
	s := &countedStore{Store: memstore.New()}
	masked := map[thread.ID][]thread.Token{}
	size := map[thread.ID]int64{}
	p := &pins{store: s, masked: func(id thread.ID, since int64) ([]thread.Token, int64, error) {
		if size[id] == since {
			return nil, since, nil
		}
		return masked[id], size[id], nil
	}}
	const a, b, c, d, e = "max:aaaaaaaa", "max:bbbbbbbb", "max:cccccccc", "max:dddddddd", "max:eeeeeeee"
	for _, th := range []thread.Thread{
		{ID: "t1", Name: "one"},
		{ID: "t2", Name: "two", Handoff: &thread.Handoff{Description: "use " + c, Staged: []thread.Token{d}}},
	} {
		if err := s.CreateThread(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	}
	first := turnOf(t, s, "t1", "", 1, "sum up "+a, "done")
	for token, want := range map[thread.Token]string{
		a: "turn 1 of one", b: "", c: "the handoff to two", d: "the handoff to two", e: "",
	} {
		if got := needed(t, p, token); got != want {
			t.Errorf("%s is needed by %q, want %q", token, got, want)
		}
	}
	second := turnOf(t, s, "t1", first, 2, "and now", "it is "+b)
	if got := needed(t, p, b); got != "turn 2 of one" {
		t.Errorf("a new turn: %q", got)
	}
	reads := s.read
	if got := needed(t, p, a); got != "turn 1 of one" {
		t.Errorf("an older turn: %q", got)
	}
	if s.read != reads {
		t.Errorf("%d checkpoints were read although nothing changed", s.read-reads)
	}

	masked["t2"], size["t2"] = []thread.Token{e}, 100
	if got := needed(t, p, e); got != "what is masked in two" {
		t.Errorf("masks: %q", got)
	}
	if got := needed(t, p, e); got != "what is masked in two" { // masked says nothing more about it
		t.Errorf("masks, again: %q", got)
	}

	// A fork keeps what its parent's turns name when the parent is gone.
	if err := s.CreateThread(t.Context(), thread.Thread{ID: "t3", Name: "fork", Parent: "t1", ForkPoint: second, Head: second}); err != nil {
		t.Fatal(err)
	}
	if err := s.PurgeThread(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	again := &pins{store: s, masked: p.masked}
	for _, p := range []*pins{p, again} {
		if got := needed(t, p, a); got != "turn 1 of fork" {
			t.Errorf("after the parent is gone: %q", got)
		}
	}
	for _, id := range []thread.ID{"t2", "t3"} {
		if err := s.PurgeThread(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := p.find(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("without threads: %v, %v", all, err)
	}
}

// TestPinsOfPrompts: a prompt keeps what it names while it waits and once it is answered, also beyond what the
// checkpoint keeps of it, and not if it is withdrawn.
func TestPinsOfPrompts(t *testing.T) {
	s := &countedStore{Store: memstore.New()}
	p := &pins{store: s, masked: func(thread.ID, int64) ([]thread.Token, int64, error) { return nil, 0, nil }}
	if err := s.CreateThread(t.Context(), thread.Thread{ID: "t1", Name: "one"}); err != nil {
		t.Fatal(err)
	}
	const token = "max:aaaaaaaa"
	ask := func(state thread.PromptState) {
		if _, err := s.PutPrompt(t.Context(), thread.Prompt{
			ID: "p1", Thread: "t1", Turn: 1, Text: strings.Repeat("x", 3000) + " " + token, State: state,
		}); err != nil {
			t.Fatal(err)
		}
	}
	ask(thread.PromptQueued)
	if got := needed(t, p, token); got != "prompt p1" {
		t.Errorf("queued: %q", got)
	}
	ask(thread.PromptCancelled)
	if got := needed(t, p, token); got != "" {
		t.Errorf("cancelled: %q", got)
	}
	ask(thread.PromptAnswered)
	turnOf(t, s, "t1", "", 1, strings.Repeat("x", 2000), "done")
	if got := needed(t, p, token); got != "turn 1 of one" {
		t.Errorf("answered: %q", got)
	}
}

// TestManyReasons names a few of them, and a store that cannot be read is an error: then nothing expires.
func TestManyReasons(t *testing.T) {
	s := &countedStore{Store: memstore.New()}
	p := &pins{store: s, masked: func(thread.ID, int64) ([]thread.Token, int64, error) { return nil, 0, nil }}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := s.CreateThread(t.Context(), thread.Thread{ID: thread.ID("t" + name), Name: name}); err != nil {
			t.Fatal(err)
		}
		turnOf(t, s, thread.ID("t"+name), "", 1, "max:aaaaaaaa max:aaaaaaaa", "")
	}
	all, err := p.find(t.Context())
	want := []string{"turn 1 of a", "turn 1 of b", "turn 1 of c", "turn 1 of d", "2 more"}
	if err != nil || !slices.Equal(all["max:aaaaaaaa"], want) {
		t.Errorf("%q, %v", all["max:aaaaaaaa"], err)
	}
	s.err = errors.New("broken")
	turnOf(t, s, "ta", "", 2, "", "")
	if _, err := p.find(t.Context()); !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
}
