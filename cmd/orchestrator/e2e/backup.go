package e2e

import (
	"os"
	"strings"
)

// LoseState ends the server and removes all that it ever wrote, in the repository too.
func (r *Rig) LoseState() {
	r.T.Helper()
	r.Ok("stop", "--force")
	if err := os.RemoveAll(r.StateDir()); err != nil {
		r.T.Fatal(err)
	}
	for _, ref := range strings.Fields(r.Git("for-each-ref", "--format=%(refname)", "refs/orchestrator", "refs/heads/orchestrator")) {
		r.Git("update-ref", "-d", ref)
	}
	r.Git("worktree", "prune")
	r.Git("reflog", "expire", "--expire=all", "--all")
	r.Git("gc", "-q", "--prune=now")
}
