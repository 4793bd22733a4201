package checkpointtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"orchestrator/thread"
)

// fullThread has every field set, so that a store that forgets one is found.
func fullThread() thread.Thread {
	zone := time.FixedZone("x", 3600)
	return thread.Thread{
		ID: thread.NewID[thread.ID](), Name: "full-1234", Label: "a label\nof two lines", Agent: "claude", Model: "m-1",
		Turn:    3,
		Session: "s-1", Launch: thread.Flags{Args: []string{"--a", "'b'"}, Env: []string{"K=v"}, PermissionMode: "plan",
			NoGateway: true, Program: []string{"sh", "-c", "true"}},
		Dir: "/tmp/ä b", Worktree: thread.Worktree{Path: "/w", Branch: "b", Base: "c0"},
		Created: start.In(zone), Updated: start.Add(time.Nanosecond), Pinned: true, Archived: start.Add(time.Hour),
		Deleted: start.Add(2 * time.Hour),
		Outcome: thread.Outcome{Kind: thread.OutcomeMerged, Reason: "r", Into: "i", Commit: "c", At: start}, Seen: true,
		Gauge: thread.Gauge{Tokens: 5, Window: 10, Model: "m", Estimated: true, CostUSD: .25, Source: "gateway"},
		Usage: thread.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, CacheWriteHour: 2, Output: 4, CostUSD: .5, Priced: true},
		Handoff: &thread.Handoff{TaskID: "t", ThreadID: "x", Description: "d", ContextSummary: "s",
			EnabledMCPs:  []string{"m"},
			CheckpointID: "cp", Metadata: thread.HandoffMetadata{ParentThreadID: "p", ForkPoint: 2, TokenBudget: 9}},
		Interrupted: true, Base: fullBase(),
	}
}

func fullBase() thread.Base {
	return thread.Base{Profile: "mine", Why: "chosen", Chosen: true, Version: "2.1.0", Left: []string{"loops", "skills"},
		Keep: []string{"Agent"}, Next: "slim", NextKeep: []string{"web"}, Unchecked: "without the gateway"}
}

func testThreads(_ *testing.T, f *fixture) {
	list, err := f.store.Threads(f.ctx)
	f.ok(err)
	f.equal(len(list), 0)
	full := fullThread()
	f.ok(f.store.CreateThread(f.ctx, full))
	f.ok(f.store.CreateThread(f.ctx, full)) // a retry after an unknown outcome
	second := f.thread("second-0001")
	want := full
	want.Created = want.Created.UTC()
	for range 2 {
		got, err := f.store.Thread(f.ctx, full.ID)
		f.ok(err)
		f.equal(got, want)
		list, err = f.store.Threads(f.ctx)
		f.ok(err)
		f.equal(list, []thread.Thread{want, second})
		f.reopen()
	}
	_, err = f.store.Thread(f.ctx, "none")
	f.is(err, thread.ErrNotFound)
	f.is(f.store.CreateThread(f.ctx, thread.Thread{Name: "x-0000"}), thread.ErrInvalid)
	f.is(f.store.CreateThread(f.ctx, thread.Thread{ID: "x"}), thread.ErrInvalid)
	f.is(f.store.CreateThread(f.ctx, thread.Thread{ID: "x", Name: "bell\a"}), thread.ErrInvalid)
	f.is(f.store.CreateThread(f.ctx, thread.Thread{ID: "x", Name: "x-0001", Head: "no such"}), thread.ErrNotFound)
}

func testNames(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	b := f.thread("b-0001")
	take := func(name string) error {
		return f.store.CreateThread(f.ctx, thread.Thread{ID: thread.NewID[thread.ID](), Name: name, Created: start})
	}
	f.is(take("a-0001"), thread.ErrNameTaken)
	_, err := f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error {
		t.Archived, t.Deleted = start, start
		return nil
	})
	f.ok(err)
	f.is(take("a-0001"), thread.ErrNameTaken) // archived and deleted ones keep theirs
	_, err = f.store.UpdateThread(f.ctx, b.ID, func(t *thread.Thread) error { t.Name = "a-0001"; return nil })
	f.is(err, thread.ErrNameTaken)
	_, err = f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error { t.Name = "c-0001"; return nil })
	f.ok(err)
	f.ok(take("a-0001")) // a renamed one gives its up
	f.ok(f.store.PurgeThread(f.ctx, a.ID))
	f.ok(take("c-0001")) // so does a purged one
	for _, odd := range []string{"it's-0001", "x;DROP TABLE threads-0001", "100%_-0001", "a') OR 1=1---0001", "ü-0001",
		"U-0001", "u-0001"} {
		f.ok(take(odd))
		f.is(take(odd), thread.ErrNameTaken)
	}
}

func testUpdate(t *testing.T, f *fixture) {
	a := f.thread("a-0001")
	got, err := f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error { t.Label, t.Pinned = "new", true; return nil })
	f.ok(err)
	a.Label, a.Pinned = "new", true
	f.equal(got, a)

	boom := errors.New("boom")
	_, err = f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error { t.Label = "lost"; return boom })
	if err != boom { //nolint:errorlint // the contract says: as it is
		t.Fatalf("got error %v, want boom itself", err)
	}
	_, err = f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error { t.ID = "other"; return nil })
	f.is(err, thread.ErrInvalid)
	_, err = f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error { t.Head = "no such"; return nil })
	f.is(err, thread.ErrNotFound)
	_, err = f.store.UpdateThread(f.ctx, "none", func(*thread.Thread) error { return nil })
	f.is(err, thread.ErrNotFound)
	got, err = f.store.Thread(f.ctx, a.ID)
	f.ok(err)
	f.equal(got, a)

	var wg sync.WaitGroup
	const workers, each = 8, 10
	errs := make(chan error, workers*each)
	for range workers {
		wg.Go(func() {
			for range each {
				_, err := f.store.UpdateThread(f.ctx, a.ID, func(t *thread.Thread) error { t.Turn++; return nil })
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	got, err = f.store.Thread(f.ctx, a.ID)
	f.ok(err)
	f.equal(got.Turn, workers*each)
}

func testPurge(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	a1 := f.add(a.ID, thread.Checkpoint{})
	a2 := f.add(a.ID, a1)
	a3 := f.add(a.ID, a2)
	b := f.fork("b-0001", a2)
	b1 := f.add(b.ID, a2)
	c := f.fork("c-0001", a1) // based on a1, without checkpoints of its own
	f.ok(f.store.BeginExecution(f.ctx, thread.Execution{ID: "e1", Thread: a.ID}))

	f.ok(f.store.PurgeThread(f.ctx, a.ID))
	f.reopen()
	_, err := f.store.Thread(f.ctx, a.ID)
	f.is(err, thread.ErrNotFound)
	f.is(f.store.PurgeThread(f.ctx, a.ID), thread.ErrNotFound)
	open, err := f.store.OpenExecutions(f.ctx)
	f.ok(err)
	f.equal(len(open), 0)
	f.there(a1, a2, b1)
	f.gone(a3)
	items, err := f.store.Conversation(f.ctx, b1.ID)
	f.ok(err)
	f.equal(len(items), 6)

	f.ok(f.store.PurgeThread(f.ctx, b.ID))
	f.there(a1)
	f.gone(a2, b1)
	f.ok(f.store.PurgeThread(f.ctx, c.ID))
	f.gone(a1)
}

func testPurgeRewound(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	a1 := f.add(a.ID, thread.Checkpoint{})
	a2 := f.add(a.ID, a1)
	r := f.add(a.ID, a1) // the thread was set back: a2 is on nobody's lineage any more
	b := f.fork("b-0001", a2)
	_ = f.add(b.ID, a2)
	f.ok(f.store.PurgeThread(f.ctx, b.ID))
	f.there(a1, a2, r) // they are all a's own
	got, err := f.store.Checkpoints(f.ctx, a.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(got), newestFirst(a1, a2, r))
}

func (f *fixture) there(cs ...thread.Checkpoint) {
	f.Helper()
	for _, c := range cs {
		got, err := f.store.Checkpoint(f.ctx, c.ID)
		f.ok(err)
		f.equal(got, c)
	}
}

func (f *fixture) gone(cs ...thread.Checkpoint) {
	f.Helper()
	for _, c := range cs {
		_, err := f.store.Checkpoint(f.ctx, c.ID)
		f.is(err, thread.ErrNotFound)
		_, err = f.store.Conversation(f.ctx, c.ID)
		f.is(err, thread.ErrNotFound)
	}
}

func testExecutions(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	e1 := thread.Execution{ID: "e1", Thread: a.ID, Agent: "demo", Started: start}
	e2 := thread.Execution{ID: "e2", Thread: a.ID, Agent: "demo", Session: "s", Started: start.Add(time.Second)}
	f.ok(f.store.BeginExecution(f.ctx, e2))
	f.ok(f.store.BeginExecution(f.ctx, e1))
	f.ok(f.store.BeginExecution(f.ctx, e1))
	f.ok(f.store.UpdateExecution(f.ctx, "e1", 42, "s1"))
	e1.PID, e1.Session = 42, "s1"
	f.reopen()
	open, err := f.store.OpenExecutions(f.ctx)
	f.ok(err)
	f.equal(open, []thread.Execution{e1, e2})
	f.ok(f.store.EndExecution(f.ctx, "e1", start.Add(time.Minute), thread.Exit{Code: 137, Reason: "lost"}))
	f.ok(f.store.EndExecution(f.ctx, "e1", start.Add(time.Hour), thread.Exit{})) // the first end counts
	f.ok(f.store.BeginExecution(f.ctx, e1))                                      // and a late retry opens nothing again
	open, err = f.store.OpenExecutions(f.ctx)
	f.ok(err)
	f.equal(open, []thread.Execution{e2})
	f.is(f.store.UpdateExecution(f.ctx, "none", 1, ""), thread.ErrNotFound)
	f.is(f.store.EndExecution(f.ctx, "none", start, thread.Exit{}), thread.ErrNotFound)
	f.is(f.store.BeginExecution(f.ctx, thread.Execution{}), thread.ErrInvalid)
}

func testIntents(_ *testing.T, f *fixture) {
	i2 := thread.Intent{
		ID: "i2", Kind: "fork", Thread: "t", Data: json.RawMessage(`{"a": 1,  "b":[2]}`), Created: start.Add(time.Second),
	}
	i1 := thread.Intent{ID: "i1", Kind: "merge", Thread: "u", Data: json.RawMessage(`null`), Created: start}
	f.ok(f.store.PutIntent(f.ctx, i2))
	f.ok(f.store.PutIntent(f.ctx, i1))
	f.reopen()
	got, err := f.store.Intents(f.ctx)
	f.ok(err)
	f.equal(got, []thread.Intent{i1, i2})
	i2.Data = json.RawMessage(`{"step":2}`)
	f.ok(f.store.PutIntent(f.ctx, i2)) // a step further
	f.ok(f.store.DropIntent(f.ctx, "i1"))
	f.ok(f.store.DropIntent(f.ctx, "i1"))
	got, err = f.store.Intents(f.ctx)
	f.ok(err)
	f.equal(got, []thread.Intent{i2})
	f.is(f.store.PutIntent(f.ctx, thread.Intent{}), thread.ErrInvalid)
}

func testSettings(_ *testing.T, f *fixture) {
	v, err := f.store.Setting(f.ctx, "a')--")
	f.ok(err)
	f.equal(v, "")
	f.ok(f.store.SetSetting(f.ctx, "a')--", "x\n'y'"))
	f.ok(f.store.SetSetting(f.ctx, "b", "1"))
	f.ok(f.store.SetSetting(f.ctx, "b", "2"))
	f.reopen()
	for key, want := range map[string]string{"a')--": "x\n'y'", "b": "2"} {
		v, err = f.store.Setting(f.ctx, key)
		f.ok(err)
		f.equal(v, want)
	}
	f.ok(f.store.SetSetting(f.ctx, "b", ""))
	v, err = f.store.Setting(f.ctx, "b")
	f.ok(err)
	f.equal(v, "")
}

func testConcurrent(_ *testing.T, f *fixture) {
	const workers, each = 8, 12
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	all := make([]thread.Thread, workers)
	for w := range workers {
		all[w] = f.thread(fmt.Sprintf("t-%04d", w))
	}
	shared := f.thread("shared-0001")
	for w := range workers {
		wg.Go(func() {
			errs <- func() error {
				var prev thread.Checkpoint
				for n := range each {
					c := thread.Checkpoint{
						ID: thread.NewID[thread.CheckpointID](), Thread: all[w].ID, Parent: prev.ID, Turn: n, Kind: thread.KindTurn,
						Created: start,
					}
					got, err := f.store.PutCheckpoint(f.ctx, c, thread.Delta{Keep: prev.Items, Items: []thread.Item{item(fmt.Sprint(w, n))}})
					if err != nil {
						return err
					}
					prev = got
					root := thread.Checkpoint{
						ID: thread.NewID[thread.CheckpointID](), Thread: shared.ID, Kind: thread.KindSafety, Created: start,
					}
					if _, err := f.store.PutCheckpoint(f.ctx, root, thread.Delta{}); err != nil {
						return err
					}
					if _, err := f.store.Conversation(f.ctx, prev.ID); err != nil {
						return err
					}
					if _, err := f.store.Threads(f.ctx); err != nil {
						return err
					}
				}
				return nil
			}()
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	for w, th := range all {
		got, err := f.store.Checkpoints(f.ctx, th.ID, thread.Page{})
		f.ok(err)
		f.equal(len(got), each)
		items, err := f.store.Conversation(f.ctx, got[0].ID)
		f.ok(err)
		for n, it := range items {
			f.equal(it, item(fmt.Sprint(w, n)))
		}
	}
	got, err := f.store.Checkpoints(f.ctx, shared.ID, thread.Page{Limit: 1000})
	f.ok(err)
	f.equal(len(got), workers*each)
	for i, c := range got {
		f.equal(c.Seq, int64(workers*each-i)) // every number once
	}
}

func testCancelled(t *testing.T, f *fixture) {
	a := f.thread("a-0001")
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	c := f.next(a.ID, thread.Checkpoint{})
	d := thread.Delta{Items: []thread.Item{item("x")}}
	if _, err := f.store.PutCheckpoint(ctx, c, d); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v", err)
	}
	got := f.put(c, d) // whatever came of it, again is right
	f.equal(got.Seq, int64(1))
	list, err := f.store.Checkpoints(f.ctx, a.ID, thread.Page{})
	f.ok(err)
	f.equal(len(list), 1)
}

// testIsolated changes what was given and what came back; the store must not see it.
func testIsolated(_ *testing.T, f *fixture) {
	th := fullThread()
	f.ok(f.store.CreateThread(f.ctx, th))
	th.Launch.Args[0], th.Handoff.TaskID = "changed", "changed"
	got, err := f.store.Thread(f.ctx, th.ID)
	f.ok(err)
	f.equal(got.Launch.Args[0], "--a")
	f.equal(got.Handoff.TaskID, "t")
	got.Launch.Args[0] = "changed"
	got, err = f.store.Thread(f.ctx, th.ID)
	f.ok(err)
	f.equal(got.Launch.Args[0], "--a")

	c := f.next(th.ID, thread.Checkpoint{})
	it := item("mine")
	data := []byte("data")
	c = f.put(c, thread.Delta{Items: []thread.Item{it}, Transcript: []thread.Chunk{{File: "main", Data: data}}})
	it.Raw[0], data[0] = 'X', 'X'
	for range 2 {
		items, err := f.store.Conversation(f.ctx, c.ID)
		f.ok(err)
		f.equal(items, []thread.Item{item("mine")})
		files, err := f.store.Transcript(f.ctx, c.ID)
		f.ok(err)
		f.equal(string(files[0].Data), "data")
		items[0].Raw[0], files[0].Data[0] = 'X', 'X'
	}
}
