package workdb_test

import (
	"errors"
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
