package postgres_test

import (
	"os"
	"testing"
	"time"

	"orchestrator/checkpoint/worktest"
)

// TestWorkFigures prints how long each question takes: of 500 executions, or of 100,000 with 2 million events if MEASURE is set.
func TestWorkFigures(t *testing.T) {
	executions := 500
	if os.Getenv("MEASURE") != "" {
		executions = 100_000
	}
	s := open(t, unique(t), "h").Work(nil)
	begin := time.Now()
	worktest.Large(t, s, executions)
	sql(t, "ANALYZE")
	t.Logf("%d executions loaded in %v", executions, time.Since(begin))
	worktest.Ask(t, s, executions)
}
