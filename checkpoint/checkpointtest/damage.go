package checkpointtest

import (
	"errors"
	"testing"

	"orchestrator/thread"
)

// testDamage damages the content of each checkpoint in turn. Lists go on, with those marked that cannot be read; other
// threads are whole; and what comes next is stored, read or not.
func testDamage(_ *testing.T, f *fixture) {
	if f.h.Spoil == nil {
		f.Skip("its content cannot be damaged")
	}
	for hit := range 5 {
		a, b := f.thread("a-"+string(rune('0'+hit))), f.thread("b-"+string(rune('0'+hit)))
		var all []thread.Checkpoint
		var last, other thread.Checkpoint
		for range 5 {
			last, other = f.add(a.ID, last), f.add(b.ID, other)
			all = append(all, last)
		}
		fork := f.fork("f-"+string(rune('0'+hit)), all[4])
		forked := f.add(fork.ID, all[4])
		f.h.Spoil(f.T, f.store, all[hit].ID)
		f.reopen()
		f.marked(a.ID, last.ID, all, hit)
		if _, err := f.store.Checkpoint(f.ctx, all[hit].ID); !errors.Is(err, thread.ErrDamaged) {
			f.Fatalf("checkpoint %d: %v", hit, err)
		}
		if list, err := f.store.Checkpoints(f.ctx, b.ID, thread.Page{}); err != nil || len(list) != 5 || list[0].Damaged {
			f.Fatalf("the other thread: %+v, %v", list, err)
		}
		if list, err := f.store.Lineage(f.ctx, forked.ID, thread.Page{}); err != nil || len(list) != 6 || list[1].Thread != a.ID {
			f.Fatalf("the fork: %+v, %v", list, err)
		}
		// An answer that was made before the damage was known, and one that brings everything.
		spooled := f.next(a.ID, last)
		spooled = f.put(spooled, thread.Delta{Keep: last.Items, Items: []thread.Item{item("late")}})
		whole := []thread.Item{item("q"), item("a"), item("q2"), item("a2")}
		next := f.put(f.next(a.ID, spooled), thread.Delta{Items: whole[:2],
			Transcript: []thread.Chunk{{File: "main", Data: []byte("all of it\n")}}})
		f.reopen()
		f.holds(next.ID, whole[:2], map[string]string{"main": "all of it\n"})
		after := f.put(f.next(a.ID, next), thread.Delta{Keep: 2, Items: whole[2:],
			Transcript: []thread.Chunk{{File: "main", Offset: 10, Data: []byte("more\n")}}})
		f.reopen()
		f.holds(after.ID, whole, map[string]string{"main": "all of it\nmore\n"})
		f.marked(a.ID, after.ID, append(all, spooled, next, after), hit)
		f.holds(other.ID, f.conversation(other.ID), map[string]string{"main": f.file(other.ID)})
	}
}

// marked checks that lists have all checkpoints in order, and that those before the damaged one, and from the sixth on,
// are readable.
func (f *fixture) marked(id thread.ID, head thread.CheckpointID, all []thread.Checkpoint, hit int) {
	f.Helper()
	for name, read := range map[string]func() ([]thread.Checkpoint, error){
		"own":     func() ([]thread.Checkpoint, error) { return f.store.Checkpoints(f.ctx, id, thread.Page{}) },
		"lineage": func() ([]thread.Checkpoint, error) { return f.store.Lineage(f.ctx, head, thread.Page{}) },
	} {
		list, err := read()
		f.ok(err)
		f.equal(ids(list), newestFirst(all...))
		for i, c := range list {
			at := len(all) - 1 - i
			want := all[at]
			if c.Damaged {
				want = thread.Checkpoint{ID: want.ID, Thread: want.Thread, Parent: want.Parent, Seq: want.Seq, Turn: want.Turn,
					Kind: want.Kind, Items: want.Items, Damaged: true}
			}
			f.equal(c, want)
			if c.Damaged != (at == hit) && (at < hit || at > 4 || at == hit) {
				f.Fatalf("%s: checkpoint %d is marked: %v, damaged is %d", name, at, c.Damaged, hit)
			}
		}
	}
}

func (f *fixture) conversation(id thread.CheckpointID) []thread.Item {
	f.Helper()
	items, err := f.store.Conversation(f.ctx, id)
	f.ok(err)
	return items
}

func (f *fixture) file(id thread.CheckpointID) string {
	f.Helper()
	files, err := f.store.Transcript(f.ctx, id)
	f.ok(err)
	return string(files[0].Data)
}
