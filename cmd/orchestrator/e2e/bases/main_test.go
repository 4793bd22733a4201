// Package bases measures what each real CLI sends before a word is said, with each lever and each profile, and works with
// what is left.
package bases

import (
	"os"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.TestMain(m)) }
