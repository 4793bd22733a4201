package postgres_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/plantest"
)

// TestPlanFigures prints what a task of 200 agents takes, or of 10,000 if MEASURE is set, beside bare commits of the same server.
func TestPlanFigures(t *testing.T) {
	agents := 200
	if os.Getenv("MEASURE") != "" {
		agents = 10_000
	}
	s := open(t, unique(t), "h").Work(nil)
	c, err := pgx.Connect(t.Context(), server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	if _, err := c.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS bare (n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, doc BYTEA)"); err != nil {
		t.Fatal(err)
	}
	row := make([]byte, 1000)
	plantest.Figures(t, s.Plans(), agents, func() {
		if _, err := c.Exec(t.Context(), "INSERT INTO bare (doc) VALUES ($1)", row); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPlanYear asks a store with 200 tasks that have ended, or 36,500 if MEASURE is set.
func TestPlanYear(t *testing.T) {
	tasks := 200
	if os.Getenv("MEASURE") != "" {
		tasks = 36_500
	}
	plantest.Year(t, open(t, unique(t), "h").Work(nil).Plans(), tasks)
}
