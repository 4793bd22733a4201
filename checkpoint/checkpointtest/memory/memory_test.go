package memory_test

import (
	"testing"

	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

func TestConformance(t *testing.T) {
	checkpointtest.Run(t, checkpointtest.Harness{
		Open: func(*testing.T) thread.Store { return memory.New() },
		Spoil: func(t *testing.T, s thread.Store, id thread.CheckpointID) {
			m, ok := s.(*memory.Store)
			if !ok {
				t.Fatalf("%T", s)
			}
			m.Spoil(id)
		},
	})
}
