package plantest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

var errMine = errors.New("mine")

func testAdd(_ *testing.T, f *fixture) {
	a, b := f.run(), f.pending("later", "brief")
	f.equal(a.Name, "task-001")
	f.equal(b.Name, "task-002")
	f.equal(b.Status, plan.Pending)
	f.equal(a.Fence, int64(1))
	f.equal(len(a.ID), 36)
	f.equal(a.Started, a.Created)
	f.reopen()
	f.equal(f.task(a.Name), a)
	f.equal(f.task(a.ID), a)
	again, err := f.store.AddTask(f.ctx, a, SevenNodes())
	f.ok(err)
	f.equal(again, a)
	nodes, err := f.store.Nodes(f.ctx, a.Name)
	f.ok(err)
	f.equal(len(nodes), 8)
	f.equal(nodes[4], plan.Node{Task: a.Name, Agent: "echo", Number: 4, Wave: 2, Reads: []string{"vision", "apex", "nova"},
		After: []string{"go-on"}, State: plan.NodeWaiting, Fence: 1})
	none, err := f.store.Nodes(f.ctx, b.Name)
	f.ok(err)
	f.equal(len(none), 0)
	f.equal(f.events(a.Name), []string{"state in_progress"})
	f.equal(f.events(b.Name), []string{"state pending"})
	_, err = f.store.Task(f.ctx, "task-003")
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Node(f.ctx, a.Name, "nobody")
	f.is(err, thread.ErrNotFound)
	_, err = f.store.Nodes(f.ctx, "task-003")
	f.is(err, thread.ErrNotFound)
}

func testAddRefused(_ *testing.T, f *fixture) {
	p := Seven()
	at := func(nodes ...plan.Node) error {
		_, err := f.store.AddTask(f.ctx, plan.Task{Title: "t", Status: plan.InProgress, Plan: &p}, nodes)
		return err
	}
	for name, nodes := range map[string][]plan.Node{
		"same wave":    {{Agent: "a", Wave: 1}, {Agent: "b", Wave: 1, Reads: []string{"a"}}},
		"later wave":   {{Agent: "a", Wave: 1, Reads: []string{"b"}}, {Agent: "b", Wave: 2}},
		"itself":       {{Agent: "a", Wave: 1, After: []string{"a"}}},
		"nobody":       {{Agent: "a", Wave: 2, Reads: []string{"x"}}},
		"twice":        {{Agent: "a", Wave: 1}, {Agent: "a", Wave: 2}},
		"reads twice":  {{Agent: "a", Wave: 1}, {Agent: "b", Wave: 2, Reads: []string{"a", "a"}}},
		"no name":      {{Wave: 1}},
		"no wave":      {{Agent: "a"}},
		"bad name":     {{Agent: "a b", Wave: 1}},
		"bad state":    {{Agent: "a", Wave: 1, State: "x"}},
		"gate of wave": {{Agent: "a", Wave: 1}, {Agent: "g", Gate: true, Wave: 1, After: []string{"a"}}},
	} {
		if err := at(nodes...); !errors.Is(err, thread.ErrInvalid) {
			f.Errorf("%s: got %v", name, err)
		}
	}
	for name, t := range map[string]plan.Task{
		"no title": {}, "final": {Title: "t", Status: plan.Complete}, "unknown": {Title: "t", Status: "x"},
		"no plan": {Title: "t", Status: plan.InProgress}, "bad plan": {Title: "t", PlanName: "a/b"},
	} {
		if _, err := f.store.AddTask(f.ctx, t, nil); !errors.Is(err, thread.ErrInvalid) {
			f.Errorf("%s: got %v", name, err)
		}
	}
	all, err := f.store.Tasks(f.ctx, plan.TaskQuery{})
	f.ok(err)
	f.equal(titles(all), []string{})
}

// starting puts the seven agents at work.
func starting(t *plan.Task) error {
	p := Seven()
	t.Plan, t.PlanName, t.Server = &p, p.Name, "s1"
	return nil
}

func testBegin(_ *testing.T, f *fixture) {
	for _, status := range []plan.Status{plan.Pending, plan.Proposed} {
		a, err := f.store.AddTask(f.ctx, plan.Task{Title: "t", Status: status}, nil)
		f.ok(err)
		_, err = f.store.BeginTask(f.ctx, a.Name, func(*plan.Task) error { return errMine }, nil)
		f.is(err, errMine)
		_, err = f.store.BeginTask(f.ctx, a.Name, func(*plan.Task) error { return nil }, SevenNodes())
		f.is(err, thread.ErrInvalid)
		_, err = f.store.BeginTask(f.ctx, a.Name, starting, []plan.Node{{Agent: "a", Wave: 1, Reads: []string{"b"}}})
		f.is(err, thread.ErrInvalid)
		f.equal(f.task(a.Name), a)
		b, err := f.store.BeginTask(f.ctx, a.Name, starting, SevenNodes())
		f.ok(err)
		f.equal(b.Status, plan.InProgress)
		f.equal(b.Fence, a.Fence+1)
		f.equal(b.Started.IsZero(), false)
		f.reopen()
		f.equal(f.task(a.Name), b)
		nodes, err := f.store.Nodes(f.ctx, a.Name)
		f.ok(err)
		f.equal(len(nodes), 8)
		_, err = f.store.BeginTask(f.ctx, a.Name, starting, SevenNodes())
		f.is(err, work.ErrFence)
		f.equal(f.events(a.Name), []string{"state " + string(status), "state in_progress"})
	}
}

func testChange(_ *testing.T, f *fixture) {
	a := f.run()
	b, err := f.store.ChangeTask(f.ctx, a.Name, a.Fence, func(t *plan.Task) error {
		t.Status, t.Reason = plan.Failed, "no luck"
		return nil
	})
	f.ok(err)
	f.equal(b.Ended.IsZero(), false)
	f.equal(b.Plan, a.Plan)
	f.equal(f.task(a.Name), b)
	for _, bad := range []func(*plan.Task){
		func(t *plan.Task) { t.Name = "x" }, func(t *plan.Task) { t.ID = "x" }, func(t *plan.Task) { t.Fence++ },
		func(t *plan.Task) { t.Title = "" }, func(t *plan.Task) { t.Status = plan.Complete }, func(t *plan.Task) { t.Status = "x" },
	} {
		_, err := f.store.ChangeTask(f.ctx, a.Name, a.Fence, func(t *plan.Task) error { bad(t); return nil })
		f.is(err, thread.ErrInvalid)
	}
	_, err = f.store.ChangeTask(f.ctx, a.Name, a.Fence, func(*plan.Task) error { return errMine })
	f.is(err, errMine)
	f.equal(f.task(a.Name), b)
	c, err := f.store.Supersede(f.ctx, a.Name, func(t *plan.Task) error {
		t.Status, t.Reason, t.Server = plan.InProgress, "", "s2"
		return nil
	})
	f.ok(err)
	f.equal(c.Fence, a.Fence+1)
	f.equal(c.Ended.IsZero(), true)
	f.equal(f.events(a.Name), []string{"state in_progress", "state failed: no luck", "state in_progress"})
}

func testFences(_ *testing.T, f *fixture) {
	a := f.run()
	never := func(*plan.Task) error { f.Error("a change of an old fence is called"); return nil }
	nodeNever := func(*plan.Node) error { f.Error("a change of an old fence is called"); return nil }
	_, err := f.store.ChangeTask(f.ctx, a.Name, a.Fence+1, never)
	f.is(err, work.ErrFence)
	n := f.begin(a.Name, "vision", nil)
	f.equal(n.Fence, int64(2))
	f.equal(n.Round, 1)
	_, err = f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"apex": 1, "vision": 1}, nodeNever)
	f.is(err, work.ErrFence)
	h, _, err := f.store.Deliver(f.ctx, plan.HandOver{Task: a.Name, Agent: "vision", Data: "{}"}, 1, nodeNever)
	f.is(err, work.ErrFence)
	f.equal(h, plan.HandOver{})
	f.reopen()
	f.equal(f.node(a.Name, "vision"), n)
	f.equal(f.task(a.Name), a)
	all, err := f.store.HandOvers(f.ctx, plan.HandOverQuery{Task: a.Name})
	f.ok(err)
	f.equal(len(all), 0)
	late := "fenced a write with fence "
	f.equal(f.events(a.Name), []string{"state in_progress", late + "2 came too late: it is 1", "vision: state working",
		"vision: " + late + "1 came too late: it is 2", "vision: " + late + "1 came too late: it is 2"})
	_, err = f.store.ChangeTask(f.ctx, a.Name, plan.Anyway, func(t *plan.Task) error { t.Body = "b"; return nil })
	f.ok(err)
	_, err = f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"vision": plan.Anyway}, func(n *plan.Node) error {
		n.State = plan.NodeCancelled
		return nil
	})
	f.ok(err)
	f.equal(f.node(a.Name, "vision").Fence, int64(3))
}

func testList(_ *testing.T, f *fixture) {
	for i := range 5 {
		_, err := f.store.AddTask(f.ctx, plan.Task{Title: fmt.Sprint("t", i), PlanName: []string{"p", "q"}[i%2], Order: -i, By: thread.ID([]string{"", "x"}[i%2]),
			Session: "work-001", Status: []plan.Status{plan.Pending, plan.Proposed}[i/4]}, nil)
		f.ok(err)
	}
	run := f.run()
	f.reopen()
	list := func(q plan.TaskQuery) []string {
		f.Helper()
		all, err := f.store.Tasks(f.ctx, q)
		f.ok(err)
		for _, t := range all {
			f.equal(t.Plan != nil, q.Documents && t.Name == run.Name)
		}
		return titles(all)
	}
	f.equal(list(plan.TaskQuery{}), []string{run.Title, "t4", "t3", "t2", "t1", "t0"})
	f.equal(list(plan.TaskQuery{Documents: true, Limit: 2}), []string{run.Title, "t4"})
	f.equal(list(plan.TaskQuery{Before: "task-004", Limit: 2}), []string{"t2", "t1"})
	f.equal(list(plan.TaskQuery{Plan: "p"}), []string{"t4", "t2", "t0"})
	f.equal(list(plan.TaskQuery{Plan: "p", Oldest: true, Statuses: []plan.Status{plan.Pending}}), []string{"t2", "t0"})
	f.equal(list(plan.TaskQuery{Statuses: []plan.Status{plan.Proposed, plan.InProgress}}), []string{run.Title, "t4"})
	f.equal(list(plan.TaskQuery{Session: "work-001", By: "x"}), []string{"t3", "t1"})
	f.equal(list(plan.TaskQuery{Server: "s1"}), []string{run.Title})
	f.equal(list(plan.TaskQuery{Since: run.Created}), []string{run.Title})
	_, err := f.store.Tasks(f.ctx, plan.TaskQuery{Before: "task-999"})
	f.is(err, thread.ErrNotFound)
}

func testEvents(_ *testing.T, f *fixture) {
	a := f.run()
	f.ok(f.store.Note(f.ctx, a.Name, plan.Event{Text: "one"}, plan.Event{Node: "vision", Kind: "note", Text: "two\x00", At: start}))
	f.reopen()
	all, err := f.store.Events(f.ctx, a.Name, 1, 1)
	f.ok(err)
	f.equal(len(all), 1)
	f.equal(all[0].Text, "one")
	f.equal(all[0].At.IsZero(), false)
	all, err = f.store.Events(f.ctx, a.Name, 2, 0)
	f.ok(err)
	f.equal(all, []plan.Event{{Seq: 3, At: start, Node: "vision", Kind: "note", Text: "two\uFFFD"}})
	f.is(f.store.Note(f.ctx, "task-999"), thread.ErrNotFound)
	_, err = f.store.Events(f.ctx, "task-999", 0, 0)
	f.is(err, thread.ErrNotFound)
}

func testPurge(_ *testing.T, f *fixture) {
	var ended []plan.Task
	for range 3 {
		a := f.run()
		f.begin(a.Name, "vision", nil)
		f.deliver(a.Name, "vision", `{"a":1}`)
		a, err := f.store.ChangeTask(f.ctx, a.Name, a.Fence, func(t *plan.Task) error { t.Status = plan.Complete; return nil })
		f.ok(err)
		ended = append(ended, a)
	}
	open, waiting := f.run(), f.pending("w", "brief")
	gone, err := f.store.PurgeTasks(f.ctx, ended[2].Ended, 1)
	f.ok(err)
	f.equal(gone, []string{ended[0].Name})
	gone, err = f.store.PurgeTasks(f.ctx, ended[2].Ended, 10)
	f.ok(err)
	f.equal(gone, []string{ended[1].Name})
	f.reopen()
	_, err = f.store.Task(f.ctx, ended[0].ID)
	f.is(err, thread.ErrNotFound)
	f.equal(f.task(ended[2].Name), ended[2])
	f.equal(f.task(open.Name), open)
	f.equal(f.task(waiting.Name), waiting)
	all, err := f.store.HandOvers(f.ctx, plan.HandOverQuery{})
	f.ok(err)
	f.equal(len(all), 1)
	f.equal(f.run().Name, "task-006")
}

func testHostile(_ *testing.T, f *fixture) {
	p := Seven()
	p.Agents[0].Prompt = "a\x00b\xffc <&>"
	a, err := f.store.AddTask(f.ctx, plan.Task{Title: "x\x00\xff" + strings.Repeat("y", 1000), Body: "'; DROP TABLE plan_task; --", Status: plan.InProgress,
		Plan: &p, PlanName: p.Name}, SevenNodes())
	f.ok(err)
	f.equal(len(a.Title), 500)
	f.equal(strings.HasPrefix(a.Title, "x\uFFFD\uFFFDy"), true)
	f.reopen()
	f.equal(f.task(a.Name).Title, a.Title)
	for _, ref := range []string{"", "' OR 1=1", "\x00", "task-001 ", strings.Repeat("z", 1<<16)} {
		_, err := f.store.Task(f.ctx, ref)
		f.is(err, thread.ErrNotFound)
	}
}

// testWide adds a task with many edges, and one with too many.
func testWide(_ *testing.T, f *fixture) {
	p := Seven()
	wide := func(n int) []plan.Node {
		var out []plan.Node
		first := []string{}
		for i := range 2 * n {
			v := plan.Node{Agent: fmt.Sprint("a", i), Number: i, Wave: 1 + i/n}
			if i < n {
				first = append(first, v.Agent)
			} else {
				v.Reads = first
			}
			out = append(out, v)
		}
		return out
	}
	a, err := f.store.AddTask(f.ctx, plan.Task{Title: "t", Status: plan.InProgress, Plan: &p}, wide(60))
	f.ok(err)
	f.reopen()
	nodes, err := f.store.Nodes(f.ctx, a.Name)
	f.ok(err)
	f.equal(len(nodes), 120)
	f.equal(len(nodes[119].Reads), 60)
	_, err = f.store.AddTask(f.ctx, plan.Task{Title: "t", Status: plan.InProgress, Plan: &p}, wide(1001))
	f.is(err, thread.ErrInvalid)
}

// testBeginRace has two servers begin the same task.
func testBeginRace(_ *testing.T, f *fixture) {
	stores := []plan.Store{f.store, f.second()}
	for range 10 {
		a := f.pending("t", "brief")
		errs := make([]error, 2)
		var all sync.WaitGroup
		for i, s := range stores {
			all.Go(func() { _, errs[i] = s.BeginTask(f.ctx, a.Name, starting, SevenNodes()) })
		}
		all.Wait()
		if errs[0] == nil {
			errs[0], errs[1] = errs[1], errs[0]
		}
		f.is(errs[0], work.ErrFence)
		f.ok(errs[1])
		f.equal(len(f.events(a.Name)), 2)
	}
}

func sevenOf(plan.Task) ([]plan.Node, error) { return SevenNodes(), nil }

func testTake(_ *testing.T, f *fixture) {
	take := func() (plan.Task, bool) {
		f.Helper()
		t, ok, err := f.store.TakeTask(f.ctx, "brief", "s1", start, sevenOf)
		f.ok(err)
		return t, ok
	}
	f.pending("a", "brief")
	f.pending("other", "else")
	_, ok := take()
	f.equal(ok, false) // it was never armed
	armed := plan.Armed{Name: "brief", Plan: Seven(), Hash: "h", On: true, AtOnce: 2, Session: "work-001", Dir: "/d", Changed: start}
	f.ok(f.store.Arm(f.ctx, armed))
	a, ok := take()
	f.equal(ok, true)
	f.equal([]string{a.Title, a.Server, a.Hash, a.Session, a.Dir, a.PlanName}, []string{"a", "s1", "h", "work-001", "/d", "brief"})
	f.equal(a.Status, plan.InProgress)
	f.equal(a.Fence, int64(2))
	f.equal(a.Started, start)
	f.reopen()
	f.equal(f.task(a.Name), a)
	_, ok = take()
	f.equal(ok, false) // none is left
	b, c := f.pending("b", "brief"), f.pending("c", "brief")
	_, _, err := f.store.TakeTask(f.ctx, "brief", "s1", start, func(plan.Task) ([]plan.Node, error) { return nil, errMine })
	f.is(err, errMine)
	f.equal(f.task(b.Name), b)
	_, ok = take()
	f.equal(ok, true)
	_, ok = take()
	f.equal(ok, false) // two are at work
	_, err = f.store.ChangeTask(f.ctx, a.Name, a.Fence, func(t *plan.Task) error { t.Status = plan.Complete; return nil })
	f.ok(err)
	armed.On = false
	f.ok(f.store.Arm(f.ctx, armed))
	_, ok = take()
	f.equal(ok, false) // it is disarmed
	all, err := f.store.Armed(f.ctx)
	f.ok(err)
	f.equal(all, []plan.Armed{armed})
	armed.On = true
	f.ok(f.store.Arm(f.ctx, armed))
	last, ok := take()
	f.equal(ok, true)
	f.equal(last.Name, c.Name)
	f.is(f.store.Arm(f.ctx, plan.Armed{Name: "a/b"}), thread.ErrInvalid)
}

func testTakeOrder(_ *testing.T, f *fixture) {
	f.ok(f.store.Arm(f.ctx, plan.Armed{Name: "brief", Plan: Seven(), On: true, AtOnce: 10}))
	for i, order := range []int{2, 0, -1, 0} {
		_, err := f.store.AddTask(f.ctx, plan.Task{Title: fmt.Sprint("t", i), PlanName: "brief", Order: order}, nil)
		f.ok(err)
	}
	_, err := f.store.AddTask(f.ctx, plan.Task{Title: "proposed", PlanName: "brief", Order: -9, Status: plan.Proposed}, nil)
	f.ok(err)
	var got []string
	for {
		t, ok, err := f.store.TakeTask(f.ctx, "brief", "s1", start, sevenOf)
		f.ok(err)
		if !ok {
			break
		}
		got = append(got, t.Title)
	}
	f.equal(got, []string{"t2", "t1", "t3", "t0"})
}

// testTakeRace has two servers take tasks, so many at once, until none is left.
func testTakeRace(_ *testing.T, f *fixture) {
	const tasks, atOnce = 20, 3
	f.ok(f.store.Arm(f.ctx, plan.Armed{Name: "brief", Plan: Seven(), On: true, AtOnce: atOnce}))
	for i := range tasks {
		f.pending(fmt.Sprint("t", i), "brief")
	}
	var mu sync.Mutex
	taken := map[string]int{}
	var all sync.WaitGroup
	for i, s := range []plan.Store{f.store, f.second(), f.store, f.second()} {
		all.Go(func() {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
				t, ok, err := s.TakeTask(f.ctx, "brief", fmt.Sprint("s", i), start, sevenOf)
				if err != nil {
					f.Error(err)
					return
				}
				if ok {
					mu.Lock()
					taken[t.Name]++
					mu.Unlock()
					work, err := s.Tasks(f.ctx, plan.TaskQuery{Plan: "brief", Statuses: []plan.Status{plan.InProgress}})
					if err != nil || len(work) > atOnce {
						f.Errorf("%d at work, error %v", len(work), err)
					}
					if _, err := s.ChangeTask(f.ctx, t.Name, t.Fence, func(t *plan.Task) error { t.Status = plan.Complete; return nil }); err != nil {
						f.Error(err)
					}
				}
				mu.Lock()
				n := len(taken)
				mu.Unlock()
				if n == tasks {
					return
				}
			}
		})
	}
	all.Wait()
	f.equal(len(taken), tasks)
	for name, n := range taken {
		if n != 1 {
			f.Errorf("%s was taken %d times", name, n)
		}
	}
}
