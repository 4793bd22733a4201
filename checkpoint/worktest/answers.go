package worktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// recordedSome adds executions of all kinds, and returns their names.
func recordedSome(f *fixture) {
	f.session("s1")
	f.session("s2")
	for i := range 12 {
		f.by(func(x *work.Execution) {
			x.Name = fmt.Sprintf("x%02d", i)
			x.Created = start.Add(time.Duration(i) * time.Hour)
			x.Session = []string{"", "s1", "s2"}[i%3]
			x.Type = []string{"debugger", "reviewer", ""}[i%3]
			x.Model, x.Bundle = fmt.Sprint("m", i%2), []string{"", "bundle-001"}[i%2]
			x.Task = []string{"", "part"}[i%2]
			x.Thread, x.By = thread.ID(fmt.Sprint("t", i%4)), []thread.ID{"", "t9"}[i%2]
			x.Scope = fmt.Sprintf("Fix the vectorSearch number%d", i)
			if i == 7 {
				x.Parent = "parent"
			}
		})
	}
}

func testRecorded(_ *testing.T, f *fixture) {
	recordedSome(f)
	xs, err := f.rec().Recorded(f.ctx, work.RecordQuery{})
	f.ok(err)
	done := f.complete(xs[1], work.Event{Kind: work.KindGiven, Text: "please look at the flux capacitor"})
	_, err = f.store.Change(f.ctx, done.ID, done.Fence, func(x *work.Execution) error { x.Answer = "It was the gigawatts"; return nil })
	f.ok(err)
	_, err = f.rec().AddOutputs(f.ctx, done.ID, []work.Output{file("lib/flux_core.go", 1)})
	f.ok(err)
	f.reopen()
	t9, t1, nobody := thread.ID("t9"), thread.ID("t1"), thread.ID("")
	for name, c := range map[string]struct {
		q    work.RecordQuery
		want []string
	}{
		"session":      {work.RecordQuery{Session: "s1"}, []string{"x10", "x07", "x04", "x01"}},
		"task":         {work.RecordQuery{Session: "s1", Task: "part"}, []string{"x07", "x01"}},
		"task alone":   {work.RecordQuery{Task: "part", Limit: 2}, []string{"x11", "x09"}},
		"type":         {work.RecordQuery{Type: "debugger"}, []string{"x09", "x06", "x03", "x00"}},
		"agent's type": {work.RecordQuery{Type: "demo", Agent: "demo"}, []string{"x11", "x08", "x05", "x02"}},
		"agent":        {work.RecordQuery{Agent: "claude"}, []string{}},
		"model":        {work.RecordQuery{Model: "m0", Session: "s2"}, []string{"x08", "x02"}},
		"bundle":       {work.RecordQuery{Bundle: "bundle-001", Type: "reviewer"}, []string{"x07", "x01"}},
		"parent":       {work.RecordQuery{Parent: "parent"}, []string{"x07"}},
		"thread":       {work.RecordQuery{Thread: "t3"}, []string{"x11", "x07", "x03"}},
		"seen":         {work.RecordQuery{Seen: &t9, Limit: 2}, []string{"x11", "x09"}},
		"seen own":     {work.RecordQuery{Seen: &t1}, []string{"x09", "x05", "x01"}},
		"seen nothing": {work.RecordQuery{Seen: &nobody}, []string{}},
		"kind":         {work.RecordQuery{Kinds: []work.Kind{work.KindRun}}, []string{}},
		"state":        {work.RecordQuery{States: []work.State{work.Completed, work.Lost}}, []string{"x10"}},
		"time":         {work.RecordQuery{Since: start.Add(3 * time.Hour), Until: start.Add(5 * time.Hour)}, []string{"x04", "x03"}},
		"before":       {work.RecordQuery{Before: xs[9].ID}, []string{"x01", "x00"}},
		"word":         {work.RecordQuery{Words: []string{"vector"}, Limit: 2}, []string{"x11", "x10"}},
		"words":        {work.RecordQuery{Words: []string{"search", "number4"}}, []string{"x04"}},
		"name":         {work.RecordQuery{Words: []string{"x05"}}, []string{"x05"}},
		"stop words":   {work.RecordQuery{Words: []string{"the", "number4"}}, []string{"x04"}},
		"given":        {work.RecordQuery{Words: []string{"capacitor", "vector"}}, []string{"x10"}},
		"answer":       {work.RecordQuery{Words: []string{"gigawatts"}}, []string{"x10"}},
		"a path":       {work.RecordQuery{Words: []string{"core", "reviewer"}}, []string{"x10"}},
		"a whole path": {work.RecordQuery{Words: []string{"lib/flux_core.go"}}, []string{"x10"}},
		"no word":      {work.RecordQuery{Words: []string{"nobody", "vector"}}, []string{}},
		"path":         {work.RecordQuery{Path: "lib/flux_core.go"}, []string{"x10"}},
		"no path":      {work.RecordQuery{Path: "lib"}, []string{}},
	} {
		got, err := f.rec().Recorded(f.ctx, c.q)
		f.ok(err)
		if fmt.Sprint(names(got)) != fmt.Sprint(c.want) {
			f.Errorf("%s: %v, want %v", name, names(got), c.want)
		}
	}
	_, err = f.rec().Recorded(f.ctx, work.RecordQuery{Before: "none"})
	f.is(err, thread.ErrNotFound)
	// It is no longer found by what it does not say any more.
	_, err = f.store.Change(f.ctx, done.ID, done.Fence, func(x *work.Execution) error { x.Answer = "other"; return nil })
	f.ok(err)
	f.equal(f.recorded(work.RecordQuery{Words: []string{"gigawatts"}}), []string{})
	f.equal(f.recorded(work.RecordQuery{Words: []string{"flux", "core", "other"}}), []string{"x10"})
}

func testStats(_ *testing.T, f *fixture) {
	recordedSome(f)
	f.add("t1") // what is queued does not count
	xs, err := f.rec().Recorded(f.ctx, work.RecordQuery{Kinds: []work.Kind{work.KindHand}})
	f.ok(err)
	for i, x := range xs[:6] {
		_, err := f.store.Change(f.ctx, x.ID, x.Fence, func(x *work.Execution) error {
			x.State = []work.State{work.Completed, work.Failed, work.Cancelled}[i%3]
			x.Started, x.Ended = start, start.Add(1500*time.Millisecond)
			x.Usage = thread.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, CacheWriteHour: 1, Output: 4, CostUSD: 0.5, Priced: true, Unknown: 1}
			if i == 5 { // what somebody claims does not spoil the sum
				x.Usage = thread.Usage{Input: 1<<63 - 1, Output: -5, CostUSD: 1e300}
				x.Started = start.Add(-100 * 366 * 24 * time.Hour)
			}
			return nil
		})
		f.ok(err)
	}
	f.reopen()
	for _, by := range []work.StatBy{
		work.StatByAgent, work.StatByType, work.StatByModel, work.StatByBundle, work.StatBySession, work.StatByOrigin, work.StatByDay,
	} {
		t9 := thread.ID("t9")
		for _, q := range []work.StatsQuery{{By: by}, {By: by, Session: "s1"}, {By: by, Sessions: []string{"s1", "s2", "no"}}, {By: by, Type: "debugger"}, {By: by, Seen: &t9},
			{By: by, Kinds: []work.Kind{work.KindHand}, Since: start.Add(2 * time.Hour), Until: start.Add(9 * time.Hour)}} {
			got, err := f.rec().Stats(f.ctx, q)
			f.ok(err)
			want := map[string]*work.Stat{}
			all, err := f.rec().Recorded(f.ctx, work.RecordQuery{Limit: 1000})
			f.ok(err)
			for _, x := range all {
				if !q.Selects(x) {
					continue
				}
				key, err := q.Key(x)
				f.ok(err)
				if want[key] == nil {
					want[key] = &work.Stat{Key: key}
				}
				want[key].Sum(x)
			}
			f.equal(len(got), len(want))
			for i, s := range got {
				f.equal(s, *want[s.Key])
				if i > 0 && got[i-1].Key >= s.Key {
					f.Errorf("%s before %s", got[i-1].Key, s.Key)
				}
			}
			for q.Best = 1; q.Best <= 4; q.Best++ { // of all that there are, those that are best
				best, err := f.rec().Stats(f.ctx, q)
				f.ok(err)
				f.equal(best, bestOf(got, q.Best))
			}
		}
	}
	_, err = f.rec().Stats(f.ctx, work.StatsQuery{By: "mood"})
	f.is(err, thread.ErrInvalid)
	days, err := f.rec().Stats(f.ctx, work.StatsQuery{By: work.StatByDay})
	f.ok(err)
	f.equal([]any{days[0].Key, days[0].Runs}, []any{"2026-03-04", 12})
}

// bestOf returns the best sums.
func bestOf(all []work.Stat, n int) []work.Stat {
	out := []work.Stat{}
	for _, s := range all {
		if s.Key != "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b work.Stat) int {
		return cmp.Or(b.Completed-a.Completed, a.Failed-b.Failed, cmp.Compare(a.Key, b.Key))
	})
	return out[:min(n, len(out))]
}

// testWritten: what an agent writes down is counted, what a person does is not.
func testWritten(_ *testing.T, f *fixture) {
	r := f.rec()
	count := func(want int64) int64 {
		f.Helper()
		rows, bytes, err := r.Written(f.ctx, "t1")
		f.ok(err)
		f.equal(rows, want)
		return bytes
	}
	f.equal(count(0), int64(0))
	_, err := r.AddSession(f.ctx, work.Session{Name: "s1", Scope: "x", By: "t1"})
	f.ok(err)
	_, err = f.task(work.Task{Session: "s1", Title: "a", By: "t1"})
	f.ok(err)
	_, err = f.task(work.Task{Session: "s1", Title: "a", By: "t1", Body: "again"})
	f.ok(err)
	x := f.by(func(x *work.Execution) { x.By, x.Thread = "t1", "t1" })
	o := insight("long")
	o.By = "t1"
	_, err = r.AddOutputs(f.ctx, x.ID, []work.Output{o, insight("a person's")})
	f.ok(err)
	_, err = r.AddOutputs(f.ctx, x.ID, []work.Output{o})
	f.ok(err)
	b, content := bundle("", "one", "a")
	_, err = r.PutBundle(f.ctx, b, content)
	f.ok(err)
	f.session("mine")
	f.by(func(*work.Execution) {})
	before := count(5)
	f.complete(x, work.Event{Kind: work.KindSaid, Text: string(make([]byte, 9000))})
	f.reopen()
	r = f.rec()
	if after := count(5); after < before+9000 {
		f.Errorf("%d bytes after 9000 more than %d", after, before)
	}
}

// testLoad: what is taken to another store is there as it was.
func testLoad(t *testing.T, f *fixture) {
	recordedSome(f)
	r := f.rec()
	_, err := f.task(work.Task{Session: "s1", Title: "part", Status: work.TaskComplete})
	f.ok(err)
	b, content := bundle("", "one", "a", "b")
	_, err = r.PutBundle(f.ctx, b, content)
	f.ok(err)
	run := f.become(f.claim(f.add("t1")), work.Running)
	f.ok(r.Allocate(f.ctx, run.ID, []work.Allocation{{Type: work.ItemFile, Source: "a", Bundle: "bundle-001"}}))
	_, err = r.AddOutputs(f.ctx, run.ID, []work.Output{file("f", 1), file("f", 2)})
	f.ok(err)
	f.complete(run, work.Event{Kind: work.KindGiven, Text: "capacitor"})
	var all []work.Whole
	for _, name := range []string{"s1", "s2"} {
		s, err := r.Session(f.ctx, name)
		f.ok(err)
		tasks, err := r.Tasks(f.ctx, name)
		f.ok(err)
		all = append(all, work.Whole{Session: &s, Tasks: tasks})
	}
	kept, err := r.Bundle(f.ctx, "bundle-001")
	f.ok(err)
	all = append(all, work.Whole{Bundle: &kept, Pieces: content})
	xs, err := r.Recorded(f.ctx, work.RecordQuery{})
	f.ok(err)
	for i := range xs {
		x := xs[len(xs)-1-i]
		w := work.Whole{Execution: &x, Events: f.events(x.ID)}
		w.Allocations, err = r.Allocations(f.ctx, x.ID)
		f.ok(err)
		w.Outputs, err = r.Outputs(f.ctx, work.OutputQuery{Execution: string(x.ID)})
		f.ok(err)
		all = append(all, w)
	}

	g := &fixture{T: t, h: f.h, ctx: f.ctx}
	g.store = f.h.Open(t, g.now)
	taken, err := g.rec().Load(g.ctx, all)
	g.ok(err)
	g.equal(len(taken), 0)
	g.reopen()
	again, err := g.rec().Load(g.ctx, all)
	g.ok(err)
	g.equal(len(again), len(all)) // all of it is taken
	ys, err := g.rec().Recorded(g.ctx, work.RecordQuery{})
	g.ok(err)
	g.equal(ys, xs)
	for _, x := range xs {
		g.equal(g.events(x.ID), f.events(x.ID))
		a, err := f.rec().Allocations(f.ctx, x.ID)
		g.ok(err)
		c, err := g.rec().Allocations(g.ctx, x.ID)
		g.ok(err)
		g.equal(c, a)
	}
	g.equal(g.outputs(work.OutputQuery{}), f.outputs(work.OutputQuery{}))
	for _, q := range []work.RecordQuery{{Words: []string{"capacitor"}}, {Path: "f"}, {Session: "s1"}, {Words: []string{"vector"}}} {
		g.equal(g.recorded(q), f.recorded(q))
	}
	piece, err := g.rec().Piece(g.ctx, kept.Pieces[1])
	g.ok(err)
	g.equal(string(piece), "b")
	g.equal(g.add("t1").Name, "exec-002") // numbers that names have are not given again
	more, err := g.rec().AddOutputs(g.ctx, run.ID, []work.Output{file("f", 3)})
	g.ok(err)
	g.equal([]any{more[0].Version, more[0].Current}, []any{3, true})
	m, err := g.rec().Measure(g.ctx)
	g.ok(err)
	g.equal([]any{m.Executions, m.Sessions, m.Outputs, m.Bundles, m.Events > 10}, []any{14, 2, 3, 1, true})
	bad := all[0]
	bad.Bundle = &kept
	_, err = g.rec().Load(g.ctx, []work.Whole{bad})
	g.is(err, thread.ErrInvalid)
}

// testExpire: what ended before a time is removed with all that hangs on it, and what is named by what stays is not.
func testExpire(_ *testing.T, f *fixture) {
	r := f.rec()
	for i, name := range []string{"old", "busy", "open"} {
		f.session(name)
		b, content := bundle("b-"+name, name, "shared", name)
		b.Session = name
		_, err := r.PutBundle(f.ctx, b, content)
		f.ok(err)
		x := f.by(func(x *work.Execution) {
			x.Session, x.Name, x.Bundle, x.Scope = name, "x-"+name, "b-"+name, "word "+name
		})
		_, err = r.AddOutputs(f.ctx, x.ID, []work.Output{insight(name)})
		f.ok(err)
		if i != 1 {
			f.complete(x)
		}
		if i != 2 {
			_, err = r.ChangeSession(f.ctx, name, func(s *work.Session) error { s.Status = work.SessionCompleted; return nil })
			f.ok(err)
		}
	}
	f.add("t1")
	early, err := r.Expire(f.ctx, start, false)
	f.ok(err)
	f.equal(early, work.Expired{})
	later := start.Add(1000 * time.Hour)
	dry, err := r.Expire(f.ctx, later, true)
	f.ok(err)
	f.equal([]int{dry.Executions, dry.Sessions, dry.Bundles}, []int{2, 1, 1})
	f.equal(len(f.recorded(work.RecordQuery{})), 4)
	done, err := r.Expire(f.ctx, later, false)
	f.ok(err)
	f.equal([]int{done.Executions, done.Sessions, done.Bundles}, []int{2, 1, 1})
	f.reopen()
	r = f.rec()
	f.equal(f.recorded(work.RecordQuery{}), []string{"exec-001", "x-busy"})
	f.equal(f.recorded(work.RecordQuery{Words: []string{"word"}}), []string{"x-busy"})
	f.equal(f.outputs(work.OutputQuery{}), "2:x-busy::0*")
	_, err = r.Session(f.ctx, "old")
	f.is(err, thread.ErrNotFound)
	_, err = r.Bundle(f.ctx, "b-old")
	f.is(err, thread.ErrNotFound)
	_, err = r.Piece(f.ctx, work.PieceHash([]byte("old")))
	f.is(err, thread.ErrNotFound)
	for _, p := range []string{"shared", "busy", "open"} {
		_, err = r.Piece(f.ctx, work.PieceHash([]byte(p)))
		f.ok(err)
	}
}

// testHostileRecord: no text breaks a database, and what is stored is what was returned.
func testHostileRecord(_ *testing.T, f *fixture) {
	bad := "a\x00b\xff\\u0000\x1b[31m'\"; DROP TABLE work; --\u2028 \u00e4"
	r := f.rec()
	s, err := r.AddSession(f.ctx, work.Session{Name: "s1", Scope: bad, Host: bad, User: bad, Metadata: json.RawMessage(`{"k":"\u0000\\u0000"}`)})
	f.ok(err)
	task, err := f.task(work.Task{Session: "s1", Title: bad, Body: bad})
	f.ok(err)
	x := f.by(func(x *work.Execution) {
		x.Session, x.Task, x.Type, x.Scope, x.Model, x.Bundle, x.Key, x.Dir, x.Host, x.Agent = "s1", bad, bad, bad, bad, bad, bad, bad, bad, bad
	})
	x = f.complete(x, work.Event{Kind: work.KindSaid, Text: bad}, work.Event{Kind: bad, Text: bad})
	o, err := r.AddOutputs(f.ctx, x.ID, []work.Output{{Type: work.OutputError, Path: bad, Content: json.RawMessage(`"\u0000"`),
		Metadata: work.OutputMetadata{Related: []string{bad}}}})
	f.ok(err)
	f.ok(r.Allocate(f.ctx, x.ID, []work.Allocation{{Type: work.ItemFile, Source: bad, Sections: []string{bad}, Bundle: bad}}))
	b, content := bundle("", "h", bad)
	b.Bundle.Scope, b.Model = bad, bad
	kept, err := r.PutBundle(f.ctx, b, content)
	f.ok(err)
	f.reopen()
	r = f.rec()
	f.stored(x)
	gotS, err := r.Session(f.ctx, "s1")
	f.ok(err)
	f.equal(gotS, s)
	tasks, err := r.Tasks(f.ctx, "s1")
	f.ok(err)
	f.equal(tasks, []work.Task{task})
	got, err := r.Outputs(f.ctx, work.OutputQuery{Path: o[0].Path})
	f.ok(err)
	f.equal(got, o)
	gotB, err := r.Bundle(f.ctx, kept.Hash)
	f.ok(err)
	f.equal(gotB, kept)
	piece, err := r.Piece(f.ctx, b.Pieces[0])
	f.ok(err)
	f.equal(string(piece), bad) // content is kept as it is
	for _, q := range []work.RecordQuery{{Session: bad}, {Task: bad}, {Type: bad}, {Words: []string{bad}}, {Path: bad}, {Bundle: bad}, {Thread: "\x00"}} {
		_, err := r.Recorded(f.ctx, q)
		f.ok(err)
	}
	_, err = r.Outputs(f.ctx, work.OutputQuery{Session: bad, Path: bad, AgentType: bad})
	f.ok(err)
	_, err = r.Bundle(f.ctx, bad)
	f.is(err, thread.ErrNotFound)
	_, err = r.Session(f.ctx, bad)
	f.is(err, thread.ErrNotFound)
}
