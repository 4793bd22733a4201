package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestPutKeepsWhatChangedMeanwhile: the thread that the store keeps in memory between two puts is not taken for the
// stored one where that was changed in between.
func TestPutKeepsWhatChangedMeanwhile(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	k := newTalk(t, s, "a-0001")
	k.say("one", "first answer")
	if _, err := s.UpdateThread(t.Context(), k.id, func(th *thread.Thread) error {
		th.Label = "renamed"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	k.say("two", "second answer")
	got, err := s.Thread(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	if got.Label != "renamed" {
		t.Errorf("after a put the thread's label is %q, want that of the change before", got.Label)
	}
}

// TestDocumentOfAnotherSum puts an older document of a thread, whole in itself, where a newer one is recorded: neither
// the running store nor the next one takes it for the thread.
func TestDocumentOfAnotherSum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	k := newTalk(t, s, "a-0001")
	k.say("one", "two")
	older := document(t, path, k.id)
	if _, err := s.UpdateThread(t.Context(), k.id, func(th *thread.Thread) error {
		th.Label = "newer"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	outside(t, path, fmt.Sprintf("UPDATE thread SET doc = x'%x' WHERE id = '%s'", older, k.id))
	if got, err := s.Thread(t.Context(), k.id); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("read as %+v, %v", got, err)
	}
	if list, err := s.Threads(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("listed as %+v, %v", list, err)
	}
	got, err := s.UpdateThread(t.Context(), k.id, func(th *thread.Thread) error { th.Seen = !th.Seen; return nil })
	if !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("changed to %+v, %v", got, err)
	}
	if _, err := s.PutCheckpoint(t.Context(), thread.Checkpoint{ID: "next", Thread: k.id, Parent: k.head.ID,
		Kind: thread.KindTurn, Items: k.head.Items},
		thread.Delta{Keep: k.head.Items}); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("a checkpoint was put upon it: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if r := s.Report(); r == nil || len(r.Dropped) != 1 || !strings.Contains(r.Dropped[0], "a-0001") {
		t.Errorf("the next start reports %v", r)
	}
}

// TestDamagedPromptHidesNoOther puts one prompt's document where another's is recorded: only that one is left out.
func TestDamagedPromptHidesNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	k := newTalk(t, s, "a-0001")
	var ids []thread.PromptID
	for range 3 {
		p := thread.Prompt{ID: thread.NewPromptID(), Thread: k.id, Text: "hello", State: thread.PromptQueued}
		if _, err := s.PutPrompt(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	outside(t, path, fmt.Sprintf("UPDATE prompt SET doc = (SELECT doc FROM prompt WHERE id = '%s') WHERE id = '%s'",
		ids[0], ids[1]))
	if p, err := s.Prompt(t.Context(), ids[1]); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("read as %+v, %v", p, err)
	}
	list, err := s.Prompts(t.Context(), k.id, true, 10)
	if err != nil || len(list) != 2 || list[0].ID != ids[0] || list[1].ID != ids[2] {
		t.Errorf("listed as %+v, %v", list, err)
	}
}

// document is a thread's document as it is stored.
func document(t *testing.T, path string, id thread.ID) (doc []byte) {
	t.Helper()
	c, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.QueryRow("SELECT doc FROM thread WHERE id = ?", string(id)).Scan(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
