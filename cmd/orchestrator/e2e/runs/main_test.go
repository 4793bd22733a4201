package runs

import (
	"os"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

func TestMain(m *testing.M) {
	if os.Getenv(spendVariable) != "" {
		os.Exit(spends())
	}
	os.Exit(e2e.TestMain(m))
}
