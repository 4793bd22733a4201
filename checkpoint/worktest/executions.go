package worktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

func testAdd(_ *testing.T, f *fixture) {
	x := fresh("t1")
	x.Agent, x.Account, x.By, x.Depth, x.Priority = "demo", "acc", "t0", 2, 7
	x.ReadOnly, x.Lost, x.Dispose = true, work.PolicyRetry, work.DisposeBranch
	x.Reason, x.Created = "why", start.In(time.FixedZone("", 3600))
	x.State, x.Attempt, x.Fence, x.Server, x.Process = work.Running, 3, 9, "s", "p" // not the caller's to say
	x.Started, x.Ended = start, start
	got, err := f.store.Add(f.ctx, x)
	f.ok(err)
	want := x
	want.Name, want.State, want.Created = "exec-001", work.Queued, start
	want.Attempt, want.Fence, want.Server, want.Process, want.Started, want.Ended = 0, 0, "", "", time.Time{}, time.Time{}
	f.equal(got, want)
	f.reopen()
	f.stored(want)
	f.equal(f.events(x.ID), []work.Event{{Seq: 1, At: start, State: work.Queued}})

	again := x
	again.Name, again.Thread = "other", "t2"
	got, err = f.store.Add(f.ctx, again) // what is stored is returned
	f.ok(err)
	f.equal(got, want)
	f.equal(len(f.events(x.ID)), 1)
	f.equal(f.add("t1").Name, "exec-002")

	undated := fresh("t1")
	undated.Created = time.Time{}
	got, err = f.store.Add(f.ctx, undated)
	f.ok(err)
	if got.Created.Before(start) {
		f.Fatalf("created %v", got.Created)
	}
}

func testAddRefused(_ *testing.T, f *fixture) {
	for name, change := range map[string]func(*work.Execution){
		"no id":            func(x *work.Execution) { x.ID = "" },
		"bad id":           func(x *work.Execution) { x.ID = "../x" },
		"no thread":        func(x *work.Execution) { x.Thread = "" },
		"bad name":         func(x *work.Execution) { x.Name = "a b" },
		"given name":       func(x *work.Execution) { x.Name = "exec-7" },
		"no policy":        func(x *work.Execution) { x.Lost = "" },
		"unknown policy":   func(x *work.Execution) { x.Lost = "hope" },
		"unknown disposal": func(x *work.Execution) { x.Dispose = "burn" },
	} {
		x := fresh("t1")
		change(&x)
		if _, err := f.store.Add(f.ctx, x); !errors.Is(err, thread.ErrInvalid) {
			f.Errorf("%s: %v", name, err)
		}
	}
	f.equal(f.open(), []string{})
	f.equal(f.add("t1").Name, "exec-001") // no number was used up
}

func testNames(_ *testing.T, f *fixture) {
	x := fresh("t1")
	x.Name = "review.a_1"
	got, err := f.store.Add(f.ctx, x)
	f.ok(err)
	f.equal(got.Name, "review.a_1")
	f.stored(got)
	y := fresh("t2")
	y.Name = x.Name
	_, err = f.store.Add(f.ctx, y)
	f.is(err, thread.ErrNameTaken)
	_, err = f.store.Execution(f.ctx, string(y.ID))
	f.is(err, thread.ErrNotFound)
	y.Name = "Review.a_1" // letters count as they are
	_, err = f.store.Add(f.ctx, y)
	f.ok(err)
	first, second := f.add("t1"), f.add("t1")
	f.equal([]string{first.Name, second.Name}, []string{"exec-001", "exec-002"})
	_, err = f.store.Execution(f.ctx, "exec-003")
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Execution(f.ctx, "")
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Execution(f.ctx, "x' OR '1'='1")
	f.is(err, thread.ErrNotFound)
	// A number is never given twice, also after its execution is gone.
	_, err = f.store.Supersede(f.ctx, second.ID, func(x *work.Execution) error { x.State = work.Cancelled; return nil })
	f.ok(err)
	f.become(f.claim(first), work.Failed)
	n, err := f.store.Purge(f.ctx, []thread.ID{"t1"})
	f.ok(err)
	f.equal(n, 2)
	f.reopen()
	f.equal(f.add("t1").Name, "exec-003")
}

// testLife goes through a whole life.
func testLife(_ *testing.T, f *fixture) {
	x := f.add("t1")
	at := start.Add(time.Hour)
	x, err := f.store.Claim(f.ctx, x.ID, "s1", at.In(time.FixedZone("", 7200)))
	f.ok(err)
	f.equal([]any{x.State, x.Attempt, x.Fence, x.Server}, []any{work.Deployed, 1, int64(1), "s1"})
	f.stored(x)
	_, err = f.store.Claim(f.ctx, x.ID, "s2", at)
	f.is(err, work.ErrFence)
	x, err = f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error {
		x.State, x.Process, x.Started = work.Running, "p1", at.Add(time.Second)
		return nil
	}, work.Event{At: at, Kind: "note", Text: "the process has the prompt"})
	f.ok(err)
	x = f.become(x, work.NeedsInput, work.Running)
	f.ok(f.store.Append(f.ctx, x.ID, x.Fence, work.Event{At: at, Kind: "text", Text: "hello"},
		work.Event{At: at, Kind: "tool", Text: "ls"}))
	f.reopen()
	x, err = f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error {
		x.State, x.Answer, x.Output, x.Printed = work.Completed, "done", "tok", 77
		x.Usage = thread.Usage{Input: 5, Output: 6, CostUSD: 0.25, Priced: true}
		return nil
	})
	f.ok(err)
	if x.Ended.IsZero() {
		f.Fatal("it has no end")
	}
	f.reopen()
	f.stored(x)
	f.equal(f.states(x.ID), []work.State{work.Queued, work.Deployed, work.Running, work.NeedsInput, work.Running, work.Completed})
	events := f.events(x.ID)
	f.equal(events[1], work.Event{Seq: 2, At: at, Attempt: 1, State: work.Deployed})
	f.equal(events[2], work.Event{Seq: 3, At: at, Attempt: 1, Kind: "note", Text: "the process has the prompt"})
	// What is final may still learn where its output lies.
	x, err = f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { x.Output = "other"; return nil })
	f.ok(err)
	f.stored(x)
	_, err = f.store.Claim(f.ctx, x.ID, "s1", at)
	f.is(err, work.ErrFence)
}

// testAsks has an execution ask a person: its question is kept while it needs input, and no longer.
func testAsks(_ *testing.T, f *fixture) {
	key := "ghp_" + strings.Repeat("a1B2", 9)
	q := &thread.Question{
		ID: "4f-1", Kind: thread.QuestionPermission, Text: "Allow this command?", About: "push --token " + key, Since: start.In(time.FixedZone("", 3600)),
		Choices: []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "No \xff", Means: thread.Deny}, {Text: "Other", Means: thread.OwnWords}},
	}
	ask := func(x work.Execution) work.Execution {
		x, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error {
			x.State, x.Reason, x.Question, x.Waited = work.NeedsInput, "push", q, time.Minute
			return nil
		})
		f.ok(err)
		return x
	}
	x := ask(f.become(f.claim(f.add("t1")), work.Running))
	f.stored(x)
	f.reopen()
	f.stored(x)
	f.equal([]any{x.Question.ID, x.Question.Since, len(x.Question.Choices), x.Question.Choices[2], x.Waited},
		[]any{"4f-1", start.UTC(), 3, q.Choices[2], time.Minute})
	if x.Question == q || strings.Contains(x.Question.About, key) || !strings.HasPrefix(x.Question.About, "push --token ") {
		f.Fatalf("stored about %q", x.Question.About)
	}
	if open, err := f.store.Open(f.ctx); err != nil || len(open) != 1 || open[0].Question == nil || open[0].Question.ID != q.ID {
		f.Fatalf("open: %+v, %v", open, err)
	}
	x = f.become(x, work.Running)
	f.stored(x)
	if x.Question != nil {
		f.Fatalf("it works and asks %+v", x.Question)
	}
	for _, end := range []work.State{work.Lost, work.Cancelled, work.Failed, work.Completed} {
		y := ask(f.become(f.claim(f.add("t2")), work.Running))
		y, err := f.store.Supersede(f.ctx, y.ID, func(x *work.Execution) error { x.State = end; return nil })
		f.ok(err)
		f.stored(y)
		if y.Question != nil {
			f.Fatalf("it is %s and asks %+v", end, y.Question)
		}
	}
}

func testChange(_ *testing.T, f *fixture) {
	x := f.claim(f.add("t1"))
	n := len(f.events(x.ID))
	own := errors.New("own")
	_, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { x.Reason = "no"; return own },
		work.Event{Kind: "note"})
	if err != own { //nolint:errorlint // unchanged
		f.Fatalf("%v", err)
	}
	for name, change := range map[string]func(*work.Execution){
		"id":      func(x *work.Execution) { x.ID = "other" },
		"name":    func(x *work.Execution) { x.Name = "other" },
		"thread":  func(x *work.Execution) { x.Thread = "other" },
		"by":      func(x *work.Execution) { x.By = "other" },
		"depth":   func(x *work.Execution) { x.Depth++ },
		"attempt": func(x *work.Execution) { x.Attempt++ },
		"fence":   func(x *work.Execution) { x.Fence++ },
		"created": func(x *work.Execution) { x.Created = x.Created.Add(1) },
		"state":   func(x *work.Execution) { x.State = work.Completed },
	} {
		_, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { change(x); return nil })
		if !errors.Is(err, thread.ErrInvalid) {
			f.Errorf("%s: %v", name, err)
		}
	}
	f.stored(x)
	f.equal(len(f.events(x.ID)), n)
	_, err = f.store.Change(f.ctx, "none", 1, func(*work.Execution) error { return nil })
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Supersede(f.ctx, "none", func(*work.Execution) error { return nil })
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Claim(f.ctx, "none", "s", start)
	f.is(err, thread.ErrNotFound)
	f.is(f.store.Append(f.ctx, "none", 1, work.Event{}), thread.ErrNotFound)
	_, err = f.store.Events(f.ctx, "none", 0, 0)
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Executions(f.ctx, work.Query{Before: "none"})
	f.is(err, thread.ErrNotFound)
}

func testFence(_ *testing.T, f *fixture) {
	x := f.claim(f.add("t1"))
	for _, fence := range []int64{x.Fence - 1, x.Fence + 1, -1} {
		_, err := f.store.Change(f.ctx, x.ID, fence, func(*work.Execution) error {
			f.Error("it was changed")
			return nil
		})
		f.is(err, work.ErrFence)
		f.is(f.store.Append(f.ctx, x.ID, fence, work.Event{Kind: "text"}), work.ErrFence)
	}
	f.stored(x)
	f.equal(len(f.events(x.ID)), 2)
}

// testSupersede has a second server take an execution away, and the first one write on.
func testSupersede(_ *testing.T, f *fixture) {
	x := f.become(f.claim(f.add("t1")), work.Running)
	other := f.second()
	lost, err := other.Supersede(f.ctx, x.ID, func(x *work.Execution) error {
		x.State, x.Reason = work.Lost, "its server died"
		return nil
	}, work.Event{At: start, Kind: "note", Text: "swept"})
	f.ok(err)
	f.equal([]any{lost.State, lost.Fence}, []any{work.Lost, x.Fence + 1})
	_, err = f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State = work.Completed; return nil })
	f.is(err, work.ErrFence)
	f.is(f.store.Append(f.ctx, x.ID, x.Fence, work.Event{Kind: "text"}), work.ErrFence)
	f.stored(lost)
	events := f.events(x.ID)
	f.equal(events[len(events)-1].Text, "its server died")
	again, err := other.Supersede(f.ctx, x.ID, func(x *work.Execution) error {
		x.State, x.Reason = work.Queued, "once more"
		return nil
	})
	f.ok(err)
	f.equal([]any{again.Server, again.Ended.IsZero(), again.Fence}, []any{"", true, lost.Fence + 1})
	x = f.claim(again)
	f.equal([]any{x.Attempt, x.Fence, x.Reason}, []any{2, again.Fence + 1, ""})
	f.equal(f.states(x.ID), []work.State{work.Queued, work.Deployed, work.Running, work.Lost, work.Queued, work.Deployed})
}

// testTransition tries every pair of states.
func testTransition(_ *testing.T, f *fixture) {
	paths := map[work.State][]work.State{
		work.Queued: nil, work.Deployed: {}, work.Running: {work.Running}, work.NeedsInput: {work.Running, work.NeedsInput},
		work.Completed: {work.Running, work.Completed}, work.Failed: {work.Failed}, work.Cancelled: {work.Cancelled},
		work.Lost: {work.Lost},
	}
	for from, path := range paths {
		for _, to := range append(work.States(), "unknown") {
			x := f.add("t1")
			if path != nil {
				x = f.become(f.claim(x), path...)
			}
			f.equal(x.State, from)
			got, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State = to; return nil })
			if work.Follows(from, to) {
				f.ok(err)
				f.equal(got.State, to)
				x = got
			} else {
				f.is(err, thread.ErrInvalid)
			}
			f.stored(x)
			if x.State.Final() == slices.Contains(f.open(), x.Name) {
				f.Fatalf("%s is open and final", x.State)
			}
		}
	}
}

func testOpen(_ *testing.T, f *fixture) {
	f.equal(f.open(), []string{})
	a, b, c := f.add("t1"), f.add("t2"), f.add("t3")
	f.become(f.claim(b), work.Running)
	f.equal(f.open(), []string{a.Name, b.Name, c.Name})
	f.become(f.claim(a), work.Running, work.Completed)
	lost := f.become(f.claim(c), work.Lost)
	f.reopen()
	f.equal(f.open(), []string{b.Name})
	_, err := f.store.Supersede(f.ctx, lost.ID, func(x *work.Execution) error { x.State = work.Queued; return nil })
	f.ok(err)
	f.equal(f.open(), []string{b.Name, c.Name})
}

func testList(_ *testing.T, f *fixture) {
	f.equal(f.list(work.Query{}), []string{})
	var all []work.Execution
	for i := range 12 {
		x := f.add(thread.ID(fmt.Sprint("t", i%3)))
		if i%2 == 0 {
			x = f.become(f.claim(x), work.Failed)
		}
		if i%4 == 1 {
			x = f.become(f.claim(x), work.Running)
		}
		all = append(all, x)
	}
	for name, q := range map[string]work.Query{
		"all":            {},
		"limit":          {Limit: 5},
		"large limit":    {Limit: 1 << 30},
		"before":         {Before: all[7].ID, Limit: 3},
		"before first":   {Before: all[0].ID},
		"thread":         {Thread: "t1"},
		"no such thread": {Thread: "none"},
		"state":          {States: []work.State{work.Failed}},
		"states":         {States: []work.State{work.Queued, work.Running}, Limit: 4},
		"state twice":    {States: []work.State{work.Failed, work.Failed}},
		"no such state":  {States: []work.State{"unknown"}},
		"everything":     {Thread: "t2", States: []work.State{work.Failed, work.Queued}, Before: all[11].ID, Limit: 2},
	} {
		want := []string{}
		for i := len(all) - 1; i >= 0 && len(want) < q.Size(); i-- {
			x := all[i]
			older := q.Before == "" || i < slices.IndexFunc(all, func(x work.Execution) bool { return x.ID == q.Before })
			if older && (q.Thread == "" || x.Thread == q.Thread) && (len(q.States) == 0 || slices.Contains(q.States, x.State)) {
				want = append(want, x.Name)
			}
		}
		if got := f.list(q); !slices.Equal(got, want) {
			f.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	got, err := f.store.Executions(f.ctx, work.Query{Limit: 2})
	f.ok(err)
	f.equal(got, []work.Execution{all[11], all[10]})
}

func testPurge(_ *testing.T, f *fixture) {
	done := f.become(f.claim(f.add("t1")), work.Failed)
	busy := f.become(f.claim(f.add("t1")), work.Running)
	kept := f.become(f.claim(f.add("t2")), work.Failed)
	f.ok(f.store.Append(f.ctx, done.ID, done.Fence, work.Event{Kind: "text", Text: "x"}))
	n, err := f.store.Purge(f.ctx, nil)
	f.ok(err)
	f.equal(n, 0)
	n, err = f.store.Purge(f.ctx, []thread.ID{"t1", "none", "t1"})
	f.ok(err)
	f.equal(n, 1)
	f.reopen()
	f.equal(f.list(work.Query{}), []string{kept.Name, busy.Name})
	_, err = f.store.Events(f.ctx, done.ID, 0, 0)
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Execution(f.ctx, done.Name)
	f.is(err, thread.ErrNotFound)
	f.equal(len(f.events(kept.ID)), 3)
	var many []thread.ID
	for i := range 3000 { // more than a statement takes values
		many = append(many, thread.ID(fmt.Sprint("gone", i)))
	}
	n, err = f.store.Purge(f.ctx, append(many, "t2"))
	f.ok(err)
	f.equal(n, 1)
}

// testHostile stores what agents and people may write.
func testHostile(_ *testing.T, f *fixture) {
	x := f.claim(f.add("t1"))
	bad := "a\x00b\xff\x1b[31m'\"; DROP TABLE execution; --\u2028"
	x, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error {
		x.State, x.Reason, x.Answer, x.Server = work.Running, bad, strings.Repeat("x", 1<<20), "s\x00"
		return nil
	}, work.Event{Kind: bad, Text: bad}, work.Event{Text: strings.Repeat("\u00e4", 1<<20)})
	f.ok(err)
	f.reopen()
	f.stored(x)
	if len(x.Answer) > 64<<10 || strings.Contains(x.Reason, "\xff") || !strings.Contains(x.Reason, "DROP TABLE") {
		f.Fatalf("%d bytes, %q", len(x.Answer), x.Reason)
	}
	for _, ref := range []string{"a\x00", "\xff", "%", strings.Repeat("x", 1<<16)} {
		_, err = f.store.Execution(f.ctx, ref)
		f.is(err, thread.ErrNotFound)
		f.equal(f.list(work.Query{Thread: thread.ID(ref)}), []string{})
		f.equal(f.list(work.Query{States: []work.State{work.State(ref)}}), []string{})
		n, err := f.store.Purge(f.ctx, []thread.ID{thread.ID(ref)})
		f.ok(err)
		f.equal(n, 0)
		_, err = f.store.Claim(f.ctx, work.ID(ref), "s", start)
		f.is(err, thread.ErrNotFound)
	}
	for _, e := range f.events(x.ID) {
		if len(e.Text) > 64<<10 || strings.Contains(e.Text, "\xff") {
			f.Fatalf("%d bytes: %.80q", len(e.Text), e.Text)
		}
	}
}
