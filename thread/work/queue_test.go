package work

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// made makes an execution from "name thread agent state [account=A] [by] [p=N] [t=N]".
func made(t *testing.T, s string) Execution {
	t.Helper()
	f := words(s)
	x := Execution{ID: ID(f[0]), Name: f[0], Thread: thread.ID(f[1]), Agent: f[2], State: State(f[3])}
	for _, o := range f[4:] {
		key, v, _ := strings.Cut(o, "=")
		n := 0
		switch key {
		case "account":
			x.Account = v
		case "by":
			x.By = thread.ID(cmp.Or(v, "asker"))
		case "p":
			if _, err := fmt.Sscan(v, &x.Priority); err != nil {
				t.Fatal(err)
			}
		case "t":
			if _, err := fmt.Sscan(v, &n); err != nil {
				t.Fatal(err)
			}
			x.Created = time.Unix(int64(n), 0)
		default:
			t.Fatal(o)
		}
	}
	return x
}

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		queue Queue
		open  []string
		start string            // the names
		waits map[string]string // with the reasons
	}{
		"nothing": {},
		"order: priority, people, age": {
			open: []string{"e1 a x queued t=3", "e2 b x queued by t=1", "e3 c x queued p=1 by t=9", "e4 d x queued t=2",
				"e5 f x queued p=-1 t=0"},
			start: "e3 e4 e1 e2 e5",
		},
		"one of a thread at a time": {
			open:  []string{"e1 a x running", "e2 a x queued t=1", "e3 b x queued t=3", "e4 b x queued t=2"},
			start: "e4",
			waits: map[string]string{"e2": "waits for e1 of the same thread", "e3": "waits for e4 of the same thread"},
		},
		"a thread waits behind its own first": {
			queue: Queue{Limits: Limits{Agents: map[string]int{"x": 1}}},
			open:  []string{"e1 a x deployed", "e2 b x queued t=1", "e3 b y queued t=2"},
			waits: map[string]string{"e2": "1 of 1 x runs are running", "e3": "waits for e2 of the same thread"},
		},
		"all": {
			queue: Queue{Limits: Limits{All: 2}},
			open:  []string{"e1 a x running", "e2 b x queued t=1", "e3 c y queued t=2"},
			start: "e2",
			waits: map[string]string{"e3": "2 of 2 runs are running"},
		},
		"what waits for a person lends its place": {
			queue: Queue{Limits: Limits{All: 2, Agent: 1, Account: 1}},
			open: []string{"e1 a x needs_input account=me", "e2 b x queued account=me t=1", "e3 c y queued t=2", "e4 d y queued t=3",
				"e5 e z queued t=4"},
			start: "e2 e3",
			waits: map[string]string{"e4": "1 of 1 y runs are running", "e5": "2 of 2 runs are running"},
		},
		"it lends no process": {
			queue: Queue{Limits: Limits{All: 2}},
			open: []string{"e1 a x needs_input", "e2 b x needs_input", "e3 c x needs_input", "e4 d x queued t=1",
				"e5 e x queued t=2"},
			start: "e4",
			waits: map[string]string{"e5": "3 of 4 runs wait for a person's answer"},
		},
		"once it is answered it works": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x running", "e2 b x running", "e3 c x queued"},
			waits: map[string]string{"e3": "2 of 1 runs are running"},
		},
		"a child waits for a person, too": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x needs_input", "e2 b x running", "e3 c x queued by=b"},
			waits: map[string]string{"e3": "1 of 2 runs wait for a person's answer"},
		},
		"by agent, others pass": {
			queue: Queue{Limits: Limits{All: 4, Agent: 1, Agents: map[string]int{"y": 2}}},
			open: []string{"e1 a x queued t=1", "e2 b x queued t=2", "e3 c y queued t=3", "e4 d y queued t=4",
				"e5 e z queued t=5", "e6 f y queued t=6"},
			start: "e1 e3 e4 e5",
			waits: map[string]string{"e2": "1 of 1 x runs are running", "e6": "2 of 2 y runs are running"},
		},
		"by account": {
			queue: Queue{Limits: Limits{Account: 1, Accounts: map[string]int{"big": 2}}},
			open: []string{"e1 a x running account=me", "e2 b y queued account=me t=1", "e3 c y queued t=2", "e4 d y queued t=3",
				"e5 e y queued account=big t=4", "e6 f y queued account=big t=5"},
			start: "e3 e4 e5 e6",
			waits: map[string]string{"e2": "1 of 1 runs of the account me are running"},
		},
		"paused": {
			queue: Queue{Paused: true},
			open:  []string{"e1 a x running", "e2 b x queued"},
			waits: map[string]string{"e2": "the queue is paused"},
		},
		"an agent is paused": {
			queue: Queue{PausedAgents: []string{"x"}},
			open:  []string{"e1 a x queued t=1", "e2 b y queued t=2"},
			start: "e2",
			waits: map[string]string{"e1": "the queue of x is paused"},
		},
		"a thread is held": {
			queue: Queue{Held: map[thread.ID]string{"a": "it is open in a terminal"}},
			open:  []string{"e1 a x queued t=1", "e2 b x queued t=2"},
			start: "e2",
			waits: map[string]string{"e1": "it is open in a terminal"},
		},
		"final ones take nothing": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x lost", "e2 a x completed", "e3 a x queued"},
			start: "e3",
		},
		"a place is lent to what its agent asked for": {
			queue: Queue{Limits: Limits{All: 2, Agent: 1}},
			open: []string{"e1 a x running", "e2 b y running", "e3 c x queued by=a t=1", "e4 d x queued by=a t=2", "e5 e y queued by=b t=3",
				"e6 f z queued t=4"},
			start: "e3 e5",
			waits: map[string]string{"e4": "1 of 1 x runs are running", "e6": "2 of 2 runs are running"},
		},
		"a place is lent on": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x running", "e2 b x running by=a", "e3 c x queued by=b", "e4 d x queued by=a"},
			start: "e3",
			waits: map[string]string{"e4": "1 of 1 runs are running"},
		},
		"places are lent up to twice as many": {
			queue: Queue{Limits: Limits{All: 2}},
			open: []string{"e1 a x running", "e2 b x running", "e3 c x running by=a", "e4 d x running by=b", "e5 e x queued by=c t=1",
				"e6 f x queued by=c t=2"},
			waits: map[string]string{"e5": "2 of 2 runs are running", "e6": "2 of 2 runs are running"},
		},
		"one more if all wait": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x running", "e2 b x running by=a", "e3 c x queued by=b t=1", "e4 d x queued by=b t=2"},
			start: "e3",
			waits: map[string]string{"e4": "1 of 1 runs are running"},
		},
		"nobody lends what is gone": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x running", "e2 b x queued by=z"},
			waits: map[string]string{"e2": "1 of 1 runs are running"},
		},
		"a limit that was lowered": {
			queue: Queue{Limits: Limits{All: 1}},
			open:  []string{"e1 a x running", "e2 b x running", "e3 c x queued"},
			waits: map[string]string{"e3": "2 of 1 runs are running"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var open []Execution
			for _, s := range tc.open {
				open = append(open, made(t, s))
			}
			d := tc.queue.Decide(open)
			var start []string
			for _, x := range d.Start {
				start = append(start, x.Name)
			}
			if got := strings.Join(start, " "); got != tc.start {
				t.Errorf("start %q, want %q", got, tc.start)
			}
			waits := map[string]string{}
			for _, w := range d.Waits {
				waits[string(w.ID)] = w.Reason
			}
			if !maps.Equal(waits, tc.waits) {
				t.Errorf("waits %q", waits)
			}
		})
	}
}

// TestDecideHolds has queues of every kind at work for a while, and checks the promises at each step.
func TestDecideHolds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		q := Queue{Limits: Limits{All: r.IntN(5), Agent: r.IntN(4), Account: r.IntN(4),
			Agents: map[string]int{"x": r.IntN(3)}, Accounts: map[string]int{"me": r.IntN(3)}}}
		if r.IntN(3) == 0 {
			q.PausedAgents = []string{"z"}
		}
		w := &world{T: t, r: r, queue: q, lent: map[ID]bool{}}
		for range 40 {
			w.step()
		}
		w.drain()
	}
}

// world is a queue at work.
type world struct {
	*testing.T
	r     *rand.Rand
	queue Queue
	open  []Execution
	made  int
	lent  map[ID]bool // may have the place of who asked for it
}

func (w *world) add() {
	w.made++
	x := Execution{ID: ID(fmt.Sprintf("%016x", w.made)), Name: Numbered(int64(w.made)), State: Queued,
		Thread:  thread.ID(fmt.Sprint("t", w.r.IntN(8))),
		Agent:   []string{"x", "y", "z"}[w.r.IntN(3)],
		Account: []string{"", "me", "work"}[w.r.IntN(3)],
		By:      thread.ID([]string{"", "asker", "asker", fmt.Sprint("t", w.r.IntN(8))}[w.r.IntN(4)]),
		Created: time.Unix(int64(w.made/2), 0), Priority: w.r.IntN(3) - 1}
	w.open = append(w.open, x)
}

func (w *world) step() {
	for range w.r.IntN(4) {
		w.add()
	}
	w.start()
	w.end()
	w.answer()
}

// answer answers some that wait for a person.
func (w *world) answer() {
	for i, x := range w.open {
		if x.State == NeedsInput && w.r.IntN(3) == 0 {
			w.open[i].State = Running
		}
	}
}

// start starts what the queue decides.
func (w *world) start() int {
	w.r.Shuffle(len(w.open), func(i, j int) { w.open[i], w.open[j] = w.open[j], w.open[i] })
	d := w.queue.Decide(w.open)
	w.check(d)
	for _, s := range d.Start {
		i := slices.IndexFunc(w.open, func(x Execution) bool { return x.ID == s.ID })
		w.open[i].State = []State{Deployed, Running, NeedsInput}[w.r.IntN(3)]
	}
	return len(d.Start)
}

// end ends some that have a process.
func (w *world) end() {
	w.open = slices.DeleteFunc(w.open, func(x Execution) bool { return x.State.Holds() && w.r.IntN(2) == 0 })
}

// drain works off the queue: nothing that could start is left.
func (w *world) drain() {
	for w.start() > 0 || slices.ContainsFunc(w.open, func(x Execution) bool { return x.State.Holds() }) {
		w.open = slices.DeleteFunc(w.open, func(x Execution) bool { return x.State.Holds() })
	}
	paused := map[thread.ID]bool{} // a thread with a paused agent holds up what comes later in it
	for _, x := range w.open {
		paused[x.Thread] = paused[x.Thread] || slices.Contains(w.queue.PausedAgents, x.Agent)
	}
	for _, x := range w.open {
		if !paused[x.Thread] {
			w.Fatalf("%s of %s starves", x.Name, x.Agent)
		}
	}
}

func (w *world) check(d Decision) {
	all, agents, accounts, threads := 0, map[string]int{}, map[string]int{}, map[thread.ID]int{}
	count := func(x Execution) {
		all++
		agents[x.Agent]++
		accounts[x.Account]++
	}
	queued := map[ID]Execution{}
	var held []Execution
	for _, x := range w.open {
		if x.State == Queued {
			queued[x.ID] = x
		} else {
			held = append(held, x)
		}
	}
	has := map[thread.ID]bool{} // a process
	for _, x := range append(slices.Clone(held), d.Start...) {
		threads[x.Thread]++
		has[x.Thread] = true
	}
	lent := 0 // places, to what their agents asked for: those keep them when the agents have ended
	for _, x := range held {
		if has[x.By] {
			w.lent[x.ID] = true
		}
		if w.lent[x.ID] {
			lent++
		}
		if x.State != NeedsInput {
			count(x)
		}
	}
	l := w.queue.Limits
	over := func(n, limit int) bool { return limit > 0 && n > limit+lent }
	processes := len(held)
	for _, x := range d.Start { // what was answered may work over a limit, but nothing starts then that is not lent a place
		if has[x.By] {
			w.lent[x.ID] = true
			continue
		}
		count(x)
		processes++
		switch {
		case over(all, l.All), over(processes, 2*l.All):
			w.Fatalf("%d at once, %d processes: %+v", all, processes, l)
		case over(agents[x.Agent], own(l.Agents, x.Agent, l.Agent)):
			w.Fatalf("%d of agent %s: %+v", agents[x.Agent], x.Agent, l)
		case x.Account != "" && over(accounts[x.Account], own(l.Accounts, x.Account, l.Account)):
			w.Fatalf("%d of account %s: %+v", accounts[x.Account], x.Account, l)
		}
	}
	for id, n := range threads {
		if n > 1 {
			w.Fatalf("%d of thread %s", n, id)
		}
	}
	if len(d.Start)+len(d.Waits) != len(queued) {
		w.Fatalf("%d at once, %d start and %d wait of %d: %+v", all, len(d.Start), len(d.Waits), len(queued), l)
	}
	for _, wait := range d.Waits {
		x := queued[wait.ID]
		if wait.Reason == "" {
			w.Fatalf("%s waits without a reason", x.Name)
		}
		if x.By != "" {
			continue
		}
		for _, s := range d.Start { // an agent's took what a person's could have had
			if s.By != "" && !has[s.By] && s.Priority <= x.Priority && s.Agent == x.Agent && s.Account == x.Account && s.Thread == x.Thread {
				w.Fatalf("%s of an agent starts before %s of a person", s.Name, x.Name)
			}
		}
		if !slices.ContainsFunc(d.Start, func(s Execution) bool {
			return s.By != "" && !has[s.By] && s.Priority <= x.Priority
		}) {
			continue
		}
		// One of an agent's started: then the person's was kept back by what the agent's does not need.
		if strings.HasSuffix(wait.Reason, fmt.Sprintf("of %d runs are running", l.All)) {
			w.Fatalf("%s waits for a place that an agent's got: %s", x.Name, wait.Reason)
		}
	}
}

// TestParentsWait has agents ask for runs and wait for them, some levels deep, until all is done: however few places
// there are, nobody waits for ever.
func TestParentsWait(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		q := Queue{Limits: Limits{All: 1 + r.IntN(3), Agent: r.IntN(3), Account: r.IntN(2)}}
		var open []Execution
		depth := map[thread.ID]int{}
		ask := func(by thread.ID, deep int) {
			n := len(depth)
			x := Execution{ID: ID(fmt.Sprint(n)), Name: Numbered(int64(n)), Thread: thread.ID(fmt.Sprint("t", n)), By: by, State: Queued,
				Agent: []string{"x", "y"}[r.IntN(2)], Account: []string{"", "me"}[r.IntN(2)], Created: time.Unix(int64(n), 0)}
			depth[x.Thread] = deep
			open = append(open, x)
		}
		for range 1 + r.IntN(6) {
			ask("", 0)
		}
		for len(open) > 0 {
			for i := range open { // a person answers some, and others ask
				switch s := &open[i].State; {
				case *s == NeedsInput && r.IntN(2) == 0:
					*s = Running
				case *s == Running && r.IntN(4) == 0:
					*s = NeedsInput
				}
			}
			start := q.Decide(open).Start
			for _, s := range start {
				i := slices.IndexFunc(open, func(x Execution) bool { return x.ID == s.ID })
				open[i].State = Running
				if depth[s.Thread] < 3 {
					for range r.IntN(3) {
						ask(s.Thread, depth[s.Thread]+1)
					}
				}
			}
			works, asks := 0, 0
			for _, x := range open {
				switch x.State {
				case Running:
					works++
				case NeedsInput:
					asks++
				default:
				}
			}
			if works+asks > 6*q.Limits.All+4 { // three times as many as without questions: parents that ask lend and lend again
				t.Fatalf("%d work, %d wait for a person: %+v", works, asks, q.Limits)
			}
			waits := map[thread.ID]bool{} // for what it asked for
			for _, x := range open {
				waits[x.By] = true
			}
			left := len(open)
			open = slices.DeleteFunc(open, func(x Execution) bool { return x.State == Running && !waits[x.Thread] })
			if len(start) == 0 && len(open) == left && asks == 0 {
				t.Fatalf("%d wait for each other: %+v", left, q.Limits)
			}
		}
	}
}
