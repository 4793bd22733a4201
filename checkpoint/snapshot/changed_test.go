package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestChanged(t *testing.T) {
	r := isolate(t)
	r.Write("a", "1\n")
	r.Write("dir/b", "1\n")
	base := r.CommitAll("first")
	r.Write("a", "2\n")
	r.Write("new\nline", "x\n")
	one := r.Take(nil)
	r.Write("dir/b", "2\n")
	r.Remove("a")
	two := r.Take(&one)
	missing := strings.Repeat("0123456789", 4)
	steps := []thread.FileStep{
		{From: base, To: one.Commit}, {From: two.Commit, To: two.Commit}, {From: one.Commit, To: two.Commit}, {To: base}, {From: two.Commit, To: one.Commit},
	}
	want := "[[a new\nline] [] [a dir/b] [a dir/b] [a dir/b]]"
	got, err := r.Store.Changed(context.Background(), r.Dir, steps)
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
	for _, bad := range []thread.FileStep{{From: missing, To: one.Commit}, {From: base, To: missing}, {To: missing}} {
		got, err = r.Store.Changed(context.Background(), r.Dir, append([]thread.FileStep{bad}, steps...))
		if err != nil || len(got) != 6 || fmt.Sprint(got[1:]) != want || len(got[0]) > 0 {
			t.Errorf("with %v: %v, %v", bad, got, err)
		}
	}
	if _, err := r.Store.Changed(context.Background(), r.Dir, []thread.FileStep{{From: "HEAD", To: "--all"}}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("names that are no commits: %v", err)
	}
}
