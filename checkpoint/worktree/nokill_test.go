//go:build !failpoint

package worktree_test

import "testing"

// TestKilled stands for the tests of kill_test.go in builds that cannot be killed.
func TestKilled(t *testing.T) {
	t.Skip("NOT RUN: kill -9 at each step needs a build with failpoints: go test -tags failpoint ./checkpoint/worktree (KILL_ROUNDS=50 for the long run)")
}
