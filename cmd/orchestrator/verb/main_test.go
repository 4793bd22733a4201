package verb

import (
	"os"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

func TestMain(m *testing.M) {
	os.Exit(e2e.TestMain(m, e2e.Mode{Variable: drawVariable, Run: drawAndPanic}, e2e.Mode{Variable: crashVariable, Run: crashInto}))
}
