package waves

import (
	"os"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.TestMain(m)) }
