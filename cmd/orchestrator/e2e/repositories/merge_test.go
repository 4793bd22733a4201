package repositories

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestCommitAndMerge merges into a folder with work that is not committed, in the same file and in others.
func TestCommitAndMerge(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("parent")
	r.Turn(name, "list files")
	fork := e2e.Get[thread.Status](r, "fork", "better", "-t", name)
	r.Turn(fork.Name, "write hello.go: package main")
	r.Write("hello.go", "package main\n\nfunc main() { println(\"mine\") }\n")
	r.Write("mine.txt", "mine\n")
	offer := []string{"hello.go", "mine.txt", "merge " + fork.Name + " --commit-parent"}
	r.Says(exitcode.Refused, offer, "merge", fork.Name)
	r.Says(exitcode.Refused, offer, "merge", fork.Name, "--dry-run")
	head := r.Git("rev-parse", "HEAD")
	if out := r.Ok("merge", fork.Name, "--dry-run", "--commit-parent"); !strings.Contains(out, "would be committed first") || !strings.Contains(out, "mine.txt") {
		t.Errorf("the dry run:\n%s", out)
	}
	if r.Git("rev-parse", "HEAD") != head || r.Read("mine.txt") != "mine\n" || !strings.Contains(r.Git("status", "--porcelain"), "?? mine.txt") {
		t.Error("a dry run committed something")
	}
	res := r.Run("merge", fork.Name, "--commit-parent")
	if res.Code != exitcode.Refused || !strings.Contains(res.Stdout, "committed first") || !strings.Contains(res.Stdout, "conflicts in") {
		t.Fatalf("exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	r.Ok("merge", fork.Name, "--abort")
	if got := r.Read("hello.go"); !strings.Contains(got, "mine") || strings.TrimSpace(r.Git("status", "--porcelain")) != "" {
		t.Errorf("after the abort: %q, %s", got, r.Git("status", "--porcelain"))
	}
	r.Git("revert", "--no-edit", "HEAD")
	r.Write("other.txt", "mine\n")
	report := e2e.Get[thread.MergeReport](r, "finish", fork.Name, "--commit-parent")
	if !report.Finished || !slices.Equal(report.Committed, []string{"other.txt"}) {
		t.Errorf("the merge: %+v", report)
	}
}
