package worktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

func testEvents(_ *testing.T, f *fixture) {
	x := f.claim(f.add("t1"))
	f.ok(f.store.Append(f.ctx, x.ID, x.Fence))
	want := f.events(x.ID)
	for i := range 50 {
		e := work.Event{At: start.Add(time.Duration(i) * time.Second), Attempt: 1, Kind: "text", Text: fmt.Sprint("line ", i)}
		f.ok(f.store.Append(f.ctx, x.ID, x.Fence, e, e))
		for range 2 {
			e.Seq = int64(len(want) + 1)
			want = append(want, e)
		}
	}
	other := f.become(f.claim(f.add("t1")), work.Failed)
	f.reopen()
	f.equal(f.events(x.ID), want)
	f.equal(len(f.events(other.ID)), 3)
	for _, p := range []struct {
		after int64
		limit int
	}{{0, 1}, {10, 5}, {101, 5}, {102, 5}, {1 << 40, 5}, {-1, 3}, {0, 0}, {0, -1}, {0, 1 << 30}} {
		got, err := f.store.Events(f.ctx, x.ID, p.after, p.limit)
		f.ok(err)
		part := want[min(max(p.after, 0), int64(len(want))):]
		if p.limit > 0 {
			part = part[:min(len(part), p.limit)]
		}
		f.equal(got, append([]work.Event{}, part...))
	}
	undated := work.Event{Kind: "note"}
	f.ok(f.store.Append(f.ctx, x.ID, x.Fence, undated))
	got := f.events(x.ID)
	if last := got[len(got)-1]; last.At.IsZero() || last.Attempt != 1 {
		f.Fatalf("%+v", last)
	}
}

func testDamage(t *testing.T, f *fixture) {
	if f.h.Spoil == nil {
		t.Skip("SKIPPED: nothing can be damaged here")
	}
	a, b, c := f.become(f.claim(f.add("t1")), work.Running), f.add("t2"), f.become(f.claim(f.add("t1")), work.Failed)
	f.ok(f.store.Append(f.ctx, c.ID, c.Fence, work.Event{Kind: "text", Text: "one"}, work.Event{Kind: "text", Text: "two"}))
	f.h.Spoil(t, f.store, a.ID, 0)
	f.h.Spoil(t, f.store, c.ID, 4)
	f.reopen()
	f.equal(f.open(), []string{b.Name})
	got, err := f.store.Executions(f.ctx, work.Query{})
	f.ok(err)
	f.equal(got, []work.Execution{c, b, work.Damaged(a.ID, a.Name, a.Thread)})
	for _, ref := range []string{string(a.ID), a.Name} {
		_, err = f.store.Execution(f.ctx, ref)
		f.is(err, thread.ErrDamaged)
	}
	_, err = f.store.Change(f.ctx, a.ID, a.Fence, func(*work.Execution) error { return nil })
	f.is(err, thread.ErrDamaged)
	_, err = f.store.Supersede(f.ctx, a.ID, func(*work.Execution) error { return nil })
	f.is(err, thread.ErrDamaged)
	events := f.events(c.ID)
	f.equal(events[3], work.DamagedEvent(4))
	f.equal(events[4].Text, "two")
	f.equal(len(f.events(a.ID)), 3) // those of a damaged one are there
	f.equal(f.add("t1").Name, "exec-004")
}

// testRace has many servers claim the same executions: each goes to one.
func testRace(_ *testing.T, f *fixture) {
	const servers, each = 4, 10
	var xs []work.Execution
	for range each {
		xs = append(xs, f.add("t1"))
	}
	var got [each]atomic.Int64
	errs := make(chan error, servers*each)
	var wg sync.WaitGroup
	for n := range servers {
		s := f.store
		if n%2 == 1 {
			s = f.second()
		}
		wg.Go(func() {
			for i, x := range xs {
				_, err := s.Claim(f.ctx, x.ID, fmt.Sprint("s", n), start)
				switch {
				case err == nil:
					got[i].Add(1)
				case !errors.Is(err, work.ErrFence):
					errs <- err
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	for i := range got {
		f.equal(got[i].Load(), int64(1))
		x, err := f.store.Execution(f.ctx, xs[i].Name)
		f.ok(err)
		f.equal([]any{x.Attempt, x.Fence}, []any{1, int64(1)})
		f.equal(f.states(x.ID), []work.State{work.Queued, work.Deployed})
	}
}

// testNumbers has many add at once: each gets a name of its own, and no number is left out.
func testNumbers(_ *testing.T, f *fixture) {
	const workers, each = 6, 10
	errs := make(chan error, workers)
	var seen sync.Map
	var wg sync.WaitGroup
	for n := range workers {
		s := f.store
		if n%2 == 1 {
			s = f.second()
		}
		wg.Go(func() {
			for range each {
				x, err := s.Add(f.ctx, fresh("t1"))
				if err != nil {
					errs <- err
					return
				}
				if _, twice := seen.LoadOrStore(x.Name, true); twice {
					errs <- fmt.Errorf("%s twice", x.Name)
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	for n := range workers * each {
		if _, there := seen.Load(work.Numbered(int64(n + 1))); !there {
			f.Fatalf("%s is missing", work.Numbered(int64(n+1)))
		}
	}
}

// testTwice has many add the same execution at once: it is stored once, and all get it.
func testTwice(_ *testing.T, f *fixture) {
	const workers = 6
	x := fresh("t1")
	errs := make(chan error, workers)
	got := make([]work.Execution, workers)
	var wg sync.WaitGroup
	for n := range workers {
		s := f.store
		if n%2 == 1 {
			s = f.second()
		}
		wg.Go(func() {
			var err error
			got[n], err = s.Add(f.ctx, x)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	for _, x := range got {
		f.equal(x, got[0])
	}
	f.equal(len(f.events(x.ID)), 1)
	f.equal(f.list(work.Query{}), []string{got[0].Name})
}

// testWriters has a server write while another one takes executions away, and checks that the record agrees.
func testWriters(_ *testing.T, f *fixture) {
	const each = 40
	x := f.become(f.claim(f.add("t1")), work.Running)
	y := f.become(f.claim(f.add("t2")), work.Running)
	other := f.second()
	errs := make(chan error, 4)
	var wg sync.WaitGroup
	var written atomic.Int64
	for _, of := range []work.Execution{x, y, y} {
		wg.Go(func() {
			for i := range each {
				err := f.store.Append(f.ctx, of.ID, of.Fence, work.Event{Kind: "text", Text: fmt.Sprint(i)})
				if of.ID == x.ID && errors.Is(err, work.ErrFence) {
					return
				}
				if err != nil {
					errs <- err
					return
				}
				if of.ID == x.ID {
					written.Add(1)
				}
			}
		})
	}
	wg.Go(func() {
		_, err := other.Supersede(f.ctx, x.ID, func(x *work.Execution) error { x.State = work.Cancelled; return nil })
		errs <- err
	})
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	f.equal(len(f.events(y.ID)), 3+2*each)
	events := f.events(x.ID)
	f.equal(int64(len(events)), 4+written.Load())
	f.equal(events[len(events)-1].State, work.Cancelled) // nothing was written after
}

func testCancelled(_ *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if f.h.Reopen == nil {
		return // in memory nothing waits
	}
	_, err := f.store.Add(ctx, fresh("t1"))
	f.is(err, context.Canceled)
	f.equal(f.open(), []string{})
	f.equal(f.add("t1").Name, "exec-001")
}
