package words_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// changing returns a world whose turns change files: a snapshot's commit names them.
func changing(t *testing.T) *world {
	w := newWorld(t)
	_ = w.index.Close()
	w.changes = func(_ context.Context, steps []thread.FileStep) ([][]string, error) {
		out := make([][]string, len(steps))
		for i, st := range steps {
			if st.From == "" || st.From == st.To {
				return nil, errors.New("no commit")
			}
			_, paths, _ := strings.Cut(st.To, ":")
			out[i] = strings.Split(paths, ",")
		}
		return out, nil
	}
	w.open()
	return w
}

// edit adds a turn that changes files.
func (w *world) edit(id thread.ID, paths ...string) {
	w.t.Helper()
	w.turns[id]++
	w.snap++
	c := thread.Checkpoint{
		ID: thread.CheckpointID(fmt.Sprintf("%s-%d", id, w.turns[id])), Thread: id, Parent: w.heads[id], Turn: w.turns[id],
		Kind: thread.KindTurn, Created: time.Unix(int64(w.turns[id]), 0), Prompt: "go on",
		Snapshot: &thread.Snapshot{Commit: fmt.Sprintf("%d:%s", w.snap, strings.Join(paths, ",")), Base: "base", Files: len(paths)},
	}
	if _, err := w.store.PutCheckpoint(context.Background(), c, thread.Delta{}); err != nil {
		w.t.Fatal(err)
	}
	w.heads[id] = c.ID
}

// files returns the hits of a search for files.
func (w *world) files(query string) string {
	w.t.Helper()
	hits, err := w.index.FindFile(context.Background(), query, 10)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s/%d/%s", h.Name, h.Turn, h.Snippet))
	}
	return strings.Join(out, " ")
}

func TestFindFile(t *testing.T) {
	w := changing(t)
	w.thread("a", "auth-a3f2")
	w.thread("b", "docs-f9a0")
	w.edit("a", "internal/auth.go", "go.mod")
	w.edit("b", "docs/auth.md")
	w.edit("a", "internal/auth_test.go")
	want := func(query, hits string) {
		t.Helper()
		if got := w.files(query); got != hits {
			t.Errorf("%q: %q, want %q", query, got, hits)
		}
	}
	want("auth.go", "auth-a3f2/1/internal/auth.go")
	w.edit("a", "internal/auth.go")
	want("AUTH.GO", "auth-a3f2/3/internal/auth.go")
	want("internal/", "auth-a3f2/3/internal/auth.go auth-a3f2/2/internal/auth_test.go")
	want("auth md", "docs-f9a0/1/docs/auth.md")
	want("auth_t", "auth-a3f2/2/internal/auth_test.go")
	want("a%h", "")
	want("nothing", "")
	want("", "auth-a3f2/3/internal/auth.go auth-a3f2/2/internal/auth_test.go docs-f9a0/1/docs/auth.md auth-a3f2/1/go.mod")
	w.expect("auth.go", "auth-a3f2/3/changed")
	w.expect("go.mo", "auth-a3f2/1/changed")
	w.expect("auth_t", "auth-a3f2/2/changed")
	w.expect("docs/", "docs-f9a0/1/name", "docs-f9a0/1/changed")
	_ = w.index.Close()
	w.open() // what is indexed is not asked for again
	w.edit("b", "docs/new.md")
	want("docs/", "docs-f9a0/2/docs/new.md docs-f9a0/1/docs/auth.md")
	if _, err := w.store.UpdateThread(context.Background(), "b", func(t *thread.Thread) error {
		t.Deleted = time.Unix(5, 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want("docs/", "")
}

// TestFirstTurnOfFork: it changed what differs from its fork point, not from the commit on which that stands.
func TestFirstTurnOfFork(t *testing.T) {
	w := changing(t)
	var from []string
	list := w.changes
	_ = w.index.Close()
	w.changes = func(ctx context.Context, steps []thread.FileStep) ([][]string, error) {
		for _, st := range steps {
			from = append(from, st.From)
		}
		return list(ctx, steps)
	}
	w.open()
	w.thread("a", "auth-a3f2")
	w.edit("a", "auth.go")
	w.turn("a", "only talk", "")
	w.thread("b", "fork-f9a0")
	w.heads["b"] = w.heads["a"]
	w.edit("b", "docs.md")
	if got := w.files("docs"); got != "fork-f9a0/1/docs.md" {
		t.Errorf("found %q", got)
	}
	if fmt.Sprint(from) != "[base 1:auth.go]" {
		t.Errorf("compared with %v", from)
	}
}

// Where changed files cannot be listed, what was said is found all the same.
func TestFilesUnreadable(t *testing.T) {
	w := changing(t)
	_ = w.index.Close()
	w.changes = func(context.Context, []thread.FileStep) ([][]string, error) { return nil, errors.New("git is gone") }
	w.open()
	w.thread("a", "auth-a3f2")
	w.edit("a", "auth.go")
	w.expect("auth", "auth-a3f2/1/name")
	w.expect("go", "auth-a3f2/1/prompt")
	if got := w.files("auth"); got != "" {
		t.Errorf("found %q", got)
	}
}
