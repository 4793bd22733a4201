package wave_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	plans "orchestrator/checkpoint/plantest/memory"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// world is what outlives a server: its stores, and the runs, which are counted as they begin.
type world struct {
	*testing.T
	store  *plans.Store
	record *memory.Store

	mu      sync.Mutex // guards what follows
	r       *rand.Rand
	heard   func(work.Execution)
	begun   map[thread.Part]int
	parts   map[thread.Part]work.ID
	running map[work.ID]bool // that have a process
	fate    map[string]int   // 0 fails, 1 answers no
	prompts map[thread.Part]string
	dead    *dying
	slow    time.Duration // of each run; random if 0
	late    time.Duration // until a start is told
	only    bool          // a person answers each node by itself
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	return &world{
		T: t, store: plans.New(time.Now), record: memory.New(time.Now), r: rand.New(rand.NewPCG(seed, 3)), begun: map[thread.Part]int{}, parts: map[thread.Part]work.ID{},
		running: map[work.ID]bool{}, fate: map[string]int{}, prompts: map[thread.Part]string{}, dead: &dying{},
	}
}

func (w *world) intn(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.IntN(n)
}

// dooms says what becomes of an agent from now on.
func (w *world) dooms(agent string, fate int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fate[agent] = fate
}

// server is one that works until it is ended.
type server struct {
	*wave.Waves
	end func()
}

// serves starts a server that dies with its after-th write, before or after that; 0 for none that dies.
func (w *world) serves(after int) *server {
	d := &dying{Store: w.store, left: after, late: w.intn(2) == 0}
	c := wave.Config{Store: d, Record: w.record, Runs: &runsOf{w, d}, Agent: "demo", Server: "here:/p", Root: "/p", Log: slog.New(slog.NewTextHandler(w.Output(), nil))}
	v := wave.New(c)
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan struct{})
	w.mu.Lock()
	w.heard, w.dead = v.Heard, d
	w.mu.Unlock()
	go func() {
		defer close(ended)
		_ = v.Work(ctx)
	}()
	return &server{v, func() { cancel(); <-ended }}
}

// restarts is what a server leaves behind that has died: runs without a process, some of which go on at the next start.
func (w *world) restarts() {
	open, err := w.record.Open(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, x := range open {
		if w.intn(3) == 0 && x.State != work.Queued {
			w.moves(x.ID, work.Lost, "")
			continue
		}
		go w.runs(x)
	}
}

// runs lets a run work to its end.
func (w *world) runs(x work.Execution) {
	w.mu.Lock()
	d, took := w.dead, w.slow
	if took == 0 {
		took = time.Duration(w.r.IntN(3000)) * time.Millisecond
	}
	fails := w.fate[x.Part.Agent] == 0
	w.mu.Unlock()
	for _, s := range []work.State{work.Deployed, work.Running, work.Completed} {
		if d.is() {
			return // its process died with the server
		}
		said := ""
		if s == work.Completed {
			time.Sleep(took)
			if d.is() {
				return
			}
			if said = fmt.Sprintf(`{"of": %q}`, x.Part.Agent); fails {
				s = work.Failed
			}
		}
		w.moves(x.ID, s, said)
	}
}

// moves has an execution be in a state, unless it has ended.
func (w *world) moves(id work.ID, s work.State, said string) {
	var events []work.Event
	if said != "" {
		events = append(events, work.Event{Kind: work.KindSaid, Text: said})
	}
	if s == work.Deployed {
		if x, err := w.record.Claim(context.Background(), id, "s", time.Now()); err == nil {
			w.tells(x)
		}
		return
	}
	x, err := w.record.Supersede(context.Background(), id, func(x *work.Execution) error {
		if x.State.Final() || x.State == s {
			return errDone
		}
		x.State, x.Ended = s, time.Now()
		if s == work.Failed {
			x.Reason = "it failed"
		}
		return nil
	}, events...)
	if err == nil {
		w.tells(x)
	} else if !errors.Is(err, errDone) {
		w.Errorf("%s becomes %s: %v", id, s, err)
	}
}

// tells tells the server that there is of an execution.
func (w *world) tells(x work.Execution) {
	w.mu.Lock()
	heard := w.heard
	w.mu.Unlock()
	heard(x)
}

var errDone = errors.New("it is so already")

// runsOf is the runs as one server has them.
type runsOf struct {
	w *world
	d *dying
}

func (r *runsOf) Find(ctx context.Context, part thread.Part) (work.Execution, bool, error) {
	if r.d.is() {
		return work.Execution{}, false, thread.ErrUnreachable
	}
	r.w.mu.Lock()
	id, ok := r.w.parts[part]
	r.w.mu.Unlock()
	if !ok {
		return work.Execution{}, false, nil
	}
	x, err := r.w.record.Execution(ctx, string(id))
	return x, err == nil, err
}

func (r *runsOf) Start(ctx context.Context, q thread.NewRequest) (work.Execution, error) {
	x, ok, err := r.Find(ctx, q.Once.Part)
	if ok || err != nil {
		return x, err
	}
	x = work.Execution{ID: thread.NewID[work.ID](), Thread: thread.NewID[thread.ID](), Prompt: "p", Agent: q.Agent, Part: q.Once.Part, Created: time.Now(), Lost: work.PolicyAsk}
	if x, err = r.w.record.Add(context.Background(), x); err != nil {
		return x, err
	}
	r.w.mu.Lock()
	r.w.begun[q.Once.Part]++
	r.w.parts[q.Once.Part] = x.ID
	r.w.prompts[q.Once.Part] = q.Prompt
	r.w.mu.Unlock()
	go r.w.runs(x)
	time.Sleep(r.w.late)
	if r.d.dies() {
		return x, thread.ErrUnreachable
	}
	return x, nil
}

func (r *runsOf) Again(context.Context, thread.ID, string) (work.Execution, error) {
	return work.Execution{}, errors.ErrUnsupported
}

func (r *runsOf) Cancel(_ context.Context, id work.ID, _ string) error {
	if r.d.is() {
		return thread.ErrUnreachable
	}
	r.w.moves(id, work.Cancelled, "")
	return nil
}

func (r *runsOf) Dispose(work.Execution) {}

func (r *runsOf) Rest(thread.ID) {}

func (r *runsOf) Budget(context.Context, string, thread.Budget) error { return nil }

// dying is a store that stops answering with one of its writes, which is done or not.
type dying struct {
	plan.Store

	mu   sync.Mutex // guards left and over
	left int        // writes until then, 0 for never
	late bool       // the last write is done, and nobody is told
	over bool
}

func (d *dying) is() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// dies counts a write, and reports whether it is the last.
func (d *dying) dies() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left > 0 {
		d.left--
		d.over = d.over || d.left == 0
	}
	return d.over
}

// write does a write unless the store dies before it.
func (d *dying) write(do func() error) error {
	if d.is() {
		return thread.ErrUnreachable
	}
	if d.dies() {
		if d.late {
			_ = do()
		}
		return thread.ErrUnreachable
	}
	return do()
}

func (d *dying) AddTask(ctx context.Context, t plan.Task, nodes []plan.Node) (out plan.Task, err error) {
	err = d.write(func() (err error) { out, err = d.Store.AddTask(ctx, t, nodes); return })
	return out, err
}

func (d *dying) ChangeTask(ctx context.Context, name string, fence int64, change func(*plan.Task) error) (out plan.Task, err error) {
	err = d.write(func() (err error) { out, err = d.Store.ChangeTask(ctx, name, fence, change); return })
	return out, err
}

func (d *dying) Supersede(ctx context.Context, name string, change func(*plan.Task) error) (out plan.Task, err error) {
	err = d.write(func() (err error) { out, err = d.Store.Supersede(ctx, name, change); return })
	return out, err
}

func (d *dying) ChangeNodes(ctx context.Context, task string, fences map[string]int64, change func(*plan.Node) error) (out []plan.Node, err error) {
	err = d.write(func() (err error) { out, err = d.Store.ChangeNodes(ctx, task, fences, change); return })
	return out, err
}

func (d *dying) Deliver(ctx context.Context, h plan.HandOver, fence int64, change func(*plan.Node) error) (out plan.HandOver, nodes []plan.Node, err error) {
	err = d.write(func() (err error) { out, nodes, err = d.Store.Deliver(ctx, h, fence, change); return })
	return out, nodes, err
}

func (d *dying) Tasks(ctx context.Context, q plan.TaskQuery) ([]plan.Task, error) {
	if d.is() {
		return nil, thread.ErrUnreachable
	}
	return d.Store.Tasks(ctx, q)
}

// answers answers what is asked as the fates say, until the task has ended; what was lost begins again.
func (w *world) answers(v *wave.Waves, task string) {
	nodes, err := w.store.Nodes(w.Context(), task)
	if err != nil {
		return
	}
	for _, n := range nodes {
		if n.State == plan.NodeAsking {
			yes := w.fate[n.Agent] > 1 || n.Asks == plan.AsksLost
			if n.Asks == plan.AsksUpstream && !w.only {
				yes = w.agrees(nodes, n)
			}
			_, _ = v.Answer(w.Context(), wave.Author{}, wave.AnswerRequest{Task: task, Agent: n.Agent, Yes: yes, Only: w.only})
		}
	}
}

// agrees is what a person says who has one answer to the same missing hand-overs, whoever asks.
func (w *world) agrees(nodes []plan.Node, asks plan.Node) bool {
	var missing []string
	for _, n := range nodes {
		if n.State.Final() && n.State != plan.NodeDelivered && slices.Contains(asks.Upstreams(), n.Agent) {
			missing = append(missing, n.Agent)
		}
	}
	return crc32.ChecksumIEEE(fmt.Append(nil, missing, w.fate))%2 == 0
}

// ends lets servers work on a plan until its task has ended; deaths are after how many writes each of them dies.
func (w *world) ends(p plan.Plan, deaths ...int) string {
	w.Helper()
	task := ""
	for i := 0; ; i++ {
		after := 0
		if i < len(deaths) {
			after = deaths[i]
		}
		s := w.serves(after)
		if i > 0 {
			w.restarts()
		}
		if task == "" {
			if v, err := s.Run(w.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"}); err == nil {
				task = v.Task.Name
			} else if list, _ := w.store.Tasks(w.Context(), plan.TaskQuery{}); len(list) > 0 {
				task = list[0].Name
			}
		}
		for turn := 0; !w.dead.is(); turn++ {
			time.Sleep(700 * time.Millisecond)
			synctest.Wait()
			if t, err := w.store.Task(w.Context(), task); err == nil && t.Status.Final() {
				if s.Found() > 0 {
					w.Errorf("sweeps found %d things to do", s.Found())
				}
				time.Sleep(10 * time.Second) // of runs that died
				s.end()
				return w.result(t)
			}
			if turn > 2000 {
				w.Fatalf("it does not end: %s", w.result(plan.Task{Name: task}))
			}
			w.answers(s.Waves, task)
		}
		s.end()
	}
}

// result is how a task stands, and checks what must hold in each.
func (w *world) result(t plan.Task) string {
	nodes, err := w.store.Nodes(w.Context(), t.Name)
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, n := range nodes {
		all = append(all, n.Agent+" "+string(n.State))
		if strings.Contains(n.Reason, "not started") {
			w.Errorf("%s: %s", n.Agent, n.Reason)
		}
		list, err := w.store.HandOvers(w.Context(), plan.HandOverQuery{Task: t.Name, Agent: n.Agent})
		if err != nil {
			w.Fatal(err)
		}
		if want := n.State == plan.NodeDelivered && !n.Gate; want != (len(list) == 1) {
			w.Errorf("%s is %s, and has %d hand-overs", n.Agent, n.State, len(list))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for part, n := range w.begun {
		if n != 1 {
			w.Errorf("%v was begun %d times", part, n)
		}
	}
	return strings.Join(all, ", ") + ": " + string(t.Status)
}

// chance is a plan of some agents as they come, without an order in which they hand over.
func (w *world) chance() plan.Plan {
	policies := []plan.OnUpstreamFailure{"", plan.FailStop, plan.FailContinue, plan.FailAsk}
	p := plan.Plan{Name: "random", MaxParallel: w.r.IntN(4)}
	for i := range 1 + w.r.IntN(7) {
		a := plan.Agent{Name: fmt.Sprintf("a%d", i), Prompt: "do it", OnUpstreamFailure: policies[w.r.IntN(4)]}
		for j := range i {
			if w.r.IntN(3) == 0 {
				a.Reads = append(a.Reads, fmt.Sprintf("a%d", j))
			}
		}
		w.fate[a.Name], w.fate[plan.GateOf(a.Name)] = w.r.IntN(5), w.r.IntN(5)
		if w.r.IntN(6) == 0 {
			a.Gate = "go?"
		}
		p.Agents = append(p.Agents, a)
	}
	return p
}

// TestEngineEnds lets random plans run over servers that die at random writes: each task ends, each round of an agent begins
// once, each agent hands over once, and how it ends is how it ends without a death and with other times of its runs; be it that a
// person answers each agent by itself, or once what several ask.
func TestEngineEnds(t *testing.T) {
	for seed := range uint64(150) {
		var want string
		var p plan.Plan
		var fate map[string]int
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			w.only = seed%2 == 0
			p = w.chance()
			fate = w.fate
			want = w.ends(p)
		})
		for again := range uint64(4) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, seed+again*1000)
				w.fate, w.only = fate, seed%2 == 0
				var deaths []int
				for range min(again, 1) * uint64(1+w.r.IntN(5)) {
					deaths = append(deaths, 1+w.r.IntN(8))
				}
				if got := w.ends(p, deaths...); got != want {
					t.Errorf("plan %d with deaths after %v writes ends otherwise:\n%s\n%s", seed, deaths, got, want)
				}
			})
		}
		if t.Failed() {
			t.Fatalf("plan %d", seed)
		}
	}
}

// TestEngineDiesAtEachWrite lets seed 003's seven agents run, and has the server die at each write there is.
func TestEngineDiesAtEachWrite(t *testing.T) {
	p := plan.Plan{Name: "seven"}
	for _, n := range []string{"v1", "v2", "v3"} {
		p.Agents = append(p.Agents, plan.Agent{Name: n, Wave: 1, Prompt: "x"})
	}
	for _, n := range []string{"w1", "w2"} {
		p.Agents = append(p.Agents, plan.Agent{Name: n, Wave: 2, Prompt: "x"})
	}
	p.Agents = append(p.Agents, plan.Agent{Name: "x1", Wave: 3, Prompt: "x"})
	p.Gates = []plan.Gate{{Name: "gate", After: 2}}
	for _, late := range []uint64{1, 2, 3, 4} {
		for after := 1; after <= 26; after++ {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, late)
				for _, n := range append([]plan.Agent{{Name: "gate"}}, p.Agents...) {
					w.fate[n.Name] = 2
				}
				if got := w.ends(p, after); !strings.HasSuffix(got, ": complete") {
					t.Errorf("with a death after %d writes: %s", after, got)
				}
			})
		}
	}
}

// TestEngineGivesAll: each agent is given what all that it reads has handed over.
func TestEngineGivesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}, {Name: "b", Prompt: "x"}, {Name: "c", Reads: []string{"a", "b"}, Prompt: "x"}}}
		for _, a := range p.Agents {
			w.fate[a.Name] = 2
		}
		w.ends(p)
		prompt := w.prompts[thread.Part{Task: "task-001", Agent: "c", Round: 1}]
		for _, of := range []string{"a", "b"} {
			if !strings.Contains(prompt, fmt.Sprintf(`"of": %q`, of)) {
				t.Errorf("the prompt of c lacks what %s handed over:\n%s", of, prompt)
			}
		}
	})
}

// TestEngineStoreAway: while the store does not answer nothing begins, what runs goes on, and its hand-over follows once.
func TestEngineStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.slow = 5 * time.Second
		p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}, {Name: "b", Reads: []string{"a"}, Prompt: "x"}}}
		w.fate["a"], w.fate["b"] = 2, 2
		s := w.serves(0)
		defer s.end()
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		away := w.dead
		away.mu.Lock()
		away.over = true
		away.mu.Unlock()
		w.mu.Lock()
		w.dead = &dying{} // the runs do not end with it
		w.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(w.begun); n != 1 {
			t.Fatalf("%d rounds have begun while the store was away", n)
		}
		x, _ := w.record.Open(t.Context())
		if len(x) > 0 { // its process was one of the world that has gone
			w.moves(x[0].ID, work.Completed, `{"of": "a"}`)
		}
		time.Sleep(time.Second)
		away.mu.Lock()
		away.over = false
		away.mu.Unlock()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		task, err := w.store.Task(t.Context(), "task-001")
		if err != nil {
			t.Fatal(err)
		}
		if got := w.result(task); got != "a delivered, b delivered: complete" {
			t.Error(got)
		}
	})
}

// TestEngineCancelRaces cancels at each moment of a hand-over: an agent has handed over or is cancelled, never both, and no run
// is left.
func TestEngineCancelRaces(t *testing.T) {
	ways := map[string]int{}
	for at := range 60 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, uint64(at))
			w.slow = 30 * time.Millisecond
			p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}, {Name: "b", Reads: []string{"a"}, Prompt: "x"}}}
			w.fate["a"], w.fate["b"] = 2, 2
			s := w.serves(0)
			defer s.end()
			v, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(at) * time.Millisecond)
			var wait sync.WaitGroup
			for range 2 {
				wait.Go(func() { _, _ = s.Cancel(t.Context(), wave.Author{}, wave.TaskRef{Task: v.Task.Name}) })
			}
			wait.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
			task, err := w.store.Task(t.Context(), v.Task.Name)
			if err != nil {
				t.Fatal(err)
			}
			got := w.result(task)
			ways[got]++
			if open, _ := w.record.Open(t.Context()); len(open) > 0 {
				t.Errorf("%s, and %d runs are left", got, len(open))
			}
			if task.Status != plan.Cancelled && !strings.HasSuffix(got, "a delivered, b delivered: complete") {
				t.Error(got)
			}
			if s.Found() > 0 {
				t.Errorf("sweeps found %d things", s.Found())
			}
		})
	}
	if len(ways) < 2 {
		t.Errorf("all ended in one way: %v", ways)
	}
}

// TestEngineRetry: a retry is another round; what was handed over stays current until then, and makes stale what has read it.
func TestEngineRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}, {Name: "b", Reads: []string{"a"}, Prompt: "x", OnUpstreamFailure: plan.FailStop}}}
		w.fate["b"] = 2
		if got := w.ends(p); got != "a failed, b skipped: failed" {
			t.Fatal(got)
		}
		s := w.serves(0)
		defer s.end()
		wants := func(want string, r wave.RetryRequest, kind error) {
			t.Helper()
			r.Task = "task-001"
			_, err := s.Retry(t.Context(), wave.Author{}, r)
			if !errors.Is(err, kind) || (err == nil) != (kind == nil) {
				t.Fatalf("%+v: %v, want %v", r, err, kind)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			v, err := s.Status(t.Context(), wave.Author{}, wave.TaskRef{Task: "task-001", Data: true})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, n := range v.Nodes {
				one := fmt.Sprintf("%s %s %d.%d", n.Agent, n.State, n.Round, n.Version)
				if n.Stale {
					one += " stale"
				}
				all = append(all, one)
			}
			if got := strings.Join(all, ", ") + ": " + string(v.Task.Status); got != want {
				t.Errorf("after %+v: %s, want %s", r, got, want)
			}
		}
		w.dooms("a", 2)
		wants("a delivered 2.1, b delivered 1.1: complete", wave.RetryRequest{}, nil)
		wants("a delivered 2.1, b delivered 1.1: complete", wave.RetryRequest{}, thread.ErrRefused)
		wants("a delivered 2.1, b delivered 1.1: complete", wave.RetryRequest{Agent: "a"}, thread.ErrApproval)
		wants("a delivered 2.1, b delivered 1.1: complete", wave.RetryRequest{Agent: "nobody"}, thread.ErrNotFound)
		w.dooms("a", 0)
		wants("a failed 3.1, b delivered 1.1: failed", wave.RetryRequest{Agent: "a", Agreed: true}, nil)
		w.dooms("a", 2)
		wants("a delivered 4.1, b delivered 2.1: complete", wave.RetryRequest{Agent: "a", From: true}, nil)
	})
}

// TestEngineAnswersOnce: a gate is answered once; who comes later is told what was said.
func TestEngineAnswersOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x", Gate: "really?"}}}
		w.fate["a"] = 2
		s := w.serves(0)
		defer s.end()
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		v, err := s.Status(t.Context(), wave.Author{}, wave.TaskRef{Task: "task-001"})
		if err != nil || !slices.Equal(v.Open, []string{"a-gate"}) || len(w.begun) > 0 {
			t.Fatalf("open %v, begun %v: %v", v.Open, w.begun, err)
		}
		said := make(chan error, 8)
		for i := range cap(said) {
			go func() {
				_, err := s.Answer(t.Context(), wave.Author{}, wave.AnswerRequest{Task: "task-001", Agent: "a-gate", Yes: true, Text: fmt.Sprint("remark ", i)})
				said <- err
			}()
		}
		good := 0
		for range cap(said) {
			if err := <-said; err == nil {
				good++
			} else if !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "it was answered: yes: remark ") {
				t.Error(err)
			}
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if good != 1 || len(w.begun) != 1 {
			t.Errorf("%d answers were taken, %d rounds began", good, len(w.begun))
		}
		if prompt := w.prompts[thread.Part{Task: "task-001", Agent: "a", Round: 1}]; !strings.Contains(prompt, "remark ") {
			t.Errorf("the prompt does not say what was remarked:\n%s", prompt)
		}
	})
}

// TestEngineForgets: a task that has ended takes no memory.
func TestEngineForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.fate["a"] = 2
		s := w.serves(0)
		defer s.end()
		for range 20 {
			if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}}}, Title: "t"}); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.Held(); n == 0 {
			t.Error("no task is held while it is at work")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := s.Held(); n != 0 {
			t.Errorf("%d tasks are held after their ends", n)
		}
	})
}

// TestEngineEndsLeftRuns: a server that dies between a cancellation and the end of the runs leaves them to the next one; what a
// person has an agent do after that is left alone.
func TestEngineEndsLeftRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.slow = time.Hour
		w.fate["a"] = 2
		s := w.serves(0)
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}}}, Title: "t"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.dead.mu.Lock()
		w.dead.left, w.dead.late = 1, true
		w.dead.mu.Unlock()
		if _, err := s.Cancel(t.Context(), wave.Author{}, wave.TaskRef{Task: "task-001"}); err == nil {
			t.Fatal("it does not die")
		}
		s.end()
		if open, _ := w.record.Open(t.Context()); len(open) != 1 {
			t.Fatalf("%d runs are left", len(open))
		}
		time.Sleep(time.Second)
		person := work.Execution{
			ID: thread.NewID[work.ID](), Thread: thread.NewID[thread.ID](), Prompt: "p", Agent: "demo", Lost: work.PolicyAsk,
			Part: thread.Part{Task: "task-001", Agent: "a", Round: 1}, Created: time.Now(),
		}
		if _, err := w.record.Add(t.Context(), person); err != nil {
			t.Fatal(err)
		}
		s = w.serves(0)
		time.Sleep(time.Minute)
		synctest.Wait()
		open, _ := w.record.Open(t.Context())
		if len(open) != 1 || open[0].ID != person.ID {
			t.Errorf("these runs are open: %v", open)
		}
		if task, err := w.store.Task(t.Context(), "task-001"); err != nil || task.Status != plan.Cancelled {
			t.Errorf("the task is %s: %v", task.Status, err)
		}
		s.end()
		time.Sleep(2 * time.Hour)
	})
}

// TestEngineTenThousand: 10,000 agents in waves of 100 that read the wave before run to their end, with no more of them at once
// than are begun ahead, and no task in memory after it.
func TestEngineTenThousand(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	const all, wide = 10_000, 100
	var p plan.Plan
	for i := range all {
		a := plan.Agent{Name: fmt.Sprintf("a%d", i), Prompt: "x"}
		if i >= wide {
			a.Reads = []string{fmt.Sprintf("a%d", i-wide)}
		}
		p.Agents = append(p.Agents, a)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.slow = time.Millisecond
		for _, a := range p.Agents {
			w.fate[a.Name] = 2
		}
		s := w.serves(0)
		defer s.end()
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"}); err != nil {
			t.Fatal(err)
		}
		for range 600 {
			time.Sleep(time.Second)
			synctest.Wait()
			if task, err := w.store.Task(t.Context(), "task-001"); err == nil && task.Status.Final() {
				if task.Status != plan.Complete || len(w.begun) != all || s.Held() != 0 || s.Found() != 0 {
					t.Errorf("%s %s, %d rounds, %d tasks held, %d things found", task.Status, task.Reason, len(w.begun), s.Held(), s.Found())
				}
				return
			}
		}
		t.Error("it does not end")
	})
}

// TestEngineAnswersLater: what becomes of an agent does not depend on whether it asks in the same moment as another that misses
// the same, or only once that was answered. Who is begun again after a no is asked again.
func TestEngineAnswersLater(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, yes := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.slow = time.Minute
				p := plan.Plan{Name: "p", Agents: []plan.Agent{
					{Name: "a", Prompt: "x"}, {Name: "slow", Prompt: "x"}, {Name: "b", Reads: []string{"a"}, Prompt: "x"}, {Name: "c", Reads: []string{"a"}, Prompt: "x"},
				}}
				if late {
					p.Agents[1].Reads, p.Agents[3].Reads = []string{}, []string{"a", "slow"}
					p.MaxParallel = 1
				}
				w.fate["slow"], w.fate["b"], w.fate["c"] = 2, 2, 2
				s := w.serves(0)
				defer s.end()
				if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(90 * time.Second)
				synctest.Wait()
				if c := w.node("c"); (c.State == plan.NodeAsking) == late {
					t.Fatalf("c is %s", c.State)
				}
				if _, err := s.Answer(t.Context(), wave.Author{}, wave.AnswerRequest{Task: "task-001", Agent: "b", Yes: yes}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				want := plan.NodeSkipped
				if yes {
					want = plan.NodeDelivered
				}
				if b, c := w.node("b"), w.node("c"); b.State != want || c.State != want || s.Found() > 0 {
					t.Errorf("b is %s, c %s (late: %v), not %s; sweeps found %d things", b.State, c.State, late, want, s.Found())
				}
				if yes {
					return
				}
				if _, err := s.Retry(t.Context(), wave.Author{}, wave.RetryRequest{Task: "task-001", Agent: "c"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if b, c := w.node("b"), w.node("c"); b.State != plan.NodeSkipped || c.State != plan.NodeAsking {
					t.Errorf("begun again, c is %s, and b %s", c.State, b.State)
				}
			})
		}
	}
}

// node is an agent of the first task as it is stored.
func (w *world) node(agent string) plan.Node {
	w.Helper()
	nodes, err := w.store.Nodes(w.Context(), "task-001")
	if err != nil {
		w.Fatal(err)
	}
	return nodes[slices.IndexFunc(nodes, func(n plan.Node) bool { return n.Agent == agent })]
}

// TestEngineStoresNoSecret: what a person gives a plan is stored without the secrets in it, as a task that waits is.
func TestEngineStoresNoSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		s := w.serves(0)
		defer s.end()
		const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
		p := plan.Plan{Name: "p", Variables: map[string]plan.Variable{"key": {}}, Agents: []plan.Agent{{Name: "a", Prompt: "x"}}}
		vars := map[string]json.RawMessage{"key": json.RawMessage(`"` + key + `"`)}
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t", Vars: vars}); err != nil {
			t.Fatal(err)
		}
		stored, err := w.store.Task(t.Context(), "task-001")
		if got := string(stored.Vars["key"]); err != nil || got == "" || strings.Contains(got, key) {
			t.Errorf("stored %s: %v", got, err)
		}
		time.Sleep(time.Minute)
	})
}

// TestEngineRetryTakesQuestionsBack: what is asked about hand-overs is no longer asked once they are made again.
func TestEngineRetryTakesQuestionsBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     plan.Plan
		fate  int
		r     wave.RetryRequest
		asks  string
		after string
	}{
		{"missing", plan.Plan{Agents: []plan.Agent{{Name: "a", Prompt: "x"}, {Name: "b", Reads: []string{"a"}, Prompt: "x"}}},
			0, wave.RetryRequest{}, "b", ""},
		{"gate", plan.Plan{Agents: []plan.Agent{{Name: "a", Prompt: "x"}, {Name: "b", Reads: []string{"a"}, Prompt: "x", Gate: "really?"}}},
			2, wave.RetryRequest{Agent: "a", From: true}, "b-gate", "b-gate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				c.p.Name, w.slow = "p", time.Minute
				w.dooms("a", c.fate)
				w.dooms("b", 2)
				s := w.serves(0)
				defer s.end()
				if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: c.p, Title: "t"}); err != nil {
					t.Fatal(err)
				}
				asks := func(want string) {
					t.Helper()
					v, err := s.Status(t.Context(), wave.Author{}, wave.TaskRef{Task: "task-001"})
					if got := strings.Join(v.Open, ","); err != nil || got != want {
						t.Fatalf("it asks %q, want %q: %v", got, want, err)
					}
				}
				time.Sleep(5 * time.Minute)
				asks(c.asks)
				w.dooms("a", 2)
				c.r.Task = "task-001"
				if _, err := s.Retry(t.Context(), wave.Author{}, c.r); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				asks("")
				time.Sleep(5 * time.Minute)
				asks(c.after)
			})
		})
	}
}

// TestEngineEndsEarly: what has ended before its start is noted is handed over at once, not by a sweep.
func TestEngineEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.slow, w.fate["a"], w.late = time.Millisecond, 2, time.Second
		s := w.serves(0)
		defer s.end()
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}}}, Title: "t"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if a := w.node("a"); a.State != plan.NodeDelivered {
			t.Errorf("a is %s", a.State)
		}
	})
}

// TestEngineHearsLate: what is heard of a lost run after it was lost does not have it go on.
func TestEngineHearsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.slow = time.Hour
		s := w.serves(0)
		defer s.end()
		if _, err := s.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "x"}}}, Title: "t"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		was, err := w.record.Execution(t.Context(), string(w.node("a").Execution))
		if err != nil {
			t.Fatal(err)
		}
		w.moves(was.ID, work.Lost, "")
		synctest.Wait()
		w.tells(was)
		synctest.Wait()
		if a := w.node("a"); a.State != plan.NodeAsking {
			t.Errorf("a is %s", a.State)
		}
		time.Sleep(2 * time.Hour)
	})
}
