package past_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/manager/past"
)

// stored is a thread of two turns and a response of a third, as a reader sees it.
func stored(t *testing.T) (past.Reader, thread.Thread) {
	t.Helper()
	store := memory.New()
	th := thread.Thread{ID: thread.NewID[thread.ID](), Name: "one-0001", Agent: "a"}
	if err := store.CreateThread(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	var parent thread.CheckpointID
	put := func(id string, turn int, kind thread.CheckpointKind, snap *thread.Snapshot, used int64) {
		c := thread.Checkpoint{
			ID: thread.CheckpointID(id), Parent: parent, Thread: th.ID, Turn: turn, Kind: kind, Snapshot: snap,
			Usage: thread.Usage{Input: used}, Answer: "answer " + id,
		}
		if id == "aaaa1" {
			c.Note = thread.NoteTurnEnded
		}
		item := thread.Item{Wire: "text", Raw: []byte(fmt.Sprintf("%q", id))}
		delta := thread.Delta{Keep: turn - 1, Items: []thread.Item{item}}
		if _, err := store.PutCheckpoint(t.Context(), c, delta); err != nil {
			t.Fatal(err)
		}
		parent = c.ID
	}
	put("aaaa1", 1, thread.KindResponse, nil, 10)
	put("aaaa2", 1, thread.KindTurn, &thread.Snapshot{Commit: "c1", Base: "b1"}, 0)
	put("bbbb1", 2, thread.KindResponse, nil, 20)
	put("bbbb2", 2, thread.KindTurn, nil, 0)
	put("cccc1", 3, thread.KindResponse, nil, 30)
	th, err := store.Thread(t.Context(), th.ID)
	if err != nil {
		t.Fatal(err)
	}
	return past.Reader{Store: store, Log: slog.New(slog.DiscardHandler)}, th
}

func TestPoint(t *testing.T) {
	r, th := stored(t)
	for at, want := range map[string]string{
		"": "bbbb2", "1": "aaaa2", "2": "bbbb2", "cccc": "cccc1", "AAAA2": "aaaa2",
		"aaaa1": "aaaa2", "bbbb1": "bbbb1",
	} {
		if c, err := r.Point(t.Context(), th, at); err != nil || string(c.ID) != want {
			t.Errorf("point %q: %s, %v, want %s", at, c.ID, err, want)
		}
	}
	for at, want := range map[string]error{
		"9": thread.ErrNotFound, "dddd": thread.ErrNotFound, "aa": thread.ErrInvalid, "aaaa": thread.ErrInvalid,
	} {
		if c, err := r.Point(t.Context(), th, at); !errors.Is(err, want) {
			t.Errorf("point %q: %s, %v", at, c.ID, err)
		}
	}
	if c, err := r.Point(t.Context(), thread.Thread{}, ""); err != nil || c.ID != "" {
		t.Errorf("the newest point of a new thread: %+v, %v", c, err)
	}
}

func TestTurns(t *testing.T) {
	r, th := stored(t)
	list, err := r.Turns(t.Context(), th.Head, thread.Page{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d turns, %v", len(list), err)
	}
	if list[0].ID != "bbbb2" || list[0].Usage.Input != 20 || list[1].Usage.Input != 10 {
		t.Errorf("turns %+v", list)
	}
	if got := r.LastAnswer(t.Context(), th); got != "answer cccc1" {
		t.Errorf("last answer %q", got)
	}
	fork := thread.Thread{ID: "fork", Parent: th.ID, Head: th.Head}
	if got := r.LastAnswer(t.Context(), fork); got != "" {
		t.Errorf("the last answer of a fork that has none is %q", got)
	}
}

func TestFiles(t *testing.T) {
	r, th := stored(t)
	if s, err := r.SnapshotAt(t.Context(), th.Head); err != nil || s == nil || s.Commit != "c1" {
		t.Errorf("snapshot %+v, %v", s, err)
	}
	if s, err := r.SnapshotAt(t.Context(), ""); err != nil || s != nil {
		t.Errorf("snapshot before everything: %+v, %v", s, err)
	}
	if base, err := r.BaseOf(t.Context(), th); err != nil || base != "b1" {
		t.Errorf("base %q, %v", base, err)
	}
}
