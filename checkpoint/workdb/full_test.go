package workdb_test

import (
	"encoding/json"
	"errors"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestDiskFull lets the file grow no further, as a full disk does: the error says so, nothing that was acknowledged is
// lost, what was refused has left nothing behind, a purge makes room, and the store goes on by itself once there is some.
func TestDiskFull(t *testing.T) {
	ctx := t.Context()
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	old := add(t, s, "old", work.Event{Kind: "text", Text: strings.Repeat("x", 15<<10)}, work.Event{Kind: "text", Text: strings.Repeat("y", 15<<10)})
	if _, err := s.Supersede(ctx, old.ID, func(x *work.Execution) error { x.State = work.Cancelled; return nil }); err != nil {
		t.Fatal(err)
	}
	x := add(t, s, "t1")
	pages, err := s.Pages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetLimit(ctx, pages+20); err != nil {
		t.Fatal(err)
	}
	long := work.Event{Kind: "text", Text: strings.Repeat("z", 10<<10)}
	n := 1
	for ; n < 100; n++ {
		if err = s.Append(ctx, x.ID, x.Fence, long); err != nil {
			break
		}
	}
	if !errors.Is(err, thread.ErrDiskFull) || !strings.Contains(err.Error(), "bytes needed") || n < 4 {
		t.Fatalf("after %d events: %v", n, err)
	}
	events, err := s.Events(ctx, x.ID, 0, 0)
	if err != nil || len(events) != n {
		t.Fatalf("%d events, want %d: %v", len(events), n, err)
	}
	if n, err := s.Purge(ctx, []thread.ID{"old"}); err != nil || n != 1 {
		t.Fatalf("purged %d: %v", n, err)
	}
	if err := s.Append(ctx, x.ID, x.Fence, long); err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	if got, err := s.Claim(ctx, x.ID, "s", x.Created); err != nil || got.Attempt != 1 {
		t.Fatalf("%+v: %v", got, err)
	}
}

// TestDiskFullRecord: on a full disk nothing of the record is half there, and reading goes on.
func TestDiskFullRecord(t *testing.T) {
	ctx := t.Context()
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	x := add(t, s, "t1")
	kept, err := s.AddOutputs(ctx, x.ID, []work.Output{{Type: work.OutputInsight, Content: json.RawMessage(`"it is so"`)}})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := s.Pages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetLimit(ctx, pages+10); err != nil {
		t.Fatal(err)
	}
	content := make([]byte, 200<<10)
	_, _ = rand.New(rand.NewSource(1)).Read(content) // it never fails
	b := work.KeptBundle{Bundle: work.Bundle{ID: "b", Items: []work.BundleItem{{Type: work.ItemFile, Source: "f"}}}, Hash: work.PieceHash([]byte("b")),
		Pieces: []string{work.PieceHash(content)}}
	if _, err := s.PutBundle(ctx, b, map[string][]byte{b.Pieces[0]: content}); !errors.Is(err, thread.ErrDiskFull) {
		t.Errorf("a bundle: %v", err)
	}
	long := json.RawMessage(`"` + strings.Repeat("z", 100<<10) + `"`)
	if _, err := s.AddOutputs(ctx, x.ID, []work.Output{{Type: work.OutputInsight, Content: json.RawMessage("1")}, {Type: work.OutputError, Content: long}}); !errors.Is(err, thread.ErrDiskFull) {
		t.Errorf("outputs: %v", err)
	}
	if _, err := s.Bundle(ctx, "b"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("half a bundle: %v", err)
	}
	if _, err := s.Piece(ctx, b.Pieces[0]); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a piece without its bundle: %v", err)
	}
	if got, err := s.Outputs(ctx, work.OutputQuery{}); err != nil || len(got) != 1 || got[0].N != kept[0].N {
		t.Errorf("%+v: %v", got, err)
	}
	if err := s.SetLimit(ctx, pages+1000); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutBundle(ctx, b, map[string][]byte{b.Pieces[0]: content}); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if more, err := s.AddOutputs(ctx, x.ID, []work.Output{{Type: work.OutputError, Content: long}}); err != nil || more[0].N != 2 {
		t.Errorf("%+v: %v", more, err)
	}
}
