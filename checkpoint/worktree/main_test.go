package worktree_test

import (
	"os"
	"testing"
)

// child does a job that a test of another process gave us; nil in builds without failpoints.
var child func()

func TestMain(m *testing.M) {
	if os.Getenv("SNAPSHOT_JOB") != "" {
		child()
		os.Exit(0)
	}
	os.Exit(m.Run())
}
