package verbs

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestRepositoryProgramsAreAccepted: a fork's work is not merged past a filter that only the repository's own
// configuration knows, until the person accepts it as it is.
func TestRepositoryProgramsAreAccepted(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Says(exitcode.NotFound, []string{"nothing to trust"}, "trust", "--git")
	name := r.Demo()
	r.Turn(name, "write a.txt: words")
	fork := e2e.Get[thread.Thread](r, "fork", "other way", "-t", name).Name
	r.Turn(fork, "write b.txt: more words")
	r.Git("config", "filter.up.clean", "tr a-z A-Z")
	r.Write(".git/info/attributes", "*.txt filter=up\n")
	r.Says(exitcode.Error, []string{"filter.up.clean", "not trusted", "b.txt", "trust --git"}, "finish", fork)
	r.Says(exitcode.Error, []string{"not trusted"}, "push", fork)
	out := r.Ok("trust", "--git", "--yes")
	for _, want := range []string{"filter.up.clean = tr a-z A-Z", "accepted"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	r.Ok("merge", fork)
	if got := r.Git("show", "HEAD:b.txt"); !strings.Contains(got, "MORE WORDS") {
		t.Errorf("b.txt is %q", got)
	}
}

// TestTrustShowsFirst: each kind of trust shows what it would accept and accepts nothing by itself; a hash accepts exactly
// what was shown.
func TestTrustShowsFirst(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write("tools/setup.sh", "true\n")
	r.Write(".orchestrator.toml", "setup = \"sh tools/setup.sh\"\n")
	r.Git("config", "filter.up.clean", "tr a-z A-Z")
	for _, c := range []struct {
		args   []string
		shows  string
		change func()
	}{
		{[]string{"trust"}, "sh tools/setup.sh", func() { r.Write("tools/setup.sh", "echo other\n") }},
		{[]string{"trust"}, "sh tools/setup.sh", func() { r.Write(".orchestrator.toml", "setup = \"sh tools/setup.sh --all\"\n") }},
		{[]string{"trust", "--git"}, "filter.up.clean = tr a-z A-Z", func() { r.Git("config", "filter.up.clean", "tr a-z B-Z") }},
		{[]string{"trust", "--folder"}, r.Project, nil},
	} {
		seen := r.Run(c.args...)
		_, rest, ok := strings.Cut(seen.Stderr, "\nhash ")
		hash, _, _ := strings.Cut(rest, "\n")
		if seen.Code == 0 || !ok || !strings.Contains(seen.Stderr, c.shows) || !strings.Contains(seen.Stderr, "--hash "+hash) {
			t.Fatalf("%q: exit %d\n%s%s", c.args, seen.Code, seen.Stdout, seen.Stderr)
		}
		if c.change != nil {
			c.change()
			stale := r.Run(append(c.args, "--hash", hash)...)
			if stale.Code == 0 || !strings.Contains(stale.Stderr, "not what you have seen") {
				t.Errorf("%q with an old hash: exit %d\n%s", c.args, stale.Code, stale.Stderr)
			}
			_, rest, _ = strings.Cut(stale.Stderr, "\nhash ")
			hash, _, _ = strings.Cut(rest, "\n")
		}
		r.Ok(append(c.args, "--hash", hash)...)
	}
	r.Says(exitcode.Usage, []string{"cannot be combined"}, "trust", "--yes", "--hash", "x")
}
