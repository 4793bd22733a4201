package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/plan"
)

// randomPlan is a plan of some agents, with edges, waves, gates and policies as they come.
func randomPlan(r *rand.Rand) plan.Plan {
	p := plan.Plan{Name: "random", MaxParallel: r.IntN(4)}
	policies := []plan.OnUpstreamFailure{"", plan.FailStop, plan.FailContinue, plan.FailAsk}
	p.OnUpstreamFailure = policies[r.IntN(4)]
	n := 1 + r.IntN(9)
	for i := range n {
		a := plan.Agent{Name: fmt.Sprintf("a%d", i), Prompt: "x", OnUpstreamFailure: policies[r.IntN(4)]}
		for j := range i {
			switch r.IntN(4) {
			case 0:
				a.Reads = append(a.Reads, fmt.Sprintf("a%d", j))
			case 1:
				if r.IntN(3) == 0 {
					a.After = append(a.After, fmt.Sprintf("a%d", j))
				}
			}
		}
		if r.IntN(6) == 0 {
			a.Gate = "go?"
		}
		p.Agents = append(p.Agents, a)
	}
	if r.IntN(3) == 0 {
		p.Gates = append(p.Gates, plan.Gate{Name: "gate", After: 1, Text: "on?"})
	}
	return p
}

// rows is a task's rows, and what is right to have happened to them.
type rows struct {
	*testing.T
	r     *rand.Rand
	task  plan.Task
	nodes []plan.Node
	begun map[string]int // by agent, in this round
	most  int            // that worked at once
	fate  map[string]int // what becomes of an agent, and what a person says: the same in each order
}

func newRows(t *testing.T, p plan.Plan, r *rand.Rand) *rows {
	t.Helper()
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	w := &rows{T: t, r: r, task: plan.Task{Name: "task-001", Status: plan.InProgress, Plan: &p}, nodes: nodes, begun: map[string]int{}, fate: map[string]int{}}
	for _, n := range nodes {
		w.fate[n.Agent] = r.IntN(4)
	}
	return w
}

func (w *rows) node(name string) *plan.Node {
	i := slices.IndexFunc(w.nodes, func(n plan.Node) bool { return n.Agent == name })
	return &w.nodes[i]
}

// takes writes down a step, and checks that it may be.
func (w *rows) takes(s plan.Step) {
	w.Helper()
	n := w.node(s.Agent)
	if n.State != plan.NodeWaiting {
		w.Fatalf("%s %s, which is %s", s.Do, s.Agent, n.State)
	}
	for _, up := range n.Upstreams() {
		if !w.node(up).State.Final() {
			w.Fatalf("%s %s before %s has ended", s.Do, s.Agent, up)
		}
	}
	switch s.Do {
	case plan.Begin:
		if w.begun[s.Agent]++; w.begun[s.Agent] > 1 {
			w.Fatalf("%s begins twice", s.Agent)
		}
		if n.Gate {
			w.Fatalf("the gate %s begins", s.Agent)
		}
		for _, up := range n.Reads {
			if _, given := s.Given[up]; given != (w.node(up).State == plan.NodeDelivered) || given == slices.Contains(s.Missing, up) {
				w.Fatalf("%s gets %v and misses %v, and %s is %s", s.Agent, s.Given, s.Missing, up, w.node(up).State)
			}
		}
		n.State, n.Round, n.Given = plan.NodeWorking, n.Round+1, s.Given
	case plan.AskIt:
		n.State, n.Asks, n.Question, n.Answered = plan.NodeAsking, s.Asks, s.Question, ""
	case plan.Skip:
		n.State, n.Reason = plan.NodeSkipped, s.Reason
	}
	if working := w.count(plan.NodeWorking); w.task.Plan.MaxParallel > 0 && working > w.task.Plan.MaxParallel {
		w.Fatalf("%d work at once, %d may", working, w.task.Plan.MaxParallel)
	}
	w.most = max(w.most, w.count(plan.NodeWorking))
}

func (w *rows) count(s plan.NodeState) (n int) {
	for _, x := range w.nodes {
		if x.State == s {
			n++
		}
	}
	return n
}

// moves has something happen from outside to one of the nodes that work or ask; nil if there is none.
func (w *rows) moves() *plan.Node {
	var some []*plan.Node
	for i := range w.nodes {
		if s := w.nodes[i].State; s == plan.NodeWorking || s == plan.NodeAsking {
			some = append(some, &w.nodes[i])
		}
	}
	if len(some) == 0 {
		return nil
	}
	n := some[w.r.IntN(len(some))]
	bad := w.fate[n.Agent] == 0
	switch {
	case n.State == plan.NodeWorking && bad:
		n.State = plan.NodeFailed
	case n.State == plan.NodeWorking:
		n.State, n.Version = plan.NodeDelivered, 1
	case n.Asks == plan.AsksGate && bad:
		n.State, n.Answered = plan.NodeFailed, "no"
	case n.Asks == plan.AsksGate:
		n.State, n.Answered = plan.NodeDelivered, "yes"
	case w.fate[n.Agent] == 1:
		n.State, n.Without = plan.NodeSkipped, &plan.Without{Only: true}
	default:
		n.State, n.Without = plan.NodeWaiting, &plan.Without{Yes: true, Only: true}
	}
	return n
}

// end is how all has ended, for comparing two ways to it.
func (w *rows) end(b *plan.Board) string {
	var all []string
	for _, n := range w.nodes {
		all = append(all, n.Agent+" "+string(n.State))
	}
	status, why := b.Outcome()
	return strings.Join(all, ", ") + ": " + string(status) + " " + why
}

// plays lets a task run to its end in some order, with crashes: after each of those the board is made of the rows, and a step
// that was not written down is forgotten.
func (w *rows) plays(crashes bool) string {
	w.Helper()
	b := plan.NewBoard(w.task, w.nodes)
	for turn := 0; ; turn++ {
		if turn > 1000 {
			w.Fatal("it does not end")
		}
		steps := b.Next()
		if again := b.Next(); len(again) > 0 {
			w.Fatalf("%v is said twice", again)
		}
		if crashes && w.r.IntN(3) == 0 {
			b = plan.NewBoard(w.task, w.nodes)
			continue
		}
		for _, s := range steps {
			w.takes(s)
			b.Put(*w.node(s.Agent))
		}
		if len(steps) > 0 && w.r.IntN(2) == 0 {
			continue
		}
		if n := w.moves(); n != nil {
			b.Put(*n)
		} else if len(b.Next()) == 0 {
			break
		} else {
			b = plan.NewBoard(w.task, w.nodes)
		}
	}
	if b.Open() != 0 {
		w.Fatalf("it ends with %d open nodes: %s", b.Open(), w.end(b))
	}
	return w.end(b)
}

// TestBoardEnds lets random plans run in random orders, with random failures, answers and crashes: each ends, nothing begins
// twice or before what it waits for, no more work at once than may, and how it ends does not depend on the order or on crashes.
func TestBoardEnds(t *testing.T) {
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := randomPlan(r)
		first := newRows(t, p, r)
		want := first.plays(false)
		for order := range uint64(4) {
			again := newRows(t, p, rand.New(rand.NewPCG(seed, 2+order)))
			again.fate = first.fate
			if got := again.plays(order > 0); got != want {
				t.Fatalf("plan %d ends in two ways:\n%s\n%s", seed, want, got)
			}
		}
	}
}

// TestBoardStartsAll: without a bound, all that waits for nothing begins at once, and what reads it the moment it is there.
func TestBoardStartsAll(t *testing.T) {
	p := plan.Plan{Agents: []plan.Agent{{Name: "a"}, {Name: "b"}, {Name: "c", Reads: []string{"a"}}, {Name: "d", Reads: []string{"a", "b"}}}}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	b := plan.NewBoard(plan.Task{Status: plan.InProgress, Plan: &p}, nodes)
	begins := func(want string) {
		t.Helper()
		var names []string
		for _, s := range b.Next() {
			names = append(names, string(s.Do)+" "+s.Agent)
			n, _ := b.Node(s.Agent)
			n.State = plan.NodeWorking
			b.Put(n)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	ends := func(name string) {
		n, _ := b.Node(name)
		n.State, n.Version = plan.NodeDelivered, 1
		b.Put(n)
	}
	begins("begin a, begin b")
	ends("a")
	begins("begin c")
	ends("b")
	begins("begin d")
}

// TestBoardPolicies says what becomes of an agent whose upstream failed.
func TestBoardPolicies(t *testing.T) {
	for _, c := range []struct {
		whole, plan, own plan.OnUpstreamFailure
		state            plan.NodeState
		want             string
		status           plan.Status
	}{
		{"", "", "", plan.NodeFailed, "ask", ""},
		{"", "", plan.FailStop, plan.NodeFailed, "skip", plan.Failed},
		{"", plan.FailStop, "", plan.NodeSkipped, "skip", plan.Failed},
		{"", plan.FailStop, plan.FailContinue, plan.NodeCancelled, "begin", ""},
		{plan.FailStop, "", plan.FailContinue, plan.NodeFailed, "skip", plan.Failed},
		{plan.FailContinue, plan.FailStop, "", plan.NodeFailed, "begin", ""},
	} {
		p := plan.Plan{OnUpstreamFailure: c.plan, Agents: []plan.Agent{{Name: "a"}, {Name: "b", Reads: []string{"a"}, OnUpstreamFailure: c.own}}}
		nodes, err := plan.Layout(p)
		if err != nil {
			t.Fatal(err)
		}
		nodes[0].State = c.state
		steps := plan.Next(plan.Task{Status: plan.InProgress, Plan: &p, OnUpstreamFailure: c.whole}, nodes)
		if len(steps) != 1 || steps[0].Agent != "b" || !strings.HasPrefix(string(steps[0].Do), c.want[:3]) && string(steps[0].Do) != c.want {
			t.Errorf("%+v: %+v", c, steps)
		}
		if c.want == "begin" {
			nodes[1].State, nodes[1].Version = plan.NodeDelivered, 1
			if status, why := plan.NewBoard(plan.Task{Plan: &p}, nodes).Outcome(); status != plan.Complete {
				t.Errorf("%+v: %s %s, although what reads it went on", c, status, why)
			}
		}
		if c.status != "" {
			nodes[1].State = plan.NodeSkipped
			if status, why := plan.NewBoard(plan.Task{Plan: &p}, nodes).Outcome(); status != c.status || why == "" {
				t.Errorf("%+v: %s %s", c, status, why)
			}
		}
	}
}

// TestBoardIsLinear: 10,000 agents in waves of 100, each of which reads all of the wave before, are as many edges as a plan has
// at most.
func TestBoardIsLinear(t *testing.T) {
	const all, wave = 10_000, 100
	var p plan.Plan
	for i := range all {
		a := plan.Agent{Name: fmt.Sprintf("a%d", i), Wave: 1 + i/wave}
		for j := (i/wave - 1) * wave; j >= 0 && j < i/wave*wave; j++ {
			a.Reads = append(a.Reads, fmt.Sprintf("a%d", j))
		}
		p.Agents = append(p.Agents, a)
	}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	b, done := plan.NewBoard(plan.Task{Status: plan.InProgress, Plan: &p}, nodes), 0
	for steps := b.Next(); len(steps) > 0; steps = b.Next() {
		if b.Working()+len(steps) > 256 {
			t.Fatalf("%d are begun at once", len(steps))
		}
		for _, s := range steps {
			n, _ := b.Node(s.Agent)
			n.State = plan.NodeWorking
			b.Put(n)
		}
		for _, s := range steps {
			n, _ := b.Node(s.Agent)
			n.State = plan.NodeDelivered
			b.Put(n)
			done++
		}
	}
	if status, _ := b.Outcome(); done != all || status != plan.Complete {
		t.Errorf("%d of %d are done: %s", done, all, status)
	}
	took := time.Since(begin)
	t.Logf("%d agents in %s", all, took)
	if took > 20*time.Second { // it takes one
		t.Errorf("%d agents took %s", all, took)
	}
}

// TestBoardAsksOnce: what a gate's question has named as missing is not asked again behind it, unless it came later; who asks
// about the same is found.
func TestBoardAsksOnce(t *testing.T) {
	p := plan.Plan{Agents: []plan.Agent{
		{Name: "a", Wave: 1}, {Name: "b", Wave: 1}, {Name: "c", Wave: 2}, {Name: "d", Wave: 2}, {Name: "e", Wave: 2, Reads: []string{"a"}},
		{Name: "f", Wave: 3, Reads: []string{"b", "c"}},
	}}
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		gate  bool
		ended time.Time
		want  string
	}{
		{true, at.Add(-time.Minute), "begin c, begin d, begin e"},
		{true, at.Add(time.Minute), "ask c, ask d, begin e"}, // it was begun again since
		{false, at, "ask c, ask d, begin e"},
	} {
		p.Gates = nil
		if c.gate {
			p.Gates = []plan.Gate{{Name: "gate", After: 1}}
		}
		nodes, err := plan.Layout(p)
		if err != nil {
			t.Fatal(err)
		}
		nodes[0].State, nodes[0].Version = plan.NodeDelivered, 1
		nodes[1].State, nodes[1].Ended = plan.NodeFailed, c.ended
		if c.gate {
			nodes[6].State, nodes[6].Ended = plan.NodeDelivered, at
		}
		b := plan.NewBoard(plan.Task{Status: plan.InProgress, Plan: &p}, nodes)
		var got []string
		for _, s := range b.Next() {
			got = append(got, string(s.Do)+" "+s.Agent)
			n, _ := b.Node(s.Agent)
			if s.Do == plan.AskIt {
				n.State, n.Asks = plan.NodeAsking, s.Asks
			}
			b.Put(n)
		}
		slices.Sort(got)
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
		if same := strings.Join(b.AsksSame("c"), ", "); strings.Contains(c.want, "ask") && same != "c, d" {
			t.Errorf("%s ask the same as c", same)
		}
	}
}

// TestBoardAnswersLater: an answer holds for who comes to ask about the same later, as it does for who asks at the time; not if
// it was given for one only, what is missing was begun again since, or who asks was, or misses something else.
func TestBoardAnswersLater(t *testing.T) {
	p := plan.Plan{Agents: []plan.Agent{
		{Name: "a"}, {Name: "slow"}, {Name: "other"}, {Name: "b", Reads: []string{"a"}}, {Name: "c", Reads: []string{"a", "slow"}},
		{Name: "d", Reads: []string{"other"}},
	}}
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		without plan.Without
		change  func(nodes []plan.Node)
		want    string
	}{
		{"yes", plan.Without{Yes: true, At: at}, nil, "begin c as b, ask d"},
		{"no", plan.Without{At: at}, nil, "skip c as b, ask d"},
		{"only", plan.Without{At: at, Only: true}, nil, "ask c, ask d"},
		{"missing again", plan.Without{At: at}, func(nodes []plan.Node) { nodes[0].Ended = at.Add(1) }, "ask c, ask d"},
		{"begun again", plan.Without{At: at}, func(nodes []plan.Node) { nodes[4].Again = at.Add(1) }, "ask c, ask d"},
		{"more", plan.Without{At: at}, func(nodes []plan.Node) { nodes[1].State = plan.NodeFailed }, "ask c, ask d"},
		{"lost since", plan.Without{Yes: true, At: at}, func(nodes []plan.Node) {
			nodes[3].State, nodes[3].Asks, nodes[3].Round = plan.NodeWaiting, plan.AsksLost, 1
		}, "begin b, begin c as b, ask d"},
	} {
		nodes, err := plan.Layout(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			nodes[i].State, nodes[i].Ended = plan.NodeFailed, at.Add(-time.Minute)
		}
		nodes[1].State, nodes[1].Version = plan.NodeDelivered, 1
		nodes[3].State, nodes[3].Without = plan.NodeSkipped, &c.without
		if c.change != nil {
			c.change(nodes)
		}
		var got []string
		for _, s := range plan.Next(plan.Task{Status: plan.InProgress, Plan: &p}, nodes) {
			one := string(s.Do) + " " + s.Agent
			if s.As != "" {
				one += " as " + s.As
			}
			got = append(got, one)
		}
		slices.SortFunc(got, func(x, y string) int { return strings.Compare(x[strings.Index(x, " "):], y[strings.Index(y, " "):]) })
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestBoardTakesQuestionsBack: who asks whether to go on without something begins once that is handed over, by a retry or by a
// person, also on a board that is made again.
func TestBoardTakesQuestionsBack(t *testing.T) {
	p := plan.Plan{Agents: []plan.Agent{{Name: "a", Wave: 1}, {Name: "b", Wave: 1}, {Name: "c", Wave: 2}}}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].State, nodes[0].Version = plan.NodeDelivered, 1
	nodes[1].State = plan.NodeFailed
	nodes[2].State, nodes[2].Asks, nodes[2].Question = plan.NodeAsking, plan.AsksUpstream, "b handed nothing over: let c go on without?"
	task := plan.Task{Status: plan.InProgress, Plan: &p}
	b := plan.NewBoard(task, nodes)
	if steps := b.Next(); len(steps) > 0 {
		t.Errorf("it asks, and %+v follows", steps)
	}
	given := func(b *plan.Board) map[string]int {
		t.Helper()
		steps := b.Next()
		if len(steps) != 1 || steps[0].Agent != "c" || steps[0].Do != plan.Begin {
			t.Fatalf("follows %+v", steps)
		}
		return steps[0].Given
	}
	again := nodes[1]
	again.State, again.Round = plan.NodeWorking, 2
	b.Put(again)
	if steps := b.Next(); len(steps) > 0 {
		t.Errorf("b works again, and %+v follows", steps)
	}
	again.State, again.Version = plan.NodeDelivered, 1
	b.Put(again)
	if got := given(b); got["b"] != 1 {
		t.Errorf("given %v", got)
	}
	nodes[1] = again
	given(plan.NewBoard(task, nodes))
}

// TestBoardGateAsksAsItStands: a gate asks in the plan's words, and names what is missing as it is now.
func TestBoardGateAsksAsItStands(t *testing.T) {
	p := plan.Plan{Agents: []plan.Agent{{Name: "a", Wave: 1}, {Name: "b", Wave: 1}, {Name: "c", Wave: 2}}, Gates: []plan.Gate{{Name: "g", After: 1, Text: "Good?"}}}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].State, nodes[0].Version = plan.NodeDelivered, 1
	gate := slices.IndexFunc(nodes, func(n plan.Node) bool { return n.Gate })
	for _, c := range []struct {
		state    plan.NodeState
		was, now string
	}{
		{plan.NodeFailed, "Good?", "Good? (b handed nothing over)"},
		{plan.NodeDelivered, "Good? (b handed nothing over)", "Good?"},
		{plan.NodeDelivered, "", "Good?"}, // it was cancelled
	} {
		nodes[1].State, nodes[1].Version, nodes[gate].Question = c.state, 1, c.was
		steps := plan.NewBoard(plan.Task{Status: plan.InProgress, Plan: &p}, nodes).Next()
		if len(steps) != 1 || steps[0].Asks != plan.AsksGate || steps[0].Question != c.now {
			t.Errorf("%+v: %+v", c, steps)
		}
	}
}
