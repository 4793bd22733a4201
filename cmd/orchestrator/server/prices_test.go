package server

import (
	"math"
	"testing"

	"orchestrator/contextmgr/models"
	"orchestrator/thread"
)

// TestKnownCost: a thread that bypasses the gateway is priced by all that its agent wrote down.
func TestKnownCost(t *testing.T) {
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	u := thread.Usage{Input: 1e6, CacheRead: 1e6, CacheWrite: 2e6, CacheWriteHour: 1e6, Output: 1e6}
	if usd, ok := (knownModels{table}).Cost("claude-sonnet-4-6", u); !ok || math.Abs(usd-(3+0.3+3.75+6+15)) > 1e-9 {
		t.Errorf("cost %v, %v", usd, ok)
	}
}
