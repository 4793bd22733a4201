package memory_test

import (
	"testing"

	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

func TestConformance(t *testing.T) {
	checkpointtest.Run(t, checkpointtest.Harness{Open: func(*testing.T) thread.Store { return memory.New() }})
}
