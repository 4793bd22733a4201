package worktest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Harness creates stores to test.
type Harness struct {
	// Open returns a new, empty store with a clock; the suite does not close it.
	Open func(t *testing.T, now func() time.Time) work.Store
	// Reopen closes a store and opens it again; nil if nothing outlives a store.
	Reopen func(t *testing.T, s work.Store, now func() time.Time) work.Store
	// Second opens what a store has open a second time, as another server does; nil if that is not possible.
	Second func(t *testing.T, s work.Store) work.Store
	// Spoil damages the stored record of an execution, or of its event with the number seq if that is not 0.
	Spoil func(t *testing.T, s work.Store, id work.ID, seq int64)
}

// fixture is a store with helpers that fail the test on errors.
type fixture struct {
	*testing.T
	store work.Store
	h     Harness
	ctx   context.Context
	clock atomic.Int64 // seconds since start
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

// now is the store's clock: it goes on by a second each time it is asked.
func (f *fixture) now() time.Time { return start.Add(time.Duration(f.clock.Add(1)) * time.Second) }

func (f *fixture) reopen() {
	f.Helper()
	if f.h.Reopen != nil {
		f.store = f.h.Reopen(f.T, f.store, f.now)
	}
}

// second returns another handle of the store, or the store itself if there can be no other.
func (f *fixture) second() work.Store {
	f.Helper()
	if f.h.Second == nil {
		return f.store
	}
	return f.h.Second(f.T, f.store)
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %v", err, want)
	}
}

func (f *fixture) equal(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		f.Fatalf("got %.4000s\nwant %.4000s", g, w)
	}
}

// fresh returns an execution to add.
func fresh(of thread.ID) work.Execution {
	return work.Execution{ID: thread.NewID[work.ID](), Thread: of, Prompt: thread.NewID[thread.PromptID](), Agent: "demo",
		Deadline: 10 * time.Minute, Lost: work.PolicyAsk, Created: start}
}

// add adds an execution of a thread.
func (f *fixture) add(of thread.ID) work.Execution {
	f.Helper()
	x, err := f.store.Add(f.ctx, fresh(of))
	f.ok(err)
	return x
}

// claim gives an execution to a server.
func (f *fixture) claim(x work.Execution) work.Execution {
	f.Helper()
	x, err := f.store.Claim(f.ctx, x.ID, "server", start)
	f.ok(err)
	return x
}

// become changes the state of an execution as its server does.
func (f *fixture) become(x work.Execution, states ...work.State) work.Execution {
	f.Helper()
	for _, s := range states {
		var err error
		x, err = f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State = s; return nil })
		f.ok(err)
	}
	return x
}

// stored checks that an execution is stored as it is.
func (f *fixture) stored(x work.Execution) {
	f.Helper()
	for _, ref := range []string{string(x.ID), x.Name} {
		got, err := f.store.Execution(f.ctx, ref)
		f.ok(err)
		f.equal(got, x)
	}
}

// events returns the events of an execution, and checks that their numbers have no gap.
func (f *fixture) events(id work.ID) []work.Event {
	f.Helper()
	out, err := f.store.Events(f.ctx, id, 0, 10_000)
	f.ok(err)
	for i, e := range out {
		f.equal(e.Seq, int64(i+1))
	}
	return out
}

// states returns the states that the events of an execution tell.
func (f *fixture) states(id work.ID) []work.State {
	f.Helper()
	out := []work.State{}
	for _, e := range f.events(id) {
		if e.State != "" {
			out = append(out, e.State)
		}
	}
	return out
}

func (f *fixture) list(q work.Query) []string {
	f.Helper()
	xs, err := f.store.Executions(f.ctx, q)
	f.ok(err)
	return names(xs)
}

func (f *fixture) open() []string {
	f.Helper()
	xs, err := f.store.Open(f.ctx)
	f.ok(err)
	return names(xs)
}

func names(xs []work.Execution) []string {
	out := []string{}
	for _, x := range xs {
		out = append(out, x.Name)
	}
	return out
}
