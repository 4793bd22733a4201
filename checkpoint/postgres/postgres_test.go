package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/thread"
)

// server is the one of the test run; TestMain ends it.
var server pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func open(t testing.TB, project, host string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), server.URL(t), postgres.Options{Project: project, Host: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// unique is a project's name that no other run on the same server has.
func unique(t testing.TB) string { return t.Name() + string(thread.NewID[thread.ID]()) }

func TestConformance(t *testing.T) {
	server.URL(t)
	projects := map[thread.Store]string{}
	checkpointtest.Run(t, checkpointtest.Harness{
		Open: func(t *testing.T) thread.Store {
			name := unique(t)
			s := open(t, name, "h")
			projects[s] = name
			return s
		},
		Reopen: func(t *testing.T, old thread.Store) thread.Store {
			if p, ok := old.(*postgres.Store); !ok || p.Close() != nil {
				t.Fatalf("close %T", old)
			}
			s := open(t, projects[old], "h")
			projects[s] = projects[old]
			return s
		},
		Spoil: func(t *testing.T, _ thread.Store, id thread.CheckpointID) {
			c, err := pgx.Connect(t.Context(), server.URL(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			if _, err := c.Exec(t.Context(), `UPDATE orchestrator.checkpoint
				SET data = set_byte(data, length(data)/2, get_byte(data, length(data)/2) # 4) WHERE id = $1`, string(id)); err != nil {
				t.Fatal(err)
			}
		},
	})
}

// TestShared has two servers in one project and one in another.
func TestShared(t *testing.T) {
	ctx := t.Context()
	project := unique(t)
	a, b, other := open(t, project, "a"), open(t, project, "b"), open(t, unique(t), "a")
	create := func(s *postgres.Store, id thread.ID, name string, head thread.CheckpointID) error {
		return s.CreateThread(ctx, thread.Thread{ID: id, Name: name, Head: head, ForkPoint: head})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(create(a, "ta", "x-0001", ""))
	if err := create(b, "tb", "x-0001", ""); !errors.Is(err, thread.ErrNameTaken) {
		t.Errorf("the same name on another host: %v", err)
	}
	must(create(other, "to", "x-0001", ""))
	c, err := a.PutCheckpoint(ctx, thread.Checkpoint{ID: "c1", Thread: "ta", Kind: thread.KindTurn, Turn: 1},
		thread.Delta{Items: []thread.Item{{Wire: "w", Raw: []byte(`"one"`)}}})
	must(err)
	if _, err := other.Checkpoint(ctx, c.ID); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("another project reads it: %v", err)
	}
	must(create(b, "tb", "y-0001", c.ID)) // a fork of the neighbour's
	_, err = b.PutCheckpoint(ctx, thread.Checkpoint{ID: "c2", Thread: "tb", Parent: c.ID, Kind: thread.KindTurn, Turn: 2},
		thread.Delta{Keep: 1, Items: []thread.Item{{Wire: "w", Raw: []byte(`"two"`)}}})
	must(err)
	list, err := b.Threads(ctx)
	if err != nil || len(list) != 1 || list[0].ID != "tb" {
		t.Errorf("b sees %v, %v", list, err)
	}
	if _, err := b.UpdateThread(ctx, "ta", func(*thread.Thread) error {
		return nil
	}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("b changes a's thread: %v", err)
	}
	must(a.BeginExecution(ctx, thread.Execution{ID: "e", Thread: "ta", Started: time.Unix(1, 0)}))
	must(a.PutIntent(ctx, thread.Intent{ID: "i", Kind: "fork"}))
	must(a.SetSetting(ctx, "selected", "ta"))
	open, err1 := b.OpenExecutions(ctx)
	intents, err2 := b.Intents(ctx)
	selected, err3 := b.Setting(ctx, "selected")
	if err := errors.Join(err1, err2, err3); err != nil || len(open)+len(intents)+len(selected) > 0 {
		t.Errorf("b sees what is a's: %v %v %q %v", open, intents, selected, err)
	}
	must(a.PurgeThread(ctx, "ta"))
	items, err := b.Conversation(ctx, "c2")
	if err != nil || len(items) != 2 {
		t.Errorf("the fork lost what it stands on: %v, %v", items, err)
	}
}

// TestOpenTogether migrates from many servers at once.
func TestOpenTogether(t *testing.T) {
	u := server.URL(t)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			s, err := postgres.Open(context.Background(), u, postgres.Options{Project: "together", Host: fmt.Sprint(n)})
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		})
	}
	wg.Wait()
}

// TestUnknownOutcome cuts the connection around commits by ending the server's process for it, and puts again:
// nothing is stored twice and nothing acknowledged is lost.
func TestUnknownOutcome(t *testing.T) {
	project := unique(t)
	s, killer := open(t, project, "h"), open(t, project, "k")
	ctx := t.Context()
	if err := s.CreateThread(ctx, thread.Thread{ID: "t", Name: "t-0001"}); err != nil {
		t.Fatal(err)
	}
	const puts = 40
	prev, retries := thread.Checkpoint{}, 0
	for n := range puts {
		c := thread.Checkpoint{ID: thread.CheckpointID(fmt.Sprint("c", n)), Thread: "t", Parent: prev.ID, Turn: n}
		d := thread.Delta{Keep: n, Items: []thread.Item{{Wire: "w", Raw: []byte(fmt.Sprint(n))}}}
		cut := make(chan struct{})
		go func() { // meets the put anywhere, or misses it
			defer close(cut)
			_ = killer.EndOthers(context.Background())
		}()
		got, err := s.PutCheckpoint(ctx, c, d)
		<-cut
		for deadline := time.Now().Add(60 * time.Second); err != nil; got, err = s.PutCheckpoint(ctx, c, d) {
			if errors.Is(err, thread.ErrInvalid) || time.Now().After(deadline) {
				t.Fatal(err)
			}
			retries++
		}
		prev = got
	}
	list, err := open(t, project, "h").Checkpoints(ctx, "t", thread.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != puts || list[0].Seq != puts {
		t.Errorf("%d checkpoints, the newest has number %d, want %d", len(list), list[0].Seq, puts)
	}
	t.Logf("%d retries", retries)
}

// TestServerKilled kills PostgreSQL as a power cut would and starts it again.
func TestServerKilled(t *testing.T) {
	s := open(t, unique(t), "h")
	ctx := t.Context()
	if err := s.CreateThread(ctx, thread.Thread{ID: "t", Name: "t-0001"}); err != nil {
		t.Fatal(err)
	}
	prev := thread.Checkpoint{}
	for n := range 20 {
		got, err := s.PutCheckpoint(ctx, thread.Checkpoint{ID: thread.CheckpointID(fmt.Sprint("c", n)), Thread: "t",
			Parent: prev.ID},
			thread.Delta{Keep: n, Items: []thread.Item{{Wire: "w", Raw: []byte(fmt.Sprint(n))}}})
		if err != nil {
			t.Fatal(err)
		}
		prev = got
	}
	server.Kill(t, syscall.SIGKILL)
	if _, err := s.Threads(ctx); err == nil {
		t.Error("no error without a server")
	}
	server.Start(t)
	deadline := time.Now().Add(60 * time.Second)
	for {
		items, err := s.Conversation(ctx, prev.ID)
		if err == nil {
			if len(items) != 20 {
				t.Errorf("%d items", len(items))
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestOpenRefused(t *testing.T) {
	for _, bad := range []string{"postgres://u:hunter2@[::1", "postgres://u:hunter2@127.0.0.1:1/x?connect_timeout=5",
		"nonsense://hunter2"} {
		_, err := postgres.Open(t.Context(), bad, postgres.Options{Project: "p", Host: "h"})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSilent has a database that does not answer: a call ends by itself, and the same call works later.
func TestSilent(t *testing.T) {
	project := unique(t)
	open(t, project, "h") // makes the tables
	s, err := postgres.Open(t.Context(), server.URL(t),
		postgres.Options{Project: project, Host: "h", Limit: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	c, err := pgx.Connect(t.Context(), server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(t.Context(), "BEGIN; LOCK TABLE orchestrator.thread"); err != nil {
		t.Fatal(err)
	}
	one := thread.Thread{ID: "t", Name: "t-0001"}
	if err := s.CreateThread(t.Context(), one); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a database that does not answer: %v", err)
	}
	if _, err := c.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); ; {
		err := s.CreateThread(t.Context(), one)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// BenchmarkPut puts 30 KB at a time and, in turn, commits the same bytes in a bare row: what the database takes at
// the least.
func BenchmarkPut(b *testing.B) {
	s := open(b, unique(b), "h")
	c, err := pgx.Connect(b.Context(), server.URL(b))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(b.Context(), "CREATE TABLE IF NOT EXISTS bare (data TEXT)"); err != nil {
		b.Fatal(err)
	}
	id := thread.NewID[thread.ID]()
	if err := s.CreateThread(b.Context(), thread.Thread{ID: id, Name: thread.NewName("bench")}); err != nil {
		b.Fatal(err)
	}
	prev := thread.Checkpoint{}
	var puts, bare []time.Duration
	for n := 0; b.Loop(); n++ {
		text := fmt.Sprintf(`"%s"`, strings.Repeat(fmt.Sprint("some text ", n, " "), 2500)[:30_000])
		begin := time.Now()
		got, err := s.PutCheckpoint(b.Context(), thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id,
			Parent: prev.ID},
			thread.Delta{Keep: n, Items: []thread.Item{{Wire: "w", Raw: []byte(text)}}})
		if err != nil {
			b.Fatal(err)
		}
		puts, prev = append(puts, time.Since(begin)), got
		begin = time.Now()
		if _, err := c.Exec(b.Context(), "INSERT INTO bare VALUES ($1)", text); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(begin))
	}
	report(b, "put", puts)
	report(b, "bare", bare)
}

func report(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[min(int(q*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(at(.5), name+"-p50-ms")
	b.ReportMetric(at(.99), name+"-p99-ms")
}
