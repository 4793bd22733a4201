package workdb_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/killtest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("WORK_CHILD"); path != "" {
		failpoint.Arm()
		if err := child(context.Background(), path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv("PLANS_CHILD"); path != "" {
		if err := plansChild(context.Background(), path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child leads executions through their lives until it is killed, and says what was acknowledged:
// "ack id state fence events".
func child(ctx context.Context, path string) error {
	s, err := workdb.Open(ctx, path, workdb.Options{})
	if err != nil {
		return err
	}
	errs := make(chan error)
	for w := range 3 {
		go func() {
			for range 200 {
				if err := lead(ctx, s, thread.ID(fmt.Sprint("t", w))); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 3 {
		if err := <-errs; err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, os.Stdin) // stay until killed, or until whoever started us is gone
	return err
}

func lead(ctx context.Context, s work.Record, of thread.ID) error {
	id := thread.NewID[work.ID]()
	events := 0
	ack := func(x work.Execution, more int, err error) error {
		if events += more; err == nil {
			fmt.Println("ack", x.ID, x.State, x.Fence, events)
		}
		return err
	}
	x, err := s.Add(ctx, work.Execution{ID: id, Thread: of, Agent: "demo", Lost: work.PolicyAsk})
	if err := ack(x, 1, err); err != nil {
		return err
	}
	x, err = s.Claim(ctx, id, "s", time.Now())
	if err := ack(x, 1, err); err != nil {
		return err
	}
	for _, state := range []work.State{work.Running, work.NeedsInput, work.Running, work.Completed} {
		x, err = s.Change(ctx, id, x.Fence, func(x *work.Execution) error { x.State = state; return nil })
		if err := ack(x, 1, err); err != nil {
			return err
		}
		err := s.Append(ctx, id, x.Fence, work.Event{Kind: "text", Text: "a"}, work.Event{Kind: "text", Text: "b"})
		if err := ack(x, 2, err); err != nil {
			return err
		}
	}
	// What came of it, told twice as after a crash, is stored once.
	for range 2 {
		if _, err := s.AddOutputs(ctx, id, []work.Output{{Type: work.OutputDeliverable, Path: "f.go", Content: json.RawMessage(`"` + id + `"`)}}); err != nil {
			return err
		}
		if err := s.Allocate(ctx, id, []work.Allocation{{Type: work.ItemFile, Source: "a.md"}}); err != nil {
			return err
		}
	}
	return ack(x, 0, nil)
}

// acked is what a child said last of an execution.
type acked struct {
	state  string
	fence  int64
	events int
}

// live starts a child, kills it after some acknowledgements (0: its failpoint does) and returns what it said.
func live(t *testing.T, path string, kill int, env ...string) map[work.ID]acked {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), "WORK_CHILD="+path), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := map[work.ID]acked{}
	lines := bufio.NewScanner(out)
	n := 0
	for lines.Scan() {
		var id string
		var a acked
		if _, err := fmt.Sscanf(lines.Text(), "ack %s %s %d %d", &id, &a.state, &a.fence, &a.events); err != nil {
			t.Errorf("%s", lines.Text())
			break
		}
		said[work.ID(id)] = a
		if n++; n == kill {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
	return said
}

// TestKilled kills at each gap and at any moment: what was acknowledged is there, of what was not there is all or
// nothing, and the record agrees with the state.
func TestKilled(t *testing.T) {
	places := []string{"", "workdb.migrate.step", "work.add.row", "work.add.row:4", "work.write.row:2", "work.write.row:9",
		"workdb.commit.before:1", "workdb.commit.before:11", "workdb.commit.after:3", "workdb.commit.after:30", "work.output.row:2", "workdb.commit.before:40"}
	path := filepath.Join(t.TempDir(), "work.db")
	said := map[work.ID]acked{}
	for round := range killtest.Rounds(t, 2) {
		for i, place := range places {
			if place == "workdb.migrate.step" && round == 0 {
				path = filepath.Join(t.TempDir(), "work.db") // only a new file gets its tables
				said = map[work.ID]acked{}
			}
			kill := 0
			env := "ORCHESTRATOR_FAILPOINT=" + place
			if place == "" {
				kill = 1 + (round*37+i*11)%150
			}
			if place == "workdb.migrate.step" && round > 0 {
				continue
			}
			for id, a := range live(t, path, kill, env) {
				said[id] = a
			}
			verify(t, path, said)
		}
	}
}

func verify(t *testing.T, path string, said map[work.ID]acked) {
	t.Helper()
	s, err := workdb.Open(t.Context(), path, workdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // nothing was written
	if s.Report() != "" {
		t.Fatal(s.Report())
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, a := range said {
		x, err := s.Execution(t.Context(), string(id))
		if err != nil || x.Fence < a.fence {
			t.Fatalf("%s: %+v: %v", id, x, err)
		}
	}
	names := map[string]bool{}
	before := work.ID("")
	for {
		list, err := s.Executions(t.Context(), work.Query{Before: before, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			if names[x.Name] {
				t.Fatalf("%s twice", x.Name)
			}
			names[x.Name] = true
			agrees(t, s, x, said[x.ID].events)
		}
		if len(list) < 1000 {
			counted(t, s, len(names))
			return
		}
		before = list[len(list)-1].ID
	}
}

// counted checks that sums count each execution once, and that each output has its execution.
func counted(t *testing.T, s *workdb.Store, all int) {
	t.Helper()
	stats, err := s.Stats(t.Context(), work.StatsQuery{By: work.StatByAgent})
	if err != nil {
		t.Fatal(err)
	}
	queued, err := s.Executions(t.Context(), work.Query{States: []work.State{work.Queued}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	runs := len(queued)
	for _, v := range stats {
		runs += v.Runs
	}
	if runs != all {
		t.Fatalf("%d are counted, there are %d", runs, all)
	}
	outputs, err := s.Outputs(t.Context(), work.OutputQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	of, current := map[string]bool{}, map[string]int{}
	for _, o := range outputs {
		x, err := s.Execution(t.Context(), o.Execution)
		if err != nil || of[o.Execution] {
			t.Fatalf("output %d of %s, twice %v: %v", o.N, o.Execution, of[o.Execution], err)
		}
		of[o.Execution] = true
		if o.Current {
			current[string(x.Thread)]++
		}
		if pieces, err := s.Allocations(t.Context(), x.ID); err != nil || len(pieces) > 1 {
			t.Fatalf("%s has %d pieces of context: %v", x.Name, len(pieces), err)
		}
	}
	for line, n := range current {
		if n != 1 {
			t.Fatalf("%d versions are current in %s", n, line)
		}
	}
}

// agrees checks that the record of an execution tells its state, without gaps.
func agrees(t *testing.T, s work.Store, x work.Execution, least int) {
	t.Helper()
	events, err := s.Events(t.Context(), x.ID, 0, 0)
	if err != nil || len(events) < max(least, 1) {
		t.Fatalf("%s: %d events, %d were acknowledged: %v", x.Name, len(events), least, err)
	}
	var last work.State
	var texts strings.Builder
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("%s: event %d has number %d", x.Name, i+1, e.Seq)
		}
		if e.State != "" {
			last = e.State
		}
		texts.WriteString(e.Text)
	}
	if last != x.State || strings.ReplaceAll(texts.String(), "ab", "") != "" {
		t.Fatalf("%s is %s, its record says %s and %q", x.Name, x.State, last, texts.String())
	}
}
