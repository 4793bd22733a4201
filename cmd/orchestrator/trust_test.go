package main

import (
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestRepositoryProgramsAreAccepted: a fork's work is not merged past a filter that only the repository's own
// configuration knows, until the person accepts it as it is.
func TestRepositoryProgramsAreAccepted(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.says(exitNotFound, []string{"nothing to trust"}, "trust", "--git")
	name := r.demo()
	r.turn(name, "write a.txt: words")
	fork := get[thread.Thread](r, "fork", "other way", "-t", name).Name
	r.turn(fork, "write b.txt: more words")
	r.git("config", "filter.up.clean", "tr a-z A-Z")
	r.write(".git/info/attributes", "*.txt filter=up\n")
	r.says(exitError, []string{"filter.up.clean", "not trusted", "b.txt", "trust --git"}, "finish", fork)
	r.says(exitError, []string{"not trusted"}, "push", fork)
	out := r.ok("trust", "--git")
	for _, want := range []string{"filter.up.clean = tr a-z A-Z", "accepted"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	r.ok("merge", fork)
	if got := r.git("show", "HEAD:b.txt"); !strings.Contains(got, "MORE WORDS") {
		t.Errorf("b.txt is %q", got)
	}
}
