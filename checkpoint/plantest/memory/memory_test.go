package memory_test

import (
	"testing"
	"time"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/plantest/memory"
	"orchestrator/thread/plan"
)

func TestConformance(t *testing.T) {
	plantest.Run(t, plantest.Harness{Open: func(_ *testing.T, now func() time.Time) plan.Store { return memory.New(now) }})
}
