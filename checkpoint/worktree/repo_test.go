package worktree_test

import (
	"testing"

	"orchestrator/checkpoint/snapshot/snapshottest"
)

// repo is a repository with a store, in folders of its own.
type repo struct{ *snapshottest.Repo }

func newRepo(t snapshottest.T, top string) *repo {
	t.Helper()
	return &repo{snapshottest.New(t, top)}
}

func isolate(t *testing.T) *repo {
	t.Helper()
	return newRepo(t, t.TempDir())
}
