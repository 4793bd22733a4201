package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestWorkUpgrade opens a database of the version before the record: what it has is found by what it says, one whose record
// is damaged hurts no other, numbers go on, and a host fills in its own.
func TestWorkUpgrade(t *testing.T) {
	ctx := t.Context()
	url := server.Database(t, "upgrade")
	if err := postgres.MigrateTo(ctx, url, 4); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := c.Exec(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("SET search_path = orchestrator")
	exec("INSERT INTO project (name) VALUES ('p')")
	exec("INSERT INTO work_number (project, last) VALUES (1, 1300)")
	for i := range 1200 {
		x := work.Execution{ID: work.ID(fmt.Sprintf("%016x", i)), Name: work.Numbered(int64(i + 1)), Lost: work.PolicyAsk, Thread: "t1",
			Agent: "demo", State: work.Completed, Created: time.Unix(int64(i), 0).UTC(), Answer: fmt.Sprint("it is number", i)}
		r, err := workrow.Pack(0, x)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			r.Doc = []byte{0xff, 0}
		}
		exec("INSERT INTO work (project, host, id, name, thread, state, sum, doc) VALUES (1, $1, $2, $3, $4, $5, $6, $7)",
			[]string{"a", "b"}[i%600/599], string(r.ID), r.Name, string(r.Thread), string(r.State), r.Sum, r.Doc)
	}
	at := func(host string) work.Keeper {
		t.Helper()
		s, err := postgres.Open(ctx, url, postgres.Options{Project: "p", Host: host})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s.Work(nil)
	}
	for host, want := range map[string]int{"a": 1198, "b": 2} {
		s := at(host)
		stats, err := s.Stats(ctx, work.StatsQuery{By: work.StatByOrigin})
		if err != nil || len(stats) != 1 || stats[0].Runs != want {
			t.Errorf("%s: %+v: %v", host, stats, err)
		}
	}
	s := at("a")
	if found, err := s.Recorded(ctx, work.RecordQuery{Words: []string{"number777"}}); err != nil || len(found) != 1 || found[0].Name != "exec-778" {
		t.Errorf("%v: %v", found, err)
	}
	if _, err := s.Execution(ctx, "exec-002"); !errors.Is(err, thread.ErrDamaged) {
		t.Error(err)
	}
	if x, err := s.Add(ctx, ask("t1")); err != nil || x.Name != "exec-1301" {
		t.Errorf("%s: %v", x.Name, err)
	}
	if err := postgres.Undo(ctx, url, 4); err != nil {
		t.Error(err)
	}
}
