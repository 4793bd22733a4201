package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/worktest"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

func TestWorkConformance(t *testing.T) {
	server.URL(t)
	var mu sync.Mutex
	type opened struct {
		s       *postgres.Store
		project string
	}
	all := map[work.Store]opened{}
	keep := func(t *testing.T, project string, now func() time.Time) work.Store {
		s := open(t, project, "h")
		w := s.Work(now)
		mu.Lock()
		defer mu.Unlock()
		all[w] = opened{s, project}
		return w
	}
	worktest.Run(t, worktest.Harness{
		Open: func(t *testing.T, now func() time.Time) work.Store { return keep(t, unique(t), now) },
		Reopen: func(t *testing.T, old work.Store, now func() time.Time) work.Store {
			if err := all[old].s.Close(); err != nil {
				t.Fatal(err)
			}
			return keep(t, all[old].project, now)
		},
		Second: func(t *testing.T, s work.Store) work.Store { return keep(t, all[s].project, nil) },
		Spoil: func(t *testing.T, _ work.Store, id work.ID, seq int64) {
			if seq == 0 {
				sql(t, "UPDATE orchestrator.work SET doc = set_byte(doc, 5, get_byte(doc, 5) # 4) WHERE id = $1", string(id))
				return
			}
			sql(t, "ALTER TABLE orchestrator.work_event DISABLE TRIGGER ALL")
			sql(t, `UPDATE orchestrator.work_event SET doc = set_byte(doc, 5, get_byte(doc, 5) # 4)
				WHERE seq = $2 AND work = (SELECT n FROM orchestrator.work WHERE id = $1)`, string(id), seq)
			sql(t, "ALTER TABLE orchestrator.work_event ENABLE TRIGGER ALL")
		},
	})
}

// sql runs a statement from outside of the store.
func sql(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := run(t, query, args...); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, query string, args ...any) error {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(t.Context(), query, args...)
	return errors.Join(err, c.Close(t.Context()))
}

func ask(of thread.ID) work.Execution {
	return work.Execution{ID: thread.NewID[work.ID](), Thread: of, Agent: "demo", Lost: work.PolicyAsk}
}

// TestWorkShared has two servers in one project and one in another: names are the project's, the rest a host's own.
func TestWorkShared(t *testing.T) {
	ctx := t.Context()
	project := unique(t)
	a, b, other := open(t, project, "a").Work(nil), open(t, project, "b").Work(nil), open(t, unique(t), "a").Work(nil)
	var names []string
	for _, s := range []work.Store{a, b, other, a} {
		x, err := s.Add(ctx, ask("t1"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "exec-001 exec-002 exec-001 exec-003" {
		t.Errorf("%s", got)
	}
	own := ask("t1")
	own.Name = "mine"
	if _, err := a.Add(ctx, own); err != nil {
		t.Fatal(err)
	}
	own.ID = thread.NewID[work.ID]()
	if _, err := b.Add(ctx, own); !errors.Is(err, thread.ErrNameTaken) {
		t.Errorf("the same name on another host: %v", err)
	}
	for s, want := range map[work.Store]int{a: 3, b: 1, other: 1} {
		list, err := s.Open(ctx)
		if err != nil || len(list) != want {
			t.Errorf("%d, want %d: %v", len(list), want, err)
		}
	}
	if _, err := b.Execution(ctx, "exec-001"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("another host's: %v", err)
	}
}

// TestWorkEventsStay: the database itself refuses to change an event, and to remove one but for a purge.
func TestWorkEventsStay(t *testing.T) {
	s := open(t, unique(t), "h").Work(nil)
	x, err := s.Add(t.Context(), ask("t1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"UPDATE orchestrator.work_event SET seq = seq + 1", "DELETE FROM orchestrator.work_event",
		"TRUNCATE orchestrator.work_event"} {
		if err := run(t, query); err == nil || !strings.Contains(err.Error(), "neither changed nor removed") {
			t.Errorf("%s: %v", query, err)
		}
	}
	if events, err := s.Events(t.Context(), x.ID, 0, 0); err != nil || len(events) != 1 {
		t.Errorf("%d events: %v", len(events), err)
	}
}

// TestWorkAway: a database that goes away is said to be unreachable, what was acknowledged is there when it is back, and
// a step that was not can be repeated.
func TestWorkAway(t *testing.T) {
	s := open(t, unique(t), "h").Work(nil)
	var all []work.Execution
	for i := range 20 {
		x, err := s.Add(t.Context(), ask(thread.ID(fmt.Sprint("t", i))))
		if err == nil {
			x, err = s.Claim(t.Context(), x.ID, "s", time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	server.Kill(t, syscall.SIGKILL)
	if _, err := s.Claim(t.Context(), all[0].ID, "s", time.Now()); !errors.Is(err, thread.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if _, err := s.Open(t.Context()); !errors.Is(err, thread.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	server.Start(t)
	again := ask("again")
	var err error
	for range 100 { // the store notices within a second or so
		if _, err = s.Add(t.Context(), again); !errors.Is(err, thread.ErrUnreachable) {
			break
		}
		again = ask("again")
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Open(t.Context())
	if err != nil || len(list) != len(all)+1 {
		t.Fatalf("%d, want %d: %v", len(list), len(all)+1, err)
	}
	for i, x := range all {
		if list[i] != x {
			t.Errorf("%+v, want %+v", list[i], x)
		}
	}
}
