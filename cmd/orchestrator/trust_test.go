package main

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestRepositoryProgramsAreAccepted: a fork's work is not merged past a filter that only the repository's own
// configuration knows, until the person accepts it as it is.
func TestRepositoryProgramsAreAccepted(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.says(exitcode.NotFound, []string{"nothing to trust"}, "trust", "--git")
	name := r.demo()
	r.turn(name, "write a.txt: words")
	fork := get[thread.Thread](r, "fork", "other way", "-t", name).Name
	r.turn(fork, "write b.txt: more words")
	r.git("config", "filter.up.clean", "tr a-z A-Z")
	r.write(".git/info/attributes", "*.txt filter=up\n")
	r.says(exitcode.Error, []string{"filter.up.clean", "not trusted", "b.txt", "trust --git"}, "finish", fork)
	r.says(exitcode.Error, []string{"not trusted"}, "push", fork)
	out := r.ok("trust", "--git", "--yes")
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

// TestTrustShowsFirst: each kind of trust shows what it would accept and accepts nothing by itself; a hash accepts exactly
// what was shown.
func TestTrustShowsFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("tools/setup.sh", "true\n")
	r.write(".orchestrator.toml", "setup = \"sh tools/setup.sh\"\n")
	r.git("config", "filter.up.clean", "tr a-z A-Z")
	for _, c := range []struct {
		args   []string
		shows  string
		change func()
	}{
		{[]string{"trust"}, "sh tools/setup.sh", func() { r.write("tools/setup.sh", "echo other\n") }},
		{[]string{"trust"}, "sh tools/setup.sh", func() { r.write(".orchestrator.toml", "setup = \"sh tools/setup.sh --all\"\n") }},
		{[]string{"trust", "--git"}, "filter.up.clean = tr a-z A-Z", func() { r.git("config", "filter.up.clean", "tr a-z B-Z") }},
		{[]string{"trust", "--folder"}, r.project, nil},
	} {
		seen := r.run(c.args...)
		_, rest, ok := strings.Cut(seen.stderr, "\nhash ")
		hash, _, _ := strings.Cut(rest, "\n")
		if seen.code == 0 || !ok || !strings.Contains(seen.stderr, c.shows) || !strings.Contains(seen.stderr, "--hash "+hash) {
			t.Fatalf("%q: exit %d\n%s%s", c.args, seen.code, seen.stdout, seen.stderr)
		}
		if c.change != nil {
			c.change()
			stale := r.run(append(c.args, "--hash", hash)...)
			if stale.code == 0 || !strings.Contains(stale.stderr, "not what you have seen") {
				t.Errorf("%q with an old hash: exit %d\n%s", c.args, stale.code, stale.stderr)
			}
			_, rest, _ = strings.Cut(stale.stderr, "\nhash ")
			hash, _, _ = strings.Cut(rest, "\n")
		}
		r.ok(append(c.args, "--hash", hash)...)
	}
	r.says(exitcode.Usage, []string{"cannot be combined"}, "trust", "--yes", "--hash", "x")
}
