package kills

import (
	"fmt"
	"slices"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestKilledOnPostgres is TestKilledAtFailpoints with PostgreSQL as the store: at one step of each use case, and
// around a commit; at all steps when more rounds are asked for.
func TestKilledOnPostgres(t *testing.T) {
	rounds := e2e.FromEnv(t, "FAILPOINT_ROUNDS", 1)
	few := []string{"thread.fork.stored", "thread.rewind.restored", "thread.merge.merged", "archive.import.record"}
	for _, k := range killPoints() {
		if rounds == 1 && !slices.Contains(few, k.name) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for round := range rounds {
				r := e2e.NewRig(t)
				r.KeepIn(e2e.Database.Database(t, "killed"))
				killedAt(r, k, round)
			}
		})
	}
	for _, name := range []string{"postgres.commit.before", "postgres.commit.after"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			r.KeepIn(e2e.Database.Database(t, "killed"))
			for round := range 3 * rounds {
				killedInCommit(r, fmt.Sprintf("%s:%d", name, 2+3*(round%5)))
			}
		})
	}
}

// killedInCommit kills the server around one of the commits of a new thread's first turn. What stood before stands
// after it, and every thread that is there can be gone on with.
func killedInCommit(r *e2e.Rig, point string) {
	r.T.Helper()
	turns := map[string]int{}
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		turns[s.Name] = s.Turn
	}
	r.Ok("stop")
	healthy := r.Env
	r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+point)
	if res := r.Run("run", "-a", "demo", "--permission-mode", "auto", "list files"); res.Code == 0 {
		r.T.Logf("%s: the turn takes fewer commits", point)
	}
	r.Env = healthy
	r.Run("stop", "--force") // one that was not killed is not to be killed later
	whole(r, point, nil)
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		if s.Turn <= turns[s.Name] {
			r.T.Errorf("%s: %s stands at turn %d after turn %d", point, s.Name, s.Turn, turns[s.Name])
		}
		delete(turns, s.Name)
	}
	for name := range turns {
		r.T.Errorf("%s: %s is gone", point, name)
	}
}
