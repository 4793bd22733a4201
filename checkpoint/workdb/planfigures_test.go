package workdb_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
)

// TestPlanFigures prints what a task of 200 agents takes, or of 10,000 if MEASURE is set, beside bare commits of another file
// of the same disk.
func TestPlanFigures(t *testing.T) {
	agents := 200
	if os.Getenv("MEASURE") != "" {
		agents = 10_000
	}
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	c, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "bare.db")+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec("CREATE TABLE bare (n INTEGER PRIMARY KEY, doc BLOB)"); err != nil {
		t.Fatal(err)
	}
	row := []byte(strings.Repeat("x", 1000))
	plantest.Figures(t, s.Plans(), agents, func() {
		if _, err := c.Exec("INSERT INTO bare (doc) VALUES (?)", row); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPlanYear asks a store with 500 tasks that have ended, or 36,500 if MEASURE is set.
func TestPlanYear(t *testing.T) {
	tasks := 500
	if os.Getenv("MEASURE") != "" {
		tasks = 36_500
	}
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	if err := s.Hasty(t.Context()); err != nil {
		t.Fatal(err)
	}
	plantest.Year(t, s.Plans(), tasks)
}

// TestPlanNoScans: whatever is read of tasks is found by an index, and what is long comes in its order.
func TestPlanNoScans(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	plans, err := s.Explain(t.Context(), s.Store.Plans().Statements())
	if err != nil || len(plans) < 10 {
		t.Fatalf("%d plans: %v", len(plans), err)
	}
	for name, plan := range plans {
		plan = strings.ReplaceAll(plan, "SCAN plan_armed", "SEARCH plan_armed") // they are few
		sorts := strings.Contains(plan, "TEMP B-TREE") && name != "readers" && name != "armed" && name != "of agent"
		if strings.Contains(plan, "SCAN") || !strings.Contains(plan, "SEARCH") || sorts {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
	if !strings.HasPrefix(plans["readers"], "SEARCH e USING PRIMARY KEY (task=? AND upstream=?)") {
		t.Errorf("who reads a node is looked for among all: %s", plans["readers"])
	}
	if !strings.Contains(plans["take"], "plan_task_waits") || !strings.Contains(plans["busy"], "plan_task_plan") {
		t.Errorf("%s\n%s", plans["take"], plans["busy"])
	}
}
