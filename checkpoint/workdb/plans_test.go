package workdb_test

import (
	"path/filepath"
	"testing"
	"time"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread/plan"
)

// plansOf is the store of plans of a file that is open.
type plansOf struct {
	*workrow.Plans
	file *workdb.Store
}

func openPlans(t testing.TB, path string, o workdb.Options) plansOf {
	t.Helper()
	s := open(t, path, o)
	return plansOf{s.Plans(), s}
}

func TestPlans(t *testing.T) {
	fileOf := func(t *testing.T, s plan.Store) *workdb.Store {
		t.Helper()
		own, ok := s.(plansOf)
		if !ok {
			t.Fatalf("%T", s)
		}
		return own.file
	}
	plantest.Run(t, plantest.Harness{
		Open: func(t *testing.T, now func() time.Time) plan.Store {
			return openPlans(t, filepath.Join(t.TempDir(), "state", "work.db"), workdb.Options{Now: now})
		},
		Reopen: func(t *testing.T, s plan.Store, now func() time.Time) plan.Store {
			if err := fileOf(t, s).Close(); err != nil {
				t.Fatal(err)
			}
			return openPlans(t, fileOf(t, s).Path(), workdb.Options{Now: now})
		},
		Second: func(t *testing.T, s plan.Store) plan.Store {
			return openPlans(t, fileOf(t, s).Path(), workdb.Options{})
		},
	})
}
