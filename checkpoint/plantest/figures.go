package plantest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"orchestrator/thread/plan"
)

// Wide is a plan of so many agents in waves of 100, of which each reads two of the wave before, with its nodes.
func Wide(agents int) (plan.Plan, []plan.Node) {
	p := plan.Plan{Name: "wide"}
	nodes := make([]plan.Node, 0, agents)
	for i := range agents {
		n := plan.Node{Agent: fmt.Sprintf("agent-%05d", i), Number: i, Wave: i/100 + 1}
		if i >= 100 {
			n.Reads = []string{fmt.Sprintf("agent-%05d", i-100)}
			if last := i/100*100 - 1; last != i-100 {
				n.Reads = append(n.Reads, fmt.Sprintf("agent-%05d", last))
			}
		}
		p.Agents = append(p.Agents, plan.Agent{Name: n.Agent, Wave: n.Wave, Reads: n.Reads, Prompt: "Do it."})
		nodes = append(nodes, n)
	}
	return p, nodes
}

// Figures prints what a task of so many agents takes: to add, to have each begin once and hand over once. The last of them
// must not take much longer than the first, and memory must not grow with what was handed over. commit is a bare commit of
// the same database, to compare with; nil for none.
func Figures(t *testing.T, s plan.Store, agents int, commit func()) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, nodes := Wide(agents)
	begin := time.Now()
	k, err := s.AddTask(ctx, plan.Task{Title: "wide", Status: plan.InProgress, PlanName: p.Name, Plan: &p}, nodes)
	ok(err)
	added := time.Since(begin)
	took := make([]time.Duration, agents)
	data := fmt.Sprintf(`{"text": %q}`, make([]byte, 200))
	before := heap()
	for i, n := range nodes {
		at := time.Now()
		given := map[string]int{}
		for _, up := range n.Reads {
			given[up] = 1
		}
		all, err := s.ChangeNodes(ctx, k.Name, map[string]int64{n.Agent: 1}, func(n *plan.Node) error {
			n.State, n.Round, n.Given = plan.NodeWorking, 1, given
			return nil
		})
		ok(err)
		_, _, err = s.Deliver(ctx, plan.HandOver{Task: k.Name, Agent: n.Agent, Data: data, Round: 1}, all[0].Fence, delivered)
		ok(err)
		took[i] = time.Since(at)
	}
	grown := int64(heap()) - int64(before)
	part := max(agents/10, 1)
	first, last := median(took[:part]), median(took[agents-part:])
	line := fmt.Sprintf("%d agents: added in %v; each begun and handed over: median %v, the first tenth %v, the last %v; heap %+d KB", agents, added.Round(time.Millisecond),
		median(took), first, last, grown>>10)
	if commit != nil {
		bare := make([]time.Duration, min(agents, 500))
		for i := range bare {
			at := time.Now()
			commit()
			bare[i] = time.Since(at)
		}
		line += fmt.Sprintf("; a bare commit %v, so that the two commits of an agent are %.1f of it", median(bare), float64(median(took))/float64(median(bare)))
	}
	t.Log(line)
	if last > 3*first+2*time.Millisecond {
		t.Errorf("the last agents take %v each, the first took %v", last, first)
	}
	if grown > 8<<20 {
		t.Errorf("%d bytes of memory were taken for %d agents", grown, agents)
	}
	begin = time.Now()
	read, err := s.Nodes(ctx, k.Name)
	ok(err)
	t.Logf("all %d agents read in %v", len(read), time.Since(begin).Round(time.Millisecond))
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// Year fills a store with so many tasks of an armed plan that have ended, as a year of a hundred a day does, and prints how
// long what is asked all day takes then: no question may take longer for what has ended.
func Year(t *testing.T, s plan.Keeper, tasks int) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := Seven()
	ok(s.Arm(ctx, plan.Armed{Name: p.Name, Plan: p, On: true, AtOnce: 1}))
	begin := time.Now()
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range tasks {
		at := day.Add(time.Duration(i) * 864 * time.Second)
		nodes := SevenNodes()
		for j := range nodes {
			nodes[j].State = plan.NodeDelivered
		}
		_, _, err := s.Load(ctx, plan.Whole{Task: &plan.Task{ID: plan.NewID(), Name: fmt.Sprintf("task-%03d", i+1), Title: fmt.Sprint("brief ", i), Status: plan.Complete,
			PlanName: p.Name, Plan: &p, Created: at, Updated: at, Started: at, Ended: at.Add(time.Hour), Fence: 2}, Nodes: nodes})
		ok(err)
	}
	t.Logf("%d tasks loaded in %v", tasks, time.Since(begin).Round(time.Millisecond))
	for i := range 3 {
		_, err := s.AddTask(ctx, plan.Task{Title: fmt.Sprint("next ", i), PlanName: p.Name}, nil)
		ok(err)
	}
	slowest := time.Duration(0)
	ask := func(what string, question func() error) {
		t.Helper()
		took := make([]time.Duration, 5)
		for i := range took {
			at := time.Now()
			ok(question())
			took[i] = time.Since(at)
		}
		slowest = max(slowest, median(took))
		t.Logf("%-32s %v", what, median(took))
	}
	list := func(q plan.TaskQuery) func() error {
		return func() error { _, err := s.Tasks(ctx, q); return err }
	}
	take := func() error {
		_, _, err := s.TakeTask(ctx, p.Name, "s1", day, sevenOf)
		return err
	}
	ask("the newest 100", list(plan.TaskQuery{}))
	ask("those at work", list(plan.TaskQuery{Statuses: []plan.Status{plan.InProgress}}))
	ask("those that wait, of the plan", list(plan.TaskQuery{Statuses: []plan.Status{plan.Pending}, Plan: p.Name, Oldest: true}))
	ask("the newest 100 of the plan", list(plan.TaskQuery{Plan: p.Name}))
	ask("of the plan, that ended", list(plan.TaskQuery{Plan: p.Name, Statuses: []plan.Status{plan.Complete, plan.Failed}, Limit: 10}))
	ask("one by name", func() error { _, err := s.Task(ctx, "task-001"); return err })
	ask("armed", func() error { _, err := s.Armed(ctx); return err })
	ask("take the next", take)
	ask("nothing to take", take)
	if slowest > 200*time.Millisecond {
		t.Errorf("a question takes %v", slowest)
	}
	begin = time.Now()
	gone, err := s.PurgeTasks(ctx, day.Add(24*time.Hour), 100)
	ok(err)
	t.Logf("%d tasks of a day purged in %v", len(gone), time.Since(begin).Round(time.Millisecond))
}
