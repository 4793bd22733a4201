package workdb_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestNoScans: whatever is read is found by an index, and comes in its order.
func TestNoScans(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "work.db"), workdb.Options{})
	plans, err := s.Explained(t.Context())
	if err != nil || len(plans) < 10 {
		t.Fatalf("%d plans: %v", len(plans), err)
	}
	few := []string{"open", "tasks", "outputs of", "outputs of some", "outputs path", "allocations"} // what may be sorted
	best := plans["best bundles"]
	delete(plans, "best bundles")
	if !strings.Contains(best, "SCAN f USING COVERING INDEX work_fact_bundle") || !strings.Contains(best, "SEARCH f USING INDEX work_fact_bundle (bundle=?)") {
		t.Errorf("the best bundles: %s", best)
	}
	for name, plan := range plans {
		plan = strings.ReplaceAll(plan, "SCAN newest\n", "") // what was found of each type
		sorts := strings.Contains(plan, "TEMP B-TREE") && !slices.Contains(few, name)
		if strings.Contains(plan, "SCAN") || !strings.Contains(plan, "SEARCH") || sorts {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
	if !strings.Contains(plans["of both"], "work_fact_thread") {
		t.Errorf("a thread's in a state: %s", plans["of both"])
	}
}

// fill makes a long project's file: most executions have ended, and the last hundred have not.
func fill(t testing.TB, path string, executions, events int) {
	t.Helper()
	s := open(t, path, workdb.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=OFF")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range executions {
		x := work.Execution{ID: work.ID(fmt.Sprintf("%016x", i)), Name: work.Numbered(int64(i + 1)), Lost: work.PolicyAsk,
			Thread: thread.ID(fmt.Sprintf("t%015x", i/2)), Agent: "demo", State: work.Completed, Attempt: 1, Fence: 1,
			Prompt: thread.PromptID(fmt.Sprintf("%016x", i)), Created: time.Unix(int64(i), 0).UTC(),
			Answer: strings.Repeat("the answer in some words ", 20)}
		if i >= executions-100 {
			x.State = work.Queued
		}
		if err := workdb.Raw(tx, int64(i+1), x, events/executions); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec("INSERT INTO work_number (prefix, last) VALUES ('exec', ?)", executions); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(workdb.WithoutPlans + "PRAGMA user_version = 2"); err != nil { // what they are searched by is not derived yet
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	s = open(t, path, workdb.Options{})
	t.Logf("the first start after an older version: %v", time.Since(begin))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFigures prints what a row costs beside a bare commit of the same run, and what the file of a long project takes to
// open and list: 200 executions with 20,000 events, or 20,000 with 2 million if MEASURE is set.
func TestFigures(t *testing.T) {
	executions := 200
	if os.Getenv("MEASURE") != "" {
		executions = 20_000
	}
	path := filepath.Join(t.TempDir(), "work.db")
	fill(t, path, executions, 100*executions)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	s := open(t, path, workdb.Options{})
	t.Logf("%d executions, %d events, %s: open %v", executions, 100*executions, thread.Bytes(info.Size()), time.Since(begin))
	ctx := t.Context()
	for name, list := range map[string]func() (int, error){
		"list": func() (int, error) { x, err := s.Executions(ctx, work.Query{}); return len(x), err },
		"queued": func() (int, error) {
			x, err := s.Executions(ctx, work.Query{States: []work.State{work.Queued, work.Running}})
			return len(x), err
		},
		"old": func() (int, error) {
			x, err := s.Executions(ctx, work.Query{Before: work.ID(fmt.Sprintf("%016x", 100)), States: []work.State{work.Completed}})
			return len(x), err
		},
		"open": func() (int, error) { x, err := s.Open(ctx); return len(x), err },
	} {
		took := median(20, func() {
			if n, err := list(); err != nil || n != 100 {
				t.Fatalf("%s: %d: %v", name, n, err)
			}
		})
		t.Logf("%s of 100: p50 %v", name, took)
	}
	if executions >= 20_000 {
		begin = time.Now()
		if err := s.Check(ctx); err != nil {
			t.Fatal(err)
		}
		t.Logf("check of all of it: %v", time.Since(begin))
	}
	figures(t, s)
}

// figures compares the steps of an execution with a bare commit, in turns.
func figures(t *testing.T, s work.Store) {
	bare, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "bare.db")+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	bare.SetMaxOpenConns(1)
	if _, err := bare.Exec("CREATE TABLE x (n INTEGER PRIMARY KEY, doc BLOB)"); err != nil {
		t.Fatal(err)
	}
	doc := make([]byte, 800)
	took := map[string][]time.Duration{}
	timed := func(name string, do func() error) {
		begin := time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		took[name] = append(took[name], time.Since(begin))
	}
	rounds := 60
	if n, err := strconv.Atoi(os.Getenv("STORE_ROUNDS")); err == nil {
		rounds = n
	}
	for range rounds {
		timed("bare", func() error { _, err := bare.Exec("INSERT INTO x (doc) VALUES (?)", doc); return err })
		var x work.Execution
		timed("add", func() error { x = add(t, s, "t1"); return nil })
		timed("claim", func() (err error) { x, err = s.Claim(t.Context(), x.ID, "s", time.Now()); return err })
		timed("running", func() (err error) {
			x, err = s.Change(t.Context(), x.ID, x.Fence, func(x *work.Execution) error { x.State = work.Running; return nil })
			return err
		})
		timed("event", func() error {
			return s.Append(t.Context(), x.ID, x.Fence, work.Event{Kind: "text", Text: "some words"})
		})
	}
	p50 := func(name string) time.Duration {
		slices.Sort(took[name])
		return took[name][len(took[name])/2]
	}
	for _, name := range []string{"add", "claim", "running", "event"} {
		t.Logf("%s: p50 %v, %.2f x a bare commit (%v)", name, p50(name), float64(p50(name))/float64(p50("bare")), p50("bare"))
	}
}

func median(n int, do func()) time.Duration {
	var all []time.Duration
	for range n {
		begin := time.Now()
		do()
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all[n/2]
}
