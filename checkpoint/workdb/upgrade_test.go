package workdb_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// older makes a file of the first version with executions of which the second one's record is damaged.
func older(t *testing.T, path string, executions, events int) []work.Execution {
	t.Helper()
	c, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=OFF")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ok := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(c.Exec(workdb.FirstVersion))
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var all []work.Execution
	for i := range executions {
		x := work.Execution{ID: work.ID(fmt.Sprintf("%016x", i)), Name: work.Numbered(int64(i + 1)), Lost: work.PolicyAsk,
			Thread: thread.ID(fmt.Sprintf("t%015x", i/2)), Agent: "demo", State: work.Completed, Attempt: 1, Fence: 1,
			Created: time.Unix(int64(i), 0).UTC(), Answer: fmt.Sprintf("an answer with number%d", i),
			Usage: thread.Usage{Input: 1, CostUSD: 0.5, Priced: true}}
		if i == executions-1 {
			x.State = work.Queued
		}
		ok(nil, workdb.RawFirst(tx, int64(i+1), x, events))
		all = append(all, x)
	}
	ok(tx.Exec("UPDATE execution SET doc = x'00ff' WHERE n = 2"))
	ok(tx.Exec("UPDATE number SET last = ?", executions+5))
	ok(nil, tx.Commit())
	return all
}

// TestUpgrade opens a file of the first version: all of it is there, is found by what it says, and is counted; one whose
// record is damaged hurts no other. A start that is killed on its way is finished by the next one.
func TestUpgrade(t *testing.T) {
	executions := 1200
	if os.Getenv("MEASURE") != "" {
		executions = 20_000
	}
	path := filepath.Join(t.TempDir(), "work.db")
	all := older(t, path, executions, 3)
	for _, place := range []string{"workdb.migrate.step", "workdb.commit.before:2", "workdb.commit.after:2"} {
		live(t, path, 0, "ORCHESTRATOR_FAILPOINT="+place)
	}
	begin := time.Now()
	s := open(t, path, workdb.Options{})
	t.Logf("%d executions: the first start takes %v", executions, time.Since(begin))
	if s.Report() != "" {
		t.Fatal(s.Report())
	}
	ctx := t.Context()
	for i, x := range all {
		if i%97 != 1 || i == 1 {
			continue
		}
		got, err := s.Execution(ctx, x.Name)
		if err != nil || got != x {
			t.Fatalf("%+v: %v", got, err)
		}
		if events, err := s.Events(ctx, x.ID, 0, 0); err != nil || len(events) != 3 {
			t.Fatalf("%s: %d events: %v", x.Name, len(events), err)
		}
		found, err := s.Recorded(ctx, work.RecordQuery{Words: []string{fmt.Sprint("number", i)}})
		if err != nil || len(found) != 1 || found[0].ID != x.ID {
			t.Fatalf("number%d: %v: %v", i, found, err)
		}
	}
	if _, err := s.Execution(ctx, "exec-002"); !errors.Is(err, thread.ErrDamaged) {
		t.Error(err)
	}
	list, err := s.Executions(ctx, work.Query{Before: all[2].ID})
	if err != nil || len(list) != 2 || !list[0].Broken() && list[0].Reason == "" {
		t.Errorf("%+v: %v", list, err)
	}
	stats, err := s.Stats(ctx, work.StatsQuery{By: work.StatByAgent})
	runs := 0
	for _, v := range stats {
		runs += v.Runs
	}
	if err != nil || runs != executions-1 {
		t.Errorf("%d: %v", runs, err)
	}
	if open, err := s.Open(ctx); err != nil || len(open) != 1 {
		t.Errorf("%d open: %v", len(open), err)
	}
	if x := add(t, s, "t1"); x.Name != work.Numbered(int64(executions+6)) {
		t.Errorf("%s", x.Name)
	}
	if n, err := s.Purge(ctx, []thread.ID{all[0].Thread}); err != nil || n != 2 {
		t.Errorf("purged %d: %v", n, err)
	}
}

// TestRescueOlder: a damaged file of the first version is set aside too, and what can be read of it is copied.
func TestRescueOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work.db")
	all := older(t, path, 200, 2)
	if err := os.WriteFile(path+"-suspect", []byte("found before"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, workdb.Options{})
	list, err := s.Recorded(t.Context(), work.RecordQuery{Limit: 1000})
	if err != nil || len(list) != len(all) || s.Report() == "" {
		t.Errorf("%d of %d, %q: %v", len(list), len(all), s.Report(), err)
	}
	if x := add(t, s, "t1"); x.Name != "exec-206" {
		t.Errorf("%s", x.Name)
	}
}

// TestUpgradeToPlans opens a file of version 3, which has no tasks of plans: what it has stays, plans are kept in it from
// then on, also where the first start is killed on its way.
func TestUpgradeToPlans(t *testing.T) {
	path, _, all := filledRecord(t, 0)
	outside(t, path, workdb.WithoutPlans+"PRAGMA user_version = 3")
	live(t, path, 0, "ORCHESTRATOR_FAILPOINT=workdb.migrate.step")
	s := open(t, path, workdb.Options{})
	if s.Report() != "" {
		t.Fatal(s.Report())
	}
	if got := content(t, s); !reflect.DeepEqual(got, all) {
		t.Errorf("%d rows, %d before", len(got), len(all))
	}
	if _, at := plantest.Example(t, s.Plans()); at.Name != "task-001" {
		t.Error(at.Name)
	}
}
