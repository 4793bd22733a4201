package e2e

import (
	"os"
)

// SignalRounds is how often each signal is sent; 50 with ORCHESTRATOR_TEST_SIGNALS set.
func SignalRounds() int {
	if os.Getenv("ORCHESTRATOR_TEST_SIGNALS") != "" {
		return 50
	}
	return 3
}
