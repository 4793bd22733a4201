package worktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// rec is the store as one of the whole record.
func (f *fixture) rec() work.Keeper {
	f.Helper()
	k, ok := f.store.(work.Keeper)
	if !ok {
		f.Fatalf("%T is no store of the record", f.store)
	}
	return k
}

func (f *fixture) session(name string) work.Session {
	f.Helper()
	s, err := f.rec().AddSession(f.ctx, work.Session{Name: name, Scope: "build it", Created: start})
	f.ok(err)
	return s
}

// by adds an execution by hand.
func (f *fixture) by(change func(*work.Execution)) work.Execution {
	f.Helper()
	x := work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, State: work.Deployed, Agent: "demo", Created: start}
	change(&x)
	x, err := f.store.Add(f.ctx, x)
	f.ok(err)
	return x
}

// complete ends an execution.
func (f *fixture) complete(x work.Execution, events ...work.Event) work.Execution {
	f.Helper()
	x, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State = work.Completed; return nil }, events...)
	f.ok(err)
	return x
}

func (f *fixture) recorded(q work.RecordQuery) []string {
	f.Helper()
	xs, err := f.rec().Recorded(f.ctx, q)
	f.ok(err)
	return names(xs)
}

func testSessions(_ *testing.T, f *fixture) {
	r := f.rec()
	s, err := r.AddSession(f.ctx, work.Session{Scope: "a\x00b\xff", Metadata: json.RawMessage(` {"a": "<\u0000"} `), By: "t1", Host: "h"})
	f.ok(err)
	f.equal([]any{s.Name, s.Scope, string(s.Metadata), s.Status, s.Approval, s.Updated},
		[]any{"work-001", "a\uFFFDb\uFFFD", `{"a":"<\ufffd"}`, work.SessionPlanning, work.ApproveSuggest, s.Created})
	f.reopen()
	r = f.rec()
	got, err := r.Session(f.ctx, s.Name)
	f.ok(err)
	f.equal(got, s)
	f.session("orch-2025-01-17-001")
	_, err = r.AddSession(f.ctx, work.Session{Name: "orch-2025-01-17-001", Scope: "x"})
	f.is(err, thread.ErrNameTaken)
	f.session("work-002") // a number that a person has taken is skipped
	third, err := r.AddSession(f.ctx, work.Session{Scope: "x"})
	f.ok(err)
	f.equal(third.Name, "work-003")
	_, err = r.Session(f.ctx, "none")
	f.is(err, thread.ErrNotFound)
	for name, bad := range map[string]work.Session{
		"name": {Name: "a b"}, "phase": {Phase: 6}, "status": {Status: "odd"}, "policy": {Approval: "never"},
		"metadata": {Metadata: json.RawMessage("{")}, "no object": {Metadata: json.RawMessage("[]")}, "warning": {WarnAt: 2},
	} {
		if _, err := r.AddSession(f.ctx, bad); err == nil {
			f.Errorf("%s: it was taken", name)
		} else {
			f.is(err, thread.ErrInvalid)
		}
	}
	list := func(q work.SessionQuery) string {
		all, err := r.Sessions(f.ctx, q)
		f.ok(err)
		out := ""
		for _, s := range all {
			out += " " + s.Name
		}
		return strings.TrimSpace(out)
	}
	f.equal(list(work.SessionQuery{}), "work-003 work-002 orch-2025-01-17-001 work-001")
	f.equal(list(work.SessionQuery{Limit: 1}), "work-003")
	f.equal(list(work.SessionQuery{Before: "work-002"}), "orch-2025-01-17-001 work-001")
	f.equal(list(work.SessionQuery{By: "t1"}), "work-001")
	_, err = r.Sessions(f.ctx, work.SessionQuery{Before: "none"})
	f.is(err, thread.ErrNotFound)

	own := fmt.Errorf("own")
	_, err = r.ChangeSession(f.ctx, "work-002", func(*work.Session) error { return own })
	f.is(err, own)
	_, err = r.ChangeSession(f.ctx, "work-002", func(s *work.Session) error { s.Name = "other"; return nil })
	f.is(err, thread.ErrInvalid)
	_, err = r.ChangeSession(f.ctx, "none", func(*work.Session) error { return nil })
	f.is(err, thread.ErrNotFound)
	done, err := r.ChangeSession(f.ctx, "work-002", func(s *work.Session) error { s.Status, s.Phase = work.SessionCompleted, 5; return nil })
	f.ok(err)
	if done.Completed.IsZero() || !done.Updated.After(start) {
		f.Fatalf("%+v", done)
	}
	_, err = r.ChangeSession(f.ctx, "work-002", func(s *work.Session) error { s.Status = work.SessionExecuting; return nil })
	f.is(err, thread.ErrRefused)
	f.equal(list(work.SessionQuery{Statuses: []work.SessionStatus{work.SessionCompleted}}), "work-002")
}

// testBelongs: executions belong to work sessions that there are, and that are open.
func testBelongs(_ *testing.T, f *fixture) {
	f.session("s1")
	x := fresh("t1")
	x.Session, x.Task = "s1", "part"
	x, err := f.store.Add(f.ctx, x)
	f.ok(err)
	other := fresh("t1")
	other.Session = "none"
	_, err = f.store.Add(f.ctx, other)
	f.is(err, thread.ErrNotFound)
	free := f.add("t1")
	_, err = f.store.Change(f.ctx, free.ID, free.Fence, func(x *work.Execution) error { x.Session = "none"; return nil })
	f.is(err, thread.ErrNotFound)
	_, err = f.rec().ChangeSession(f.ctx, "s1", func(s *work.Session) error { s.Status = work.SessionFailed; return nil })
	f.ok(err)
	other.Session = "s1"
	_, err = f.store.Add(f.ctx, other)
	f.is(err, thread.ErrRefused)
	_, err = f.store.Change(f.ctx, free.ID, free.Fence, func(x *work.Execution) error { x.Session = "s1"; return nil })
	f.is(err, thread.ErrRefused)
	f.become(f.claim(x), work.Running) // what is in it goes on
	f.equal(f.recorded(work.RecordQuery{Session: "s1"}), []string{x.Name})

	// Processes and sub-agents are there, whatever has become of their work session.
	names := []string{x.Name}
	for _, kind := range []work.Kind{work.KindTerminal, work.KindNative} {
		for _, session := range []string{"s1", "gone"} {
			y := fresh("t1")
			y.Kind, y.State, y.Session, y.Task = kind, work.Running, session, "part"
			y, err = f.store.Add(f.ctx, y)
			f.ok(err)
			f.equal(y.Session, session)
			if session == "s1" {
				names = append([]string{y.Name}, names...)
			}
		}
	}
	f.equal(f.recorded(work.RecordQuery{Session: "s1"}), names)
}

// task has a task of a work session be as given; one that is there keeps its time.
func (f *fixture) task(t work.Task) (work.Task, error) {
	return f.rec().ChangeTask(f.ctx, t.Session, t.Title, func(is *work.Task) error {
		if !is.Created.IsZero() {
			t.Created = is.Created
		}
		*is = t
		return nil
	})
}

func testTasks(_ *testing.T, f *fixture) {
	f.session("s1")
	_, err := f.task(work.Task{Session: "none", Title: "a"})
	f.is(err, thread.ErrNotFound)
	_, err = f.task(work.Task{Session: "s1"})
	f.is(err, thread.ErrInvalid)
	a, err := f.task(work.Task{Session: "s1", Title: "a", Created: start})
	f.ok(err)
	b, err := f.task(work.Task{Session: "s1", Title: "b", Body: "all"})
	f.ok(err)
	a2, err := f.task(work.Task{Session: "s1", Title: "a", Status: work.TaskComplete, Created: start.Add(time.Hour)})
	f.ok(err)
	f.equal([]any{a.Status, a2.Status, a2.Created}, []any{work.TaskPending, work.TaskComplete, start})
	f.reopen()
	r := f.rec()
	got, err := r.Tasks(f.ctx, "s1")
	f.ok(err)
	f.equal(got, []work.Task{a2, b})
	_, err = r.Tasks(f.ctx, "none")
	f.is(err, thread.ErrNotFound)
	for _, change := range []func(*work.Task){
		func(t *work.Task) { t.Title = "b" }, func(t *work.Task) { t.By = "t1" }, func(t *work.Task) { t.Created = start.Add(1e9) },
	} {
		_, err := r.ChangeTask(f.ctx, "s1", "a", func(t *work.Task) error { change(t); return nil })
		f.is(err, thread.ErrInvalid)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { // none is lost
			if _, err := r.ChangeTask(f.ctx, "s1", "all", func(t *work.Task) error { t.Body += "x"; return nil }); err != nil {
				f.Error(err)
			}
		})
	}
	wait.Wait()
	got, err = r.Tasks(f.ctx, "s1")
	f.ok(err)
	f.equal(got[2].Body, "xxxxxxxx")
}

// testEnd: an end and what came of it are stored both, or neither.
func testEnd(_ *testing.T, f *fixture) {
	r := f.rec()
	x := f.by(func(x *work.Execution) { x.Name = "one" })
	end := func(x *work.Execution) error {
		if x.State.Final() {
			return thread.ErrRefused
		}
		x.State = work.Completed
		return nil
	}
	said := work.Event{Kind: work.KindSaid, Text: "done"}
	_, _, err := r.End(f.ctx, x.ID, x.Fence, end, []work.Output{insight("a"), {Type: "odd", Content: json.RawMessage("1")}}, said)
	f.is(err, thread.ErrInvalid)
	_, _, err = r.End(f.ctx, x.ID, x.Fence+1, end, []work.Output{insight("b")}, said)
	f.is(err, work.ErrFence)
	is, err := r.Execution(f.ctx, "one")
	f.ok(err)
	f.equal([]any{is.State, is.Said, f.outputs(work.OutputQuery{})}, []any{x.State, int64(0), ""})
	ended, list, err := r.End(f.ctx, x.ID, x.Fence, end, []work.Output{insight("c")}, said)
	f.ok(err)
	f.equal([]any{ended.State, ended.Said > 0, len(list), list[0].Execution}, []any{work.Completed, true, 1, "one"})
	_, _, err = r.End(f.ctx, x.ID, x.Fence, end, []work.Output{insight("d")}, said)
	f.is(err, thread.ErrRefused)
	f.reopen()
	all, err := f.rec().Outputs(f.ctx, work.OutputQuery{Execution: "one"})
	f.ok(err)
	f.equal(all, list)
}

// testKinds: the queue sees runs only, the record all; each kind has names of its own, and numbers that a person has taken
// are skipped.
func testKinds(_ *testing.T, f *fixture) {
	hand := f.by(func(x *work.Execution) { x.Name = "exec-001" })
	run := f.add("t1")
	f.equal(run.Name, "exec-002")
	add := func(kind work.Kind) work.Execution {
		x, err := f.store.Add(f.ctx, work.Execution{ID: thread.NewID[work.ID](), Kind: kind, State: work.Running, Thread: "t1", Agent: "demo",
			Parent: run.ID}, work.Event{Kind: work.KindGiven, Text: "do this"})
		f.ok(err)
		return x
	}
	term, sub := add(work.KindTerminal), add(work.KindNative)
	f.equal([]string{term.Name, sub.Name}, []string{"term-001", "sub-001"})
	f.equal(f.open(), []string{"exec-002"})
	f.equal(f.list(work.Query{}), []string{"exec-002"})
	f.equal(f.list(work.Query{Thread: "t1", States: []work.State{work.Running, work.Queued}}), []string{"exec-002"})
	f.equal(f.recorded(work.RecordQuery{}), []string{"sub-001", "term-001", "exec-002", "exec-001"})
	f.equal(f.recorded(work.RecordQuery{Kinds: []work.Kind{work.KindRun, work.KindHand}}), []string{"exec-002", "exec-001"})
	_, err := f.store.Add(f.ctx, work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, State: work.Deployed, Name: "exec-002"})
	f.is(err, thread.ErrNameTaken)
	f.equal([]int64{term.Given, hand.Given}, []int64{2, 0})
	done := f.complete(term, work.Event{Kind: work.KindSaid, Text: "all done\x00"})
	f.equal(done.Said, int64(3))
	f.reopen()
	f.stored(done)
	events := f.events(done.ID)
	f.equal([]string{events[1].Text, events[2].Text}, []string{"do this", "all done\uFFFD"})
	f.ok(f.store.Append(f.ctx, done.ID, done.Fence, work.Event{Kind: work.KindSaid, Text: "more"}))
	got, err := f.store.Execution(f.ctx, done.Name)
	f.ok(err)
	f.equal(got.Said, int64(len(f.events(done.ID))))
	long := strings.Repeat("y", 300<<10)
	f.ok(f.store.Append(f.ctx, done.ID, done.Fence, work.Event{Kind: work.KindSaid, Text: long}))
	events = f.events(done.ID)
	f.equal(events[len(events)-1].Text, long) // in full

	// A purge of a thread leaves what was written down by hand.
	mine := f.complete(f.by(func(x *work.Execution) { x.Thread, x.By = "t1", "t1" }))
	f.complete(sub)
	n, err := f.store.Purge(f.ctx, []thread.ID{"t1"})
	f.ok(err)
	f.equal(n, 2)
	f.equal(f.recorded(work.RecordQuery{}), []string{mine.Name, "exec-002", "exec-001"})
}

func insight(s string) work.Output {
	doc, _ := json.Marshal(s) // a text
	return work.Output{Type: work.OutputInsight, Content: doc}
}

func file(path string, added int) work.Output {
	doc, _ := json.Marshal(work.Deliverable{Path: path, Added: added}) // numbers and a text
	return work.Output{Type: work.OutputDeliverable, Path: path, Content: doc}
}

func (f *fixture) outputs(q work.OutputQuery) string {
	f.Helper()
	all, err := f.rec().Outputs(f.ctx, q)
	f.ok(err)
	out := []string{}
	for _, o := range all {
		current := ""
		if o.Current {
			current = "*"
		}
		out = append(out, fmt.Sprintf("%d:%s:%s:%d%s", o.N, o.Execution, o.Path, o.Version, current))
	}
	return strings.Join(out, " ")
}

func testOutputs(_ *testing.T, f *fixture) {
	f.session("s1")
	r := f.rec()
	a := f.by(func(x *work.Execution) { x.Session, x.Type, x.Model, x.Name = "s1", "debugger", "m", "a" })
	b := f.by(func(x *work.Execution) { x.Session, x.Name, x.By = "s1", "b", "t9" })
	c := f.by(func(x *work.Execution) { x.Name, x.Thread = "c", "t3" })
	_, err := r.AddOutputs(f.ctx, "none", []work.Output{insight("x")})
	f.is(err, thread.ErrNotFound)
	for name, bad := range map[string]work.Output{
		"type": {Type: "odd", Content: json.RawMessage("1")}, "content": {Type: work.OutputError, Content: json.RawMessage("{")},
		"none": {Type: work.OutputError}, "path": {Type: work.OutputDeliverable, Content: json.RawMessage("1"), Path: strings.Repeat("x", 5000)},
	} {
		if _, err := r.AddOutputs(f.ctx, a.ID, []work.Output{insight("first"), bad}); err == nil {
			f.Errorf("%s: it was taken", name)
		}
	}
	f.equal(f.outputs(work.OutputQuery{}), "") // all or nothing
	got, err := r.AddOutputs(f.ctx, a.ID, []work.Output{file("lib/v.ts", 150), insight("O(log n) <b>\x00")})
	f.ok(err)
	f.equal([]any{got[0].N, got[0].Version, got[0].Current, got[0].Execution, got[0].Metadata.AgentType, got[0].Metadata.Model},
		[]any{int64(1), 1, true, "a", "debugger", "m"})
	f.equal([]any{got[1].Version, got[1].Current, string(got[1].Content)}, []any{0, true, `"O(log n) \u003cb\u003e\ufffd"`})
	again, err := r.AddOutputs(f.ctx, a.ID, []work.Output{insight("O(log n) <b>\x00"), file("lib/v.ts", 150)})
	f.ok(err)
	f.equal(again, []work.Output{got[1], got[0]}) // what is stored is returned
	_, err = r.AddOutputs(f.ctx, b.ID, []work.Output{file("lib/v.ts", 160), {Type: work.OutputError, Content: json.RawMessage(`"no"`), By: "t9"}})
	f.ok(err)
	_, err = r.AddOutputs(f.ctx, c.ID, []work.Output{file("lib/v.ts", 1)})
	f.ok(err)
	_, err = r.AddOutputs(f.ctx, a.ID, []work.Output{file("lib/v.ts", 170)})
	f.ok(err)
	f.reopen()
	r = f.rec()
	f.equal(f.outputs(work.OutputQuery{}), "6:a:lib/v.ts:3* 5:c:lib/v.ts:1* 4:b::0* 3:b:lib/v.ts:2 2:a::0* 1:a:lib/v.ts:1")
	who, none, t3 := thread.ID("t9"), thread.ID(""), thread.ID("t3")
	for want, q := range map[string]work.OutputQuery{
		"6:a:lib/v.ts:3* 2:a::0* 1:a:lib/v.ts:1":                        {Execution: "a"},
		"5:c:lib/v.ts:1*":                                               {Execution: string(c.ID)},
		"6:a:lib/v.ts:3* 4:b::0* 3:b:lib/v.ts:2 2:a::0* 1:a:lib/v.ts:1": {Session: "s1"},
		"6:a:lib/v.ts:3* 2:a::0*":                                       {AgentType: "debugger", Current: true},
		"4:b::0* 2:a::0*":                                               {Types: []work.OutputType{work.OutputInsight, work.OutputError}},
		"4:b::0*":                                                       {Types: []work.OutputType{work.OutputInsight, work.OutputError}, Limit: 1},
		"2:a::0*":                                                       {Types: []work.OutputType{work.OutputInsight, work.OutputError}, Before: 4, Current: true},
		"5:c:lib/v.ts:1* 4:b::0*":                                       {Types: []work.OutputType{work.OutputDeliverable, work.OutputError}, Before: 6, Current: true},
		"3:b:lib/v.ts:2":                                                {Types: []work.OutputType{work.OutputDeliverable, work.OutputInsight}, Of: []work.ID{b.ID}},
		"4:b::0*  ":                                                     {Types: []work.OutputType{work.OutputError, work.OutputInsight}, By: &who},
		"5:c:lib/v.ts:1* 4:b::0* ":                                      {Of: []work.ID{b.ID, c.ID, "none"}, Limit: 2},
		"3:b:lib/v.ts:2 ":                                               {Of: []work.ID{b.ID, c.ID}, Before: 4},
		"6:a:lib/v.ts:3* 5:c:lib/v.ts:1*":                               {Path: "lib/v.ts", Limit: 2},
		"3:b:lib/v.ts:2 1:a:lib/v.ts:1":                                 {Path: "lib/v.ts", Before: 5},
		"4:b::0* 3:b:lib/v.ts:2":                                        {By: &who},
		"5:c:lib/v.ts:1* 4:b::0* 3:b:lib/v.ts:2 2:a::0* 1:a:lib/v.ts:1 ": {Before: 6},
		"":                 {By: &none},
		"5:c:lib/v.ts:1* ": {By: &t3},
	} {
		f.equal(f.outputs(q), strings.TrimSpace(want))
	}
	f.equal(f.outputs(work.OutputQuery{Since: start.Add(1000 * time.Hour)}), "")
	f.equal(f.outputs(work.OutputQuery{Execution: "none"}), "")
	// Its session and type follow the execution; numbers are never given again, and what is left is current.
	_, err = f.store.Change(f.ctx, a.ID, a.Fence, func(x *work.Execution) error { x.Type = "fixer"; return nil })
	f.ok(err)
	f.equal(f.outputs(work.OutputQuery{AgentType: "fixer", Types: []work.OutputType{work.OutputInsight}}), "2:a::0*")
	x := f.become(f.claim(f.add("t5")), work.Running)
	y := f.become(f.claim(f.add("t5")), work.Running)
	for _, of := range []work.Execution{x, y} {
		_, err = r.AddOutputs(f.ctx, of.ID, []work.Output{file("z", int(of.Fence)+len(of.Name)), file("z", 7)})
		f.ok(err)
	}
	f.equal(f.outputs(work.OutputQuery{Path: "z", Current: true}), "10:"+y.Name+":z:4*")
	f.complete(y)
	n, err := f.store.Purge(f.ctx, []thread.ID{"t5"})
	f.ok(err)
	f.equal(n, 1)
	f.equal(f.outputs(work.OutputQuery{Path: "z"}), "8:"+x.Name+":z:2* 7:"+x.Name+":z:1")
	more, err := r.AddOutputs(f.ctx, x.ID, []work.Output{file("z", 99)})
	f.ok(err)
	f.equal([]any{more[0].N, more[0].Version}, []any{int64(11), 3})
	for range 2 { // a file that is as it was before is a new version, once
		more, err = r.AddOutputs(f.ctx, x.ID, []work.Output{file("z", 7)})
		f.ok(err)
		f.equal([]any{more[0].N, more[0].Version, more[0].Current}, []any{int64(12), 4, true})
	}
}

// testVersions has many add a file's versions at once: each has its own, and one is current.
func testVersions(_ *testing.T, f *fixture) {
	f.session("s1")
	var xs []work.Execution
	for range 4 {
		xs = append(xs, f.by(func(x *work.Execution) { x.Session = "s1" }))
	}
	errs := make(chan error, 40)
	var wg sync.WaitGroup
	other, _ := f.second().(work.Record)
	for i, x := range xs {
		r := work.Record(f.rec())
		if i%2 == 1 {
			r = other
		}
		wg.Go(func() {
			for n := range 10 { // each has other files beside it, in another order
				files := []work.Output{file("f", n), file(fmt.Sprint("g", (n+i)%3), n), file(fmt.Sprint("g", (n+i+1)%3), n)}
				_, err := r.AddOutputs(f.ctx, x.ID, slices.Concat(files[i%3:], files[:i%3]))
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		f.ok(err)
	}
	all, err := f.rec().Outputs(f.ctx, work.OutputQuery{Path: "f"})
	f.ok(err)
	var versions []int
	current := 0
	for _, o := range all {
		versions = append(versions, o.Version)
		if o.Current {
			current++
			f.equal(o.Version, 40)
		}
	}
	slices.Sort(versions)
	f.equal([]any{len(versions), len(slices.Compact(versions)), current}, []any{40, 40, 1})
}

func testAllocations(_ *testing.T, f *fixture) {
	x := f.add("t1")
	r := f.rec()
	pieces := []work.Allocation{
		{Type: work.ItemFile, Source: "a.md", Tokens: 5, Bundle: "bundle-001", Hash: strings.Repeat("ab", 32)},
		{Type: work.ItemFile, Source: "a.md", Tokens: 3, Bundle: "bundle-001", Sections: []string{"One"}, Included: true},
	}
	f.is(r.Allocate(f.ctx, "none", pieces), thread.ErrNotFound)
	for _, bad := range []work.Allocation{{Type: "odd", Source: "a"}, {Type: work.ItemFile}, {Type: work.ItemFile, Source: "a", Tokens: -1}} {
		f.is(r.Allocate(f.ctx, x.ID, append([]work.Allocation{pieces[0]}, bad)), thread.ErrInvalid)
	}
	f.ok(r.Allocate(f.ctx, x.ID, pieces))
	more := pieces[0]
	more.Included, more.Tokens = true, 77
	f.ok(r.Allocate(f.ctx, x.ID, []work.Allocation{more, pieces[1], {Type: work.ItemBriefing, Source: "b"}}))
	less := pieces[1]
	less.Included = false
	f.ok(r.Allocate(f.ctx, x.ID, []work.Allocation{less}))
	f.reopen()
	got, err := f.rec().Allocations(f.ctx, x.ID)
	f.ok(err)
	want := []work.Allocation{pieces[0], pieces[1], {Type: work.ItemBriefing, Source: "b"}}
	want[0].Included = true
	for i := range want {
		want[i].N, want[i].Execution = int64(i+1), x.Name
	}
	f.equal(got, want)
	_, err = f.rec().Allocations(f.ctx, "none")
	f.is(err, thread.ErrNotFound)
}

// bundle returns a bundle of pieces.
func bundle(id, hash string, pieces ...string) (work.KeptBundle, map[string][]byte) {
	b := work.KeptBundle{Bundle: work.Bundle{ID: id, AgentType: "debugger", Scope: "x", Created: start.Truncate(time.Second)},
		Hash: work.PieceHash([]byte(hash)), By: "t1"}
	content := map[string][]byte{}
	for _, p := range pieces {
		h := work.PieceHash([]byte(p))
		content[h] = []byte(p)
		b.Pieces, b.Sources = append(b.Pieces, h), append(b.Sources, h)
		b.Bundle.Items = append(b.Bundle.Items, work.BundleItem{Type: work.ItemFile, Source: "a", Tokens: 1, Priority: work.Required})
	}
	return b, content
}

// testBundlesAtOnce has several prepare the same bundle at the same time: it is there once.
func testBundlesAtOnce(_ *testing.T, f *fixture) {
	other, _ := f.second().(work.Record)
	for round := range 5 {
		b, content := bundle("", fmt.Sprint("same ", round), "a", fmt.Sprint(round))
		ids := make(chan string, 6)
		errs := make(chan error, 6)
		var wg sync.WaitGroup
		for i := range 6 {
			r := work.Record(f.rec())
			if i%2 == 1 {
				r = other
			}
			wg.Go(func() {
				got, err := r.PutBundle(f.ctx, b, content)
				ids <- got.Bundle.ID
				errs <- err
			})
		}
		wg.Wait()
		close(ids)
		close(errs)
		for err := range errs {
			f.ok(err)
		}
		for id := range ids {
			f.equal(id, fmt.Sprintf("bundle-%03d", round+1))
		}
	}
}

func testBundles(_ *testing.T, f *fixture) {
	r := f.rec()
	b, content := bundle("", "one", "a", "b\x00\xff", "a", strings.Repeat("long ", 10_000))
	got, err := r.PutBundle(f.ctx, b, content)
	f.ok(err)
	want := b
	want.Bundle.ID = "bundle-001"
	f.equal(got, want)
	again, err := r.PutBundle(f.ctx, b, nil)
	f.ok(err)
	f.equal(again, got)
	other, _ := bundle("bundle-001", "two", "a")
	_, err = r.PutBundle(f.ctx, other, nil)
	f.is(err, thread.ErrNameTaken)
	other.Bundle.ID = "bundle-002"
	_, err = r.PutBundle(f.ctx, other, nil) // the piece is there
	f.ok(err)
	lacks, _ := bundle("", "three", "nobody has it")
	_, err = r.PutBundle(f.ctx, lacks, nil)
	f.is(err, thread.ErrInvalid)
	_, err = r.PutBundle(f.ctx, lacks, map[string][]byte{lacks.Pieces[0]: []byte("something else")})
	f.is(err, thread.ErrInvalid)
	lacks.Pieces[0] = "" // nor is it known
	third, err := r.PutBundle(f.ctx, lacks, nil)
	f.ok(err)
	f.equal(third.Bundle.ID, "bundle-003")
	f.reopen()
	r = f.rec()
	for _, ref := range []string{"bundle-001", b.Hash} {
		got, err = r.Bundle(f.ctx, ref)
		f.ok(err)
		f.equal(got, want)
	}
	_, err = r.Bundle(f.ctx, "none")
	f.is(err, thread.ErrNotFound)
	for h, text := range content {
		piece, err := r.Piece(f.ctx, h)
		f.ok(err)
		f.equal(piece, text)
	}
	_, err = r.Piece(f.ctx, work.PieceHash([]byte("none")))
	f.is(err, thread.ErrNotFound)
	list := func(q work.BundleQuery) (out []string) {
		all, err := r.Bundles(f.ctx, q)
		f.ok(err)
		for _, b := range all {
			out = append(out, b.Bundle.ID)
		}
		return out
	}
	f.equal(list(work.BundleQuery{}), []string{"bundle-003", "bundle-002", "bundle-001"})
	f.equal(list(work.BundleQuery{Before: "bundle-003", Limit: 1, AgentType: "debugger", By: "t1"}), []string{"bundle-002"})
	f.equal(len(list(work.BundleQuery{Session: "s"})), 0)
}
