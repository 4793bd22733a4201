package workfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/checkpoint/workfile"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// key has the shape of a key.
const key = "sk-ant-api03-" + "Zx8Kq2Lm9Np4Rs7Tv1Wy3Ab6Cd0Ef5GhJk"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func clock() func() time.Time {
	now := start
	return func() time.Time { now = now.Add(time.Second); return now }
}

// both returns an empty store in memory and one in a file.
func both(t *testing.T) map[string]work.Keeper {
	t.Helper()
	db, err := workdb.Open(t.Context(), filepath.Join(t.TempDir(), "work.db"), workdb.Options{Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return map[string]work.Keeper{"memory": memory.New(clock()), "SQLite": db}
}

// fill records a work session with a task, two bundles that share a piece, and executions of all kinds.
func fill(t *testing.T, s work.Keeper) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.AddSession(ctx, work.Session{
		Name: "orch-1", Scope: "search", Status: work.SessionExecuting, Phase: 3, Approval: work.ApproveSuggest, Host: "far", User: "anna",
		Metadata: json.RawMessage(`{"a":1}`), Created: start, Updated: start,
	})
	must(err)
	_, err = s.ChangeTask(ctx, "orch-1", "index", func(t *work.Task) error {
		t.Status, t.Created, t.Updated = work.TaskComplete, start, start
		return nil
	})
	must(err)
	for _, text := range []string{"one", "two with " + key} {
		shared := hash([]byte("shared"))
		k := work.KeptBundle{
			Bundle: work.Bundle{AgentType: "debugger", Scope: text, Created: start, Items: []work.BundleItem{{Source: "s"}, {Source: text}}},
			Pieces: []string{shared, hash([]byte(text))}, Sources: []string{"", ""}, Session: "orch-1",
		}
		k.Hash = bundle.Hash(k)
		_, err = s.PutBundle(ctx, k, map[string][]byte{shared: []byte("shared"), hash([]byte(text)): []byte(text)})
		must(err)
	}
	for i, kind := range []work.Kind{work.KindRun, work.KindTerminal, work.KindNative, work.KindHand, work.KindRun} {
		x := work.Execution{ID: work.ID(fmt.Sprintf("%016x", i+1)), Kind: kind, Thread: "aaaaaaaaaaaaaaaa", Agent: "demo", Type: "debugger",
			Session: "orch-1", Task: "index", Bundle: "bundle-001", Lost: work.PolicyAsk, Host: "far", User: "anna", State: work.Deployed}
		x, err := s.Add(ctx, x, work.Event{Kind: work.KindGiven, Text: "do it " + fmt.Sprint(i)})
		must(err)
		must(s.Allocate(ctx, x.ID, []work.Allocation{{Type: work.ItemFile, Source: "s", Bundle: "bundle-001", Included: true}}))
		_, err = s.AddOutputs(ctx, x.ID, []work.Output{
			{Type: work.OutputDeliverable, Path: "a.go", Content: json.RawMessage(fmt.Sprintf(`{"file_path":"a.go","lines_added":%d}`, i))},
			{Type: work.OutputInsight, Content: json.RawMessage(`"the key is ` + key + `"`)},
		})
		must(err)
		if i == 4 {
			continue // it waits
		}
		if kind == work.KindRun {
			x, err = s.Claim(ctx, x.ID, "server", start)
			must(err)
		}
		_, err = s.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error {
			x.State, x.Usage.Output = work.Running, int64(100*i)
			return nil
		})
		must(err)
		if i%2 == 0 {
			continue // it is at work
		}
		_, err = s.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State = work.Completed; return nil }, work.Event{Kind: work.KindSaid, Text: "done"})
		must(err)
	}
}

func write(t *testing.T, e workfile.Export) ([]byte, workfile.Written) {
	t.Helper()
	var b bytes.Buffer
	done, err := e.Write(t.Context(), &b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), done
}

func read(t *testing.T, i workfile.Import, b []byte) workfile.Read {
	t.Helper()
	i.Now = start.Add(time.Hour)
	done, err := i.Read(t.Context(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestThereAndBack takes a record from each store to each other: what was over is the same, what was open is over, and a
// second time nothing changes.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for from, source := range both(t) {
		fill(t, source)
		file, wrote := write(t, workfile.Export{From: source, Secrets: true})
		if wrote.Executions != 5 || wrote.Bundles != 2 || wrote.Sessions != 1 || len(wrote.Notes) > 0 {
			t.Errorf("from %s: %+v", from, wrote)
		}
		for to, target := range both(t) {
			t.Run(from+" to "+to, func(t *testing.T) {
				if got := read(t, workfile.Import{To: target}, file); got.Executions != 5 || got.Bundles != 2 || got.Sessions != 1 || len(got.Notes) > 0 {
					t.Errorf("%+v", got)
				}
				compare(t, source, target)
				once, _ := write(t, workfile.Export{From: target, Secrets: true})
				if got := read(t, workfile.Import{To: target}, file); got.Existing != 8 || got.Executions+got.Bundles+got.Sessions > 0 || len(got.Notes) > 0 {
					t.Errorf("a second time: %+v", got)
				}
				if twice, _ := write(t, workfile.Export{From: target, Secrets: true}); !bytes.Equal(once, twice) {
					t.Error("a second time changed something")
				}
				if open, err := target.Open(t.Context()); err != nil || len(open) > 0 {
					t.Errorf("the queue has %v, %v", open, err)
				}
				x, err := target.Add(t.Context(), work.Execution{ID: "00000000000000aa", Thread: "bbbbbbbbbbbbbbbb", Lost: work.PolicyAsk})
				if err != nil || x.Name == "" || strings.HasSuffix(x.Name, "001") {
					t.Errorf("the next one: %q %v", x.Name, err)
				}
			})
		}
	}
}

// compare holds that two stores give the same answers, but for what was open.
func compare(t *testing.T, a, b work.Keeper) {
	t.Helper()
	ctx := t.Context()
	ask := func(s work.Keeper) string {
		list, err := s.Recorded(ctx, work.RecordQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var all []any
		for _, x := range list {
			if x.Kind == work.KindRun && x.State == work.Queued || x.State == work.Running && x.Kind != work.KindHand {
				x.State, x.Lost = work.Lost, work.PolicyAsk
			}
			if x.State == work.Cancelled || x.State == work.Lost {
				x.State, x.Ended, x.Reason, x.Server, x.Lost, x.Failure = work.Lost, time.Time{}, "", "", work.PolicyAsk, work.Failure{}
			}
			x.Server = ""
			given, err := s.Events(ctx, x.ID, 0, 2)
			if err != nil {
				t.Fatal(err)
			}
			allocated, err := s.Allocations(ctx, x.ID)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, x, given, allocated)
		}
		outputs, err := s.Outputs(ctx, work.OutputQuery{})
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := s.Sessions(ctx, work.SessionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		tasks, err := s.Tasks(ctx, "orch-1")
		if err != nil {
			t.Fatal(err)
		}
		bundles, err := s.Bundles(ctx, work.BundleQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range bundles {
			for _, h := range k.Pieces {
				if _, err := s.Piece(ctx, h); err != nil {
					t.Errorf("a piece of %s: %v", k.Bundle.ID, err)
				}
			}
		}
		text, err := json.MarshalIndent(append(all, outputs, sessions, tasks, bundles), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if was, is := ask(a), ask(b); was != is {
		wl, il := strings.Split(was, "\n"), strings.Split(is, "\n")
		for i := range min(len(wl), len(il)) {
			if wl[i] != il[i] {
				t.Fatalf("line %d: %s, was %s (after %v)", i, il[i], wl[i], wl[max(0, i-8):i])
			}
		}
		t.Errorf("%d lines, were %d", len(il), len(wl))
	}
}

// TestWithoutSecrets leaves out no row, and no secret in.
func TestWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := both(t)["memory"]
	fill(t, s)
	file, wrote := write(t, workfile.Export{From: s})
	if bytes.Contains(file, []byte(key)) || !strings.Contains(fmt.Sprint(wrote.Notes), "secrets in it: 1 piece") {
		t.Errorf("%v", wrote.Notes)
	}
	to := both(t)["SQLite"]
	if got := read(t, workfile.Import{To: to}, file); got.Executions != 5 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
	if _, err := to.Piece(t.Context(), hash([]byte("shared"))); err != nil {
		t.Error(err)
	}
	if _, err := to.Piece(t.Context(), hash([]byte("two with "+key))); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("the piece with the secret: %v", err)
	}
}

// TestClash brings a record where all of its names are another's: both are kept, what refers to a name follows it, and it
// is said.
func TestClash(t *testing.T) {
	t.Parallel()
	source := both(t)["memory"]
	fill(t, source)
	file, _ := write(t, workfile.Export{From: source, Secrets: true})
	for to, target := range both(t) {
		t.Run(to, func(t *testing.T) {
			ctx := t.Context()
			if _, err := target.AddSession(ctx, work.Session{Name: "orch-1", Scope: "another", Status: work.SessionPlanning, Approval: work.ApproveAuto, Created: start.Add(1)}); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				if _, err := target.PutBundle(ctx, work.KeptBundle{Hash: fmt.Sprintf("%064x", 70+i), Bundle: work.Bundle{Scope: "here"}}, nil); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 3 {
				if _, err := target.Add(ctx, work.Execution{ID: work.ID(fmt.Sprintf("%016x", 100+i)), Thread: "cccccccccccccccc", Lost: work.PolicyAsk}); err != nil {
					t.Fatal(err)
				}
			}
			got := read(t, workfile.Import{To: target}, file)
			if got.Executions != 5 || got.Bundles != 2 || got.Sessions != 1 || len(got.Notes) < 4 {
				t.Errorf("%+v", got)
			}
			if here, err := target.Session(ctx, "orch-1"); err != nil || here.Scope != "another" {
				t.Errorf("%+v %v", here, err)
			}
			list, err := target.Recorded(ctx, work.RecordQuery{Session: "orch-1-2"})
			if err != nil || len(list) != 5 {
				t.Fatalf("%d executions follow: %v", len(list), err)
			}
			for _, x := range list {
				k, err := target.Bundle(ctx, x.Bundle)
				if err != nil || k.Bundle.Scope != "one" {
					t.Errorf("%s was given %s: %+v %v", x.Name, x.Bundle, k.Bundle, err)
				}
			}
			before, _ := write(t, workfile.Export{From: target})
			if again := read(t, workfile.Import{To: target}, file); again.Existing != 8 || len(again.Notes) > 0 {
				t.Errorf("again: %+v", again)
			}
			if after, _ := write(t, workfile.Export{From: target}); !bytes.Equal(before, after) {
				t.Error("again changed something")
			}
		})
	}
}

// TestAsAnother imports a thread's executions twice, each time as those of another thread.
func TestAsAnother(t *testing.T) {
	t.Parallel()
	source := both(t)["memory"]
	fill(t, source)
	file, wrote := write(t, workfile.Export{From: source, Thread: "aaaaaaaaaaaaaaaa"})
	if wrote.Executions != 5 || wrote.Bundles != 1 || wrote.Sessions != 1 {
		t.Errorf("%+v", wrote)
	}
	for to, target := range both(t) {
		t.Run(to, func(t *testing.T) {
			for _, id := range []thread.ID{"dddddddddddddddd", "eeeeeeeeeeeeeeee"} {
				if got := read(t, workfile.Import{To: target, As: workfile.As{Thread: id}}, file); got.Executions != 5 {
					t.Errorf("%+v", got)
				}
				list, err := target.Recorded(t.Context(), work.RecordQuery{Thread: id})
				if err != nil || len(list) != 5 {
					t.Errorf("%s has %d: %v", id, len(list), err)
				}
				n, err := target.Outputs(t.Context(), work.OutputQuery{Execution: string(list[0].ID)})
				if err != nil || len(n) != 2 {
					t.Errorf("%d outputs: %v", len(n), err)
				}
			}
		})
	}
}

// TestDamagedLines loses what does not verify, says how much, and takes all else.
func TestDamagedLines(t *testing.T) {
	t.Parallel()
	source := both(t)["memory"]
	fill(t, source)
	file, _ := write(t, workfile.Export{From: source, Secrets: true})
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	for n := 1; n < len(lines); n++ {
		bad := bytes.Clone(file)
		bad[bytes.Index(bad, lines[n])+len(lines[n])/2] ^= 2
		target := both(t)["memory"]
		got := read(t, workfile.Import{To: target}, bad)
		if got.Executions+got.Bundles+got.Sessions != 7 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "lost: 1 row") {
			t.Errorf("line %d: %+v", n, got)
		}
	}
}
