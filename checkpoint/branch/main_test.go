package branch_test

import (
	"os"
	"testing"
)

// child does the work of a process that is to be killed; nil in builds without failpoints.
var child func()

func TestMain(m *testing.M) {
	if os.Getenv("BRANCH_DIR") != "" {
		child()
		os.Exit(0)
	}
	os.Exit(m.Run())
}
