package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"testing/cryptotest"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// closedStore is a store that was closed, and what must be in it.
type closedStore struct {
	files   files
	threads []thread.Thread
	want    map[thread.CheckpointID][]thread.Item
}

// closedTalks makes a store of two threads with four turns each, whose ids are always the same.
func closedTalks(t *testing.T) closedStore {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 1)
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := closedStore{want: map[thread.CheckpointID][]thread.Item{}}
	for i := range 2 {
		k := newTalk(t, s, fmt.Sprintf("t-%04d", i))
		for turn := range 4 {
			k.say(fmt.Sprint("question ", i, turn), fmt.Sprint("answer ", i, turn))
			if c.want[k.head.ID], err = s.Conversation(t.Context(), k.head.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.threads, err = s.Threads(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c.files = take(t, path)
	return c
}

// whole opens a store of which nothing may be missing, and puts to each of its threads.
func (c closedStore) whole(t *testing.T, path, what string) *sqlite.Report {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatalf("%s blocks the start: %v", what, err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}()
	for id, want := range c.want {
		got, err := s.Conversation(t.Context(), id)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: checkpoint %s has %d items, want %d: %v", what, id, len(got), len(want), err)
			continue
		}
		for i := range got {
			if !bytes.Equal(got[i].Raw, want[i].Raw) {
				t.Errorf("%s: checkpoint %s, item %d is wrong", what, id, i)
			}
		}
	}
	for _, want := range c.threads {
		got, err := s.Thread(t.Context(), want.ID)
		if err != nil || got.Name != want.Name || got.Head != want.Head || got.Turn != want.Turn ||
			got.Agent != want.Agent {
			t.Errorf("%s: thread %q is %+v: %v", what, want.Name, got, err)
			continue
		}
		list, err := s.Checkpoints(t.Context(), want.ID, thread.Page{})
		if err != nil || len(list) != 4 {
			t.Errorf("%s: thread %q has %d checkpoints: %v", what, want.Name, len(list), err)
			continue
		}
		k := &talk{t: t, s: s, id: want.ID, head: list[0]}
		if err := put(k, "goes", "on"); err != nil {
			t.Errorf("%s: a put to thread %q: %v", what, want.Name, err)
		}
	}
	k := &talk{t: t, s: s, id: thread.NewID[thread.ID]()}
	if err := s.CreateThread(t.Context(), thread.Thread{ID: k.id, Name: "new-0001"}); err != nil {
		t.Errorf("%s: a new thread: %v", what, err)
		return s.Report()
	}
	if err := put(k, "after", "all"); err != nil {
		t.Errorf("%s: a put to the new thread: %v", what, err)
	}
	return s.Report()
}

// TestDamagedIndex spoils a bit of each entry of each index: one of what it holds, so that SQLite does not find its
// row, and one of the kind of what it holds, so that SQLite refuses every put that comes across it. No row is damaged:
// all of them are still there, and puts are taken.
func TestDamagedIndex(t *testing.T) {
	const leafIndex = 0x0a
	c := closedTalks(t)
	good := c.files[""]
	rnd := rand.New(rand.NewSource(1))
	entries, repaired := 0, 0
	for page := 1024; page < len(good); page += 1024 {
		if good[page] != leafIndex {
			continue
		}
		for i := range int(binary.BigEndian.Uint16(good[page+3:])) {
			entries++
			cell := page + int(binary.BigEndian.Uint16(good[page+8+2*i:]))
			const size, header = 1, 1 // bytes, before the kind of the first column
			for at, bit := range map[int]int{cell + size + header: 6, cell + size + rnd.Intn(int(good[cell])): rnd.Intn(8)} {
				path := c.files.with("", flipped(good, at, bit)).lay(t)
				if r := c.whole(t, path, fmt.Sprintf("bit %d at %d, page %d", bit, at, page/1024+1)); r != nil {
					repaired++
				}
			}
		}
	}
	if entries < 20 || repaired < entries {
		t.Errorf("%d entries of indexes, repaired %d times", entries, repaired)
	}
}

// TestRescueTrustsHashes spoils what is beside the hashed records in the rows of a database that has to be rescued: the
// records say what was there.
func TestRescueTrustsHashes(t *testing.T) {
	c := closedTalks(t)
	for what, query := range map[string]string{
		"the thread of a checkpoint":           "UPDATE checkpoint SET thread = 66 WHERE n = 3",
		"the thread of a thread's first":       "UPDATE checkpoint SET thread = 66 WHERE n = 1",
		"the fork of a checkpoint":             "UPDATE checkpoint SET fork = 1 WHERE n = 3",
		"the number of a thread":               "UPDATE thread SET n = 77 WHERE n = 2",
		"too high a number of a thread":        "UPDATE thread SET n = 9223372036854775807 WHERE n = 2",
		"the id of a thread":                   "UPDATE thread SET id = 'x' || substr(id, 2) WHERE n = 2",
		"the kind of a thread's id":            "UPDATE thread SET id = x'00' WHERE n = 2",
		"the name of a thread":                 "UPDATE thread SET name = 't-0009' WHERE n = 2",
		"the number of a thread's newest":      "UPDATE thread SET seq = 0 WHERE n = 2",
		"the kind of the number of the newest": "UPDATE thread SET seq = 'x' WHERE n = 2",
	} {
		path := c.files.lay(t)
		outside(t, path, query)
		f := take(t, path)
		f[""] = bytes.ReplaceAll(f[""], []byte("turn   INTEGER"), []byte("turm   INTEGER"))
		if r := c.whole(t, f.lay(t), what); r == nil || r.Quarantined == "" {
			t.Errorf("%s: no rescue: %v", what, r)
		}
	}
}

// TestMendsNumbers spoils the number of a thread's newest checkpoint, which no hash and no index covers: the next one
// would get the number of another.
func TestMendsNumbers(t *testing.T) {
	c := closedTalks(t)
	for what, query := range map[string]string{
		"lower": "UPDATE thread SET seq = 2 WHERE n = 2", "of another kind": "UPDATE thread SET seq = 'x' WHERE n = 2",
		"higher": "UPDATE thread SET seq = 99 WHERE n = 2",
	} {
		path := c.files.lay(t)
		outside(t, path, query)
		if r := c.whole(t, path, what); (r == nil) != (what == "higher") || r != nil && r.Quarantined != "" {
			t.Errorf("%s: %v", what, r)
		}
	}
}

// TestRescueGivesNoNumberTwice has a thread purged whose checkpoints a fork is based on: after a rescue, a new thread
// is not taken for it.
func TestRescueGivesNoNumberTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	k := newTalk(t, s, "t-0001")
	fork := thread.Thread{ID: thread.NewID[thread.ID](), Name: "fork-0001"}
	if err := s.CreateThread(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	last := newTalk(t, s, "t-0002")
	last.say("one", "two")
	if _, err := s.UpdateThread(t.Context(), fork.ID, func(t *thread.Thread) error {
		t.Head, t.ForkPoint = last.head.ID, last.head.ID
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.PurgeThread(t.Context(), last.id); err != nil {
		t.Fatal(err)
	}
	k.say("three", "four")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte("turn   INTEGER"), []byte("turm   INTEGER"))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if r := s.Report(); r == nil || r.Quarantined == "" || r.Threads != 2 || len(r.Dropped) > 0 {
		t.Fatalf("report %v", r)
	}
	newTalk(t, s, "new-0001").say("is", "another")
	if items, err := s.Conversation(t.Context(), last.head.ID); err != nil || len(items) != 2 {
		t.Errorf("what the fork stands on: %d items, %v", len(items), err)
	}
}

// TestDamagedRow spoils columns of a checkpoint that only its record can be compared with: every reader says so, and a
// start that has nothing to repair goes on.
func TestDamagedRow(t *testing.T) {
	c := closedTalks(t)
	for column, values := range map[string][]string{
		"parent": {"-75", "0", "99", "3", "''", "x'00'", "1.5"},
		"chain":  {"-3", "0", "99", "''"}, "items": {"-5", "0", "1 << 40", "''"}, "raw": {"-1", "0", "1 << 40", "''"},
		"turn": {"-1", "99", "''"},
	} {
		for _, value := range values {
			what := column + " = " + value
			path := c.files.lay(t)
			outside(t, path, fmt.Sprintf("UPDATE checkpoint SET %s = %s WHERE n = 3", column, value))
			s := open(t, path)
			damaged := 0
			for id, want := range c.want {
				got, err := s.Conversation(t.Context(), id)
				if errors.Is(err, thread.ErrDamaged) {
					damaged++
				} else if err != nil || len(got) != len(want) {
					t.Errorf("%s: checkpoint %s has %d items, want %d: %v", what, id, len(got), len(want), err)
				}
			}
			if damaged == 0 || damaged > 4 {
				t.Errorf("%s: %d checkpoints are said to be damaged", what, damaged)
			}
			goesOn(t, s)
		}
	}
}

// put says something and returns the error.
func put(k *talk, texts ...string) error {
	c, d := k.next(texts...)
	_, err := k.s.PutCheckpoint(k.t.Context(), c, d)
	return err
}
