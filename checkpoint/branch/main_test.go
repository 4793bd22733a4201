package branch_test

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("BRANCH_DIR") != "" {
		child()
		os.Exit(0)
	}
	os.Exit(m.Run())
}
