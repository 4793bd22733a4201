package memory_test

import (
	"testing"
	"time"

	"orchestrator/checkpoint/worktest"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread/work"
)

func TestConformance(t *testing.T) {
	worktest.Run(t, worktest.Harness{
		Open: func(_ *testing.T, now func() time.Time) work.Store { return memory.New(now) },
		Spoil: func(t *testing.T, s work.Store, id work.ID, seq int64) {
			m, ok := s.(*memory.Store)
			if !ok {
				t.Fatalf("%T", s)
			}
			m.Spoil(id, seq)
		},
	})
}
