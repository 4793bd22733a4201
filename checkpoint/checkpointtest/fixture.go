package checkpointtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
)

// Harness creates stores to test.
type Harness struct {
	// Open returns a new, empty store; the suite does not close it.
	Open func(t *testing.T) thread.Store
	// Reopen closes a store and opens it again; nil if nothing outlives a store.
	Reopen func(t *testing.T, s thread.Store) thread.Store
	// Spoil damages the stored content of a checkpoint; nil if that is not possible.
	Spoil func(t *testing.T, s thread.Store, id thread.CheckpointID)
}

// fixture is a store with helpers that fail the test on errors.
type fixture struct {
	*testing.T
	store thread.Store
	h     Harness
	ctx   context.Context
	n     int // to make times differ
}

func (f *fixture) reopen() {
	f.Helper()
	if f.h.Reopen != nil {
		f.store = f.h.Reopen(f.T, f.store)
	}
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %v", err, want)
	}
}

func (f *fixture) equal(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		f.Fatalf("got %.4000s\nwant %.4000s", g, w)
	}
}

func (f *fixture) thread(name string) thread.Thread {
	f.Helper()
	f.n++
	t := thread.Thread{ID: thread.NewID[thread.ID](), Name: name, Agent: "demo", Dir: "/p",
		Created: start.Add(time.Duration(f.n) * time.Second), Updated: start}
	f.ok(f.store.CreateThread(f.ctx, t))
	return t
}

// fork creates a thread at a checkpoint.
func (f *fixture) fork(name string, at thread.Checkpoint) thread.Thread {
	f.Helper()
	f.n++
	t := thread.Thread{ID: thread.NewID[thread.ID](), Name: name, Agent: "demo", Parent: at.Thread, ForkPoint: at.ID,
		Head:    at.ID,
		Created: start.Add(time.Duration(f.n) * time.Second), Updated: start}
	f.ok(f.store.CreateThread(f.ctx, t))
	return t
}

func item(text string) thread.Item {
	raw, _ := json.Marshal(map[string]string{"role": "user", "content": text})
	return thread.Item{Wire: "anthropic", Raw: raw}
}

// next returns the checkpoint after parent (zero for a first one) in a thread, one turn later.
func (f *fixture) next(id thread.ID, parent thread.Checkpoint) thread.Checkpoint {
	f.n++
	return thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id, Parent: parent.ID, Turn: parent.Turn + 1,
		Kind: thread.KindTurn, Created: start.Add(time.Duration(f.n) * time.Minute), Prompt: fmt.Sprint("prompt ", f.n)}
}

// add puts the next checkpoint with two items and a chunk of the file "main".
func (f *fixture) add(id thread.ID, parent thread.Checkpoint) thread.Checkpoint {
	f.Helper()
	c := f.next(id, parent)
	d := thread.Delta{Keep: parent.Items, Items: []thread.Item{item("q " + c.Prompt), item("a " + c.Prompt)}}
	var size int64
	if parent.ID != "" {
		for _, m := range f.marks(parent.ID) {
			if m.File == "main" {
				size = m.Size
			}
		}
	}
	d.Transcript = []thread.Chunk{{File: "main", Offset: size, Data: []byte("line " + c.Prompt + "\n")}}
	return f.put(c, d)
}

func (f *fixture) put(c thread.Checkpoint, d thread.Delta) thread.Checkpoint {
	f.Helper()
	got, err := f.store.PutCheckpoint(f.ctx, c, d)
	f.ok(err)
	return got
}

func (f *fixture) marks(id thread.CheckpointID) []thread.Mark {
	f.Helper()
	m, err := f.store.Marks(f.ctx, id)
	f.ok(err)
	return m
}

// holds checks a checkpoint's conversation and transcript, including the marks.
func (f *fixture) holds(id thread.CheckpointID, items []thread.Item, files map[string]string) {
	f.Helper()
	got, err := f.store.Conversation(f.ctx, id)
	f.ok(err)
	if len(got) != len(items) {
		f.Fatalf("conversation of %s has %d items, want %d", id, len(got), len(items))
	}
	for i := range items {
		if got[i].Wire != items[i].Wire || !bytes.Equal(got[i].Raw, items[i].Raw) {
			f.Fatalf("item %d is %.200s, want %.200s", i, got[i].Raw, items[i].Raw)
		}
	}
	have, err := f.store.Transcript(f.ctx, id)
	f.ok(err)
	marks := f.marks(id)
	if len(have) != len(files) || len(marks) != len(files) {
		f.Fatalf("transcript of %s has %d files and %d marks, want %d", id, len(have), len(marks), len(files))
	}
	for i, h := range have {
		want, there := files[h.File]
		if !there || string(h.Data) != want {
			f.Fatalf("file %q is %.200q, want %.200q (there: %v)", h.File, h.Data, want, there)
		}
		s := sha256.Sum256([]byte(want))
		f.equal(marks[i], thread.Mark{File: h.File, Size: int64(len(want)), SHA256: hex.EncodeToString(s[:])})
		if i > 0 && have[i-1].File >= h.File {
			f.Fatalf("files out of order: %q, %q", have[i-1].File, h.File)
		}
	}
}

func ids(cs []thread.Checkpoint) []thread.CheckpointID {
	out := []thread.CheckpointID{}
	for _, c := range cs {
		out = append(out, c.ID)
	}
	return out
}

func newestFirst(cs ...thread.Checkpoint) []thread.CheckpointID {
	out := ids(cs)
	slices.Reverse(out)
	return out
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)
