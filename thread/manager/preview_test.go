package manager_test

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestRealPreview: a dry run counts what no agent has committed, as the merge does.
func TestRealPreview(t *testing.T) {
	r := newReal(t)
	p, err := r.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Name: "parent"})
	if err != nil {
		t.Fatal(err)
	}
	r.turn(p.ID, "p1")
	f, err := r.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "two"})
	if err != nil {
		t.Fatal(err)
	}
	dry := thread.MergeRequest{Thread: f.Name, DryRun: true}
	if report, err := r.m.Merges.Start(ctx, dry); err != nil || !report.UpToDate || len(report.Files) != 0 {
		t.Errorf("of nothing: %+v %v", report, err)
	}
	r.write(f.Dir, "a.txt", "fork\n")
	if report, err := r.m.Merges.Start(ctx, dry); err != nil || report.UpToDate || len(report.Files) != 1 || len(report.Conflicts) != 0 {
		t.Errorf("of a change: %+v %v", report, err)
	}
	r.write(p.Dir, "a.txt", "mine\n")
	if _, err := r.m.Merges.Start(ctx, dry); !errors.Is(err, thread.ErrConflict) || !strings.Contains(err.Error(), p.Dir+": a.txt") {
		t.Errorf("over what the person changed: %v", err)
	}
	r.git(p.Dir, "checkout", "-q", "a.txt")
	if report, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name}); err != nil || report.Commit == "" {
		t.Fatalf("merge: %+v %v", report, err)
	}
	if report, err := r.m.Merges.Start(ctx, dry); err != nil || !report.UpToDate || len(report.Files) != 0 {
		t.Errorf("after the merge: %+v %v", report, err)
	}
}
