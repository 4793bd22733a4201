package main

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestCommitAndMerge merges into a folder with work that is not committed, in the same file and in others.
func TestCommitAndMerge(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("parent")
	r.turn(name, "list files")
	fork := get[thread.Status](r, "fork", "better", "-t", name)
	r.turn(fork.Name, "write hello.go: package main")
	r.write("hello.go", "package main\n\nfunc main() { println(\"mine\") }\n")
	r.write("mine.txt", "mine\n")
	offer := []string{"hello.go", "mine.txt", "merge " + fork.Name + " --commit-parent"}
	r.says(exitcode.Refused, offer, "merge", fork.Name)
	r.says(exitcode.Refused, offer, "merge", fork.Name, "--dry-run")
	head := r.git("rev-parse", "HEAD")
	if out := r.ok("merge", fork.Name, "--dry-run", "--commit-parent"); !strings.Contains(out, "would be committed first") || !strings.Contains(out, "mine.txt") {
		t.Errorf("the dry run:\n%s", out)
	}
	if r.git("rev-parse", "HEAD") != head || r.read("mine.txt") != "mine\n" || !strings.Contains(r.git("status", "--porcelain"), "?? mine.txt") {
		t.Error("a dry run committed something")
	}
	res := r.run("merge", fork.Name, "--commit-parent")
	if res.code != exitcode.Refused || !strings.Contains(res.stdout, "committed first") || !strings.Contains(res.stdout, "conflicts in") {
		t.Fatalf("exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	r.ok("merge", fork.Name, "--abort")
	if got := r.read("hello.go"); !strings.Contains(got, "mine") || strings.TrimSpace(r.git("status", "--porcelain")) != "" {
		t.Errorf("after the abort: %q, %s", got, r.git("status", "--porcelain"))
	}
	r.git("revert", "--no-edit", "HEAD")
	r.write("other.txt", "mine\n")
	report := get[thread.MergeReport](r, "finish", fork.Name, "--commit-parent")
	if !report.Finished || !slices.Equal(report.Committed, []string{"other.txt"}) {
		t.Errorf("the merge: %+v", report)
	}
}
