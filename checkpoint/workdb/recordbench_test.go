package workdb_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/checkpoint/worktest"
	"orchestrator/thread"
)

// TestRecordFigures prints how long each question takes, and how long a start does: of 500 executions, or of 100,000 with
// 2 million events if MEASURE is set.
func TestRecordFigures(t *testing.T) {
	executions := 500
	if os.Getenv("MEASURE") != "" {
		executions = 100_000
	}
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	begin := time.Now()
	worktest.Large(t, s, executions)
	t.Logf("%d executions loaded in %v", executions, time.Since(begin))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	s = open(t, path, workdb.Options{})
	t.Logf("%s: open %v", thread.Bytes(info.Size()), time.Since(begin))
	worktest.Ask(t, s, executions)
}
