package archive_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// TestDamagedTurnsAreLeftOut exports a thread with each of its checkpoints damaged in turn: the archive has all others,
// in order, says which it lacks, and can be imported and gone on with.
func TestDamagedTurnsAreLeftOut(t *testing.T) {
	for hit := range 8 {
		t.Run(fmt.Sprint(hit), func(t *testing.T) {
			w := newWorld(t)
			list, err := w.store.Lineage(t.Context(), w.fork.Head, thread.Page{})
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(list)
			hit := min(hit, len(list)-1)
			w.store.Spoil(list[hit].ID)
			var b bytes.Buffer
			var lost []thread.Checkpoint
			e := archive.Export{Thread: "bbbb", Program: "v1", Now: now,
				Lost: func(l []thread.Checkpoint) { lost = append(lost, l...) }}
			if err := e.Write(t.Context(), w.store, &b); err != nil {
				t.Fatal(err)
			}
			if len(lost) != 1 || lost[0].ID != list[hit].ID {
				t.Errorf("lost: %+v", lost)
			}
			to, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			closed(t, to)
			th, err := importInto(to, b.Bytes(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := to.Lineage(t.Context(), th.Head, thread.Page{})
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(got)
			var want, have []string
			for i, c := range list {
				if i != hit {
					want = append(want, fmt.Sprint(c.Turn, c.Prompt))
				}
			}
			for _, c := range got {
				if c.Kind != thread.KindImport || c.Prompt != "" {
					have = append(have, fmt.Sprint(c.Turn, c.Prompt))
				}
			}
			if !slices.Equal(have, want) {
				t.Errorf("the archive has %q, want %q", have, want)
			}
			if _, err := to.Conversation(t.Context(), th.Head); err != nil {
				t.Error(err)
			}
		})
	}
}
