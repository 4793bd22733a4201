package worktree

import (
	"context"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// lastLogged returns the last commit of a ref in its reflog, "" if there is none: "old new name <mail> time\ttext".
func lastLogged(repo *repository.Repository, ref string) string {
	b, err := private.ReadRegular(filepath.Join(repo.Git.Common, "logs", filepath.FromSlash(ref)), 16<<20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(b), "\x00\n"), "\n")
	f := strings.Fields(lines[len(lines)-1])
	if len(f) < 2 || !git.IsObjectID(f[1]) {
		return ""
	}
	return f[1]
}

// newest returns the commit of a thread's last snapshot, "" if it has none.
func newest(ctx context.Context, repo *repository.Repository, id thread.ID) (string, error) {
	refs, err := repo.Refs(ctx, repository.Namespace+string(id)+"/")
	if err != nil {
		return "", err
	}
	at, last := "", 0
	for ref, commit := range refs {
		if n := repository.RefNumber(ref); n > last && ref == repository.RefName(id, n) {
			at, last = commit, n
		}
	}
	return at, nil
}

// hasRef returns a function that reports whether a ref resolves.
func hasRef(ctx context.Context, repo *repository.Repository) func(ref string) bool {
	return func(ref string) bool {
		at, err := repo.Resolve(ctx, ref)
		return err == nil && at != ""
	}
}
