package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// tasks is what a fake server knows of tasks.
type tasks struct {
	list   []plan.Task
	nodes  map[string][]plan.Node
	execs  map[string][]work.Execution
	asked  []wave.GlanceRequest
	status int
	evil   string // stands in all texts
}

func (s *server) WaveGlance(_ context.Context, q wave.GlanceRequest) (wave.Glance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks.asked = append(s.tasks.asked, q)
	var g wave.Glance
	for _, t := range s.tasks.list {
		named := len(q.Only) == 0
		for _, n := range q.Only {
			named = named || n == t.Name
		}
		if named {
			g.Tasks = append(g.Tasks, wave.SumOf(t, s.tasks.nodes[t.Name], s.tasks.execs[t.Name], time.Now()))
		}
	}
	return g, nil
}

func (s *server) WaveStatus(_ context.Context, r wave.TaskRef) (wave.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks.status++
	return s.view(r.Task)
}

func (s *server) view(name string) (wave.View, error) {
	for _, t := range s.tasks.list {
		if t.Name == name {
			v := wave.ViewOf(t, s.tasks.nodes[name], s.tasks.execs[name], time.Now())
			for i := range v.Nodes {
				if v.Nodes[i].Agent == "vision" {
					v.Nodes[i].Summary, v.Nodes[i].Data = "A palette of five colours", `{"palette":["#0b1d51"],"voice":"calm"}`
				}
			}
			return v, nil
		}
	}
	return wave.View{}, thread.ErrNotFound
}

func (s *server) AnswerWave(_ context.Context, r wave.AnswerRequest) (wave.View, error) {
	s.note("wave-answer %s/%s %t", r.Task, r.Agent, r.Yes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return wave.View{}, s.err
	}
	for i := range s.tasks.nodes[r.Task] {
		n := &s.tasks.nodes[r.Task][i]
		if n.Agent != r.Agent {
			continue
		}
		if n.State != plan.NodeAsking || !n.Asked.Equal(r.Asked) {
			return wave.View{}, thread.Kindf(thread.ErrRefused, "was answered already: no")
		}
		n.State, n.Answered, n.Ended = plan.NodeDelivered, "yes", time.Now()
	}
	return s.view(r.Task)
}

func (s *server) RetryWave(_ context.Context, r wave.RetryRequest) (wave.View, error) {
	s.note("wave-retry %s/%s from=%t agreed=%t", r.Task, r.Agent, r.From, r.Agreed)
	return wave.View{}, s.err
}

func (s *server) CancelWave(_ context.Context, r wave.TaskRef) (wave.View, error) {
	s.note("wave-cancel %s", r.Task)
	return wave.View{}, s.err
}

// waves has the server know of tasks of plans: one with a gate open, an agent that has failed, one that is stale and one that
// is stalled, and others in every status.
func (r *rig) waves() {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	t := plan.Task{ID: "1", Name: "task-001", Title: "Spring campaign", Status: plan.InProgress, PlanName: "campaign", Created: ago(time.Hour), Started: ago(4 * time.Minute)}
	agent := func(name string, w int, reads ...string) plan.Agent {
		return plan.Agent{Name: name, Wave: w, Reads: reads}
	}
	p := plan.Plan{Name: "campaign", Agents: []plan.Agent{
		agent("vision", 1), agent("apex", 1), agent("nova", 1), agent("echo", 2, "vision", "apex", "nova"), agent("pixel", 2, "vision", "apex", "nova"),
		agent("reel", 2, "vision", "apex", "nova"), agent("social", 3, "echo"),
	}, Gates: []plan.Gate{{Name: "publish", After: 2, Text: "Publish the campaign as it stands?"}}}
	nodes, err := plan.Layout(p)
	if err != nil {
		r.t.Fatal(err)
	}
	var execs []work.Execution
	for i := range nodes {
		n := &nodes[i]
		n.Task = t.Name
		begin := func(from, to time.Duration, st plan.NodeState, who, model string, tokens int64) {
			n.State, n.Round, n.Started, n.Exec, n.Execution = st, 1, ago(from), fmt.Sprintf("exec-%03d", i+1), work.ID(n.Agent)
			if to >= 0 {
				n.Ended, n.Version = ago(to), 1
			}
			execs = append(execs, work.Execution{ID: n.Execution, Part: thread.Part{Task: t.Name, Agent: n.Agent, Round: 1}, State: work.Running, Agent: who, Model: model, Started: n.Started,
				Usage: thread.Usage{Input: tokens, Output: tokens / 10, CostUSD: float64(tokens) / 50_000, Priced: true}})
		}
		switch n.Agent {
		case "vision":
			begin(240*time.Second, 180*time.Second, plan.NodeDelivered, "claude", "claude-sonnet-4-5", 12_000)
		case "apex":
			begin(240*time.Second, 200*time.Second, plan.NodeDelivered, "codex", "gpt-5.5", 8000)
		case "nova":
			begin(240*time.Second, 160*time.Second, plan.NodeDelivered, "gemini", "gemini-3-pro", 21_000)
		case "echo":
			begin(160*time.Second, 100*time.Second, plan.NodeDelivered, "claude", "claude-sonnet-4-5", 31_000)
			n.Stale = true
		case "pixel":
			begin(160*time.Second, 120*time.Second, plan.NodeFailed, "codex", "gpt-5.5", 9000)
			n.Reason, n.Version = "what it handed over breaks its schema: a text is expected at /url", 0
		case "reel":
			begin(160*time.Second, -1, plan.NodeWorking, "opencode", "glm-4.6", 14_000)
			n.Stalled, n.Thread = "the same call 6 times: Bash ls", "docs-f9a0"
		case "publish":
			n.State, n.Asks, n.Asked = plan.NodeAsking, plan.AsksGate, ago(time.Minute)
		}
	}
	if evil := r.srv.tasks.evil; evil != "" {
		t.Title, t.PlanName = evil, evil
		for i := range nodes {
			n := &nodes[i]
			n.Question, n.Reason, n.Stalled, n.Exec, n.Answered, n.Agent = evil, evil, evil, evil, evil, n.Agent+evil
		}
		for i := range execs {
			execs[i].Agent, execs[i].Model = evil, evil
		}
	}
	r.srv.tasks.nodes = map[string][]plan.Node{t.Name: nodes, "task-000": {{Task: "task-000", Agent: "a", Wave: 1, State: plan.NodeDelivered}}}
	r.srv.tasks.execs = map[string][]work.Execution{t.Name: execs}
	r.srv.tasks.list = []plan.Task{
		{Name: "task-003", Title: "Translate the manual", Status: plan.Proposed, Body: "Into German and French", Created: ago(10 * time.Minute)},
		{Name: "task-002", Title: "Autumn campaign", Status: plan.Pending, PlanName: "campaign", Reason: "2 of 2 tasks of the plan are at work", Created: ago(20 * time.Minute)},
		t,
		{Name: "task-000", Title: "Find out why recall drops", Status: plan.Complete, PlanName: "research", Created: ago(50 * time.Hour), Started: ago(49 * time.Hour), Ended: ago(48 * time.Hour)},
	}
	r.touch("task-001", "task-002", "task-003", "task-000")
}

// touch has the server tell that tasks have changed.
func (r *rig) touch(names ...string) {
	r.event(thread.Event{Kind: thread.EventRecord, Record: &thread.Recorded{Tasks: names}})
	r.wait(time.Second)
}

// TestWavesAreFollowed: the screen asks once, then for the tasks that events name, a few times a second at most; for a graph
// while it is open; for nothing while nothing happens.
func TestWavesAreFollowed(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		glances := func() []wave.GlanceRequest {
			r.srv.mu.Lock()
			defer r.srv.mu.Unlock()
			return r.srv.tasks.asked
		}
		if n := len(glances()); n != 1 {
			t.Errorf("asked %d times at the start", n)
		}
		r.waves()
		g := glances()
		if last := g[len(g)-1]; len(last.Only) != 4 {
			t.Errorf("asked %+v", last)
		}
		began := len(glances())
		for range 40 {
			r.event(thread.Event{Kind: thread.EventRecord, Record: &thread.Recorded{Tasks: []string{"task-001"}}})
			r.wait(10 * time.Millisecond)
		}
		r.wait(time.Second)
		if n := len(glances()) - began; n < 2 || n > 12 {
			t.Errorf("asked %d times in two seconds", n)
		}
		if r.srv.tasks.status != 0 {
			t.Error("a graph that is not open was asked for")
		}
		r.keys("W")
		r.must("tasks of plans", "task-001", "Spring campaign", "4/7", "publish: Publish the campaign", "Autumn campaign", "proposed")
		r.keys("home", "down", "down", "enter")
		r.must("wave 1", "wave 3", "longest chain", "◆ publish")
		r.srv.tasks.nodes["task-001"][3].Stale = false
		before := r.srv.tasks.status
		r.touch("task-001")
		r.hides("≈ echo")
		r.touch("task-002")
		if n := r.srv.tasks.status - before; n != 1 {
			t.Errorf("the graph was asked for %d times", n)
		}
		r.keys("esc", "esc")
		began, before = len(glances()), r.srv.tasks.status
		r.wait(time.Minute)
		if len(glances()) != began || r.srv.tasks.status != before {
			t.Error("asked though nothing happened")
		}
	})
}

// TestGateIsAnswered: in the list of threads, in the inbox, in the list of tasks and in the graph; each once, by a key alone,
// and only while it is what the key was pressed for.
func TestGateIsAnswered(t *testing.T) {
	for name, keys := range map[string][]string{
		"list":       {"w", "a!"},
		"inbox":      {"I", "home", "a!"},
		"tasks":      {"W", "home", "down", "down", "a!"},
		"graph":      {"W", "home", "down", "down", "enter", "a!"},
		"from inbox": {"I", "home", "enter", "a!"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := world()
			for i := range srv.threads { // nothing else asks
				srv.threads[i].State = thread.StateReport{State: thread.StateIdle, Since: time.Now()}
				srv.threads[i].Offer, srv.threads[i].Prompts, srv.threads[i].Merging = nil, nil, ""
			}
			play(t, srv, 120, 36, nil, func(r *rig) {
				stage(r)
				r.waves()
				r.must("NEEDS YOU", "task-001/publish", "Publish the campaign as it stands?")
				for _, k := range keys {
					r.wait(time.Second)
					r.see() // what is answered was on the screen
					r.keys(k)
				}
				r.wait(2 * time.Second)
				r.mustAsk("wave-answer task-001/publish true")
				r.keys("esc", "esc", "esc")
				r.wait(time.Second)
				r.hides("◆ task-001/publish")
				if n := r.m.tree.Counts().Waiting; n != 0 {
					t.Errorf("%d still wait", n)
				}
			})
		})
	}
}

// TestGateAnsweredElsewhere: who answers second is told; a question that is new under the cursor is not answered by a key that
// was meant for the one before; what is typed answers nothing.
func TestGateAnsweredElsewhere(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		tree.SelectAsked(r.m.tree, r.m.waves.Asked()[0])
		r.wait(2 * time.Second)
		r.burst("and then")
		r.wait(2 * time.Second)
		if r.srv.asked("wave-answer task-001/publish true") {
			t.Error("a word answered")
		}
		for i := range r.srv.tasks.nodes["task-001"] {
			if n := &r.srv.tasks.nodes["task-001"][i]; n.Agent == "publish" {
				n.State, n.Answered = plan.NodeFailed, "no"
			}
		}
		r.keys("a!") // the screen does not know yet
		r.wait(time.Second)
		r.must("was answered already: no")
		r.hides("◆ task-001/publish")
	})
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		tree.SelectAsked(r.m.tree, r.m.waves.Asked()[0])
		r.settle()
		r.send(press("left")) // the cursor is seen on it
		r.keys("x!")
		r.must("asks this only now")
	})
}

// TestGateIsWhole: a question of which not all is in sight is shown whole before it is answered.
func TestGateIsWhole(t *testing.T) {
	play(t, world(), 60, 20, nil, func(r *rig) {
		stage(r)
		r.waves()
		tree.SelectAsked(r.m.tree, r.m.waves.Asked()[0])
		r.wait(2 * time.Second)
		r.keys("a!")
		r.must("asks", "Publish the campaign as it", "Later")
		r.keys("right", "enter")
		r.mustAsk("wave-answer task-001/publish true")
	})
}

// TestGraphLeads: enter opens the thread of a node, E says what it handed over, the menu begins again and cancels, tab goes to
// what needs somebody and between tasks and work sessions.
func TestGraphLeads(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		r.recorded()
		r.keys(":")
		r.text("task-001")
		r.must("Spring campaign")
		r.keys("enter")
		r.must("wave 2")
		r.keys("home", "E")
		r.must("A palette of five colours", `{"palette":["#0b1d51"]`)
		r.keys("esc", "home", "tab", "tab")
		r.must("breaks its schema")
		r.keys(". r")
		r.must("begin again?", "pixel")
		r.keys("right", "enter")
		r.mustAsk("wave-retry task-001/pixel from=false agreed=true")
		r.keys(". x")
		r.must("cancel task-001?")
		r.keys("right", "enter")
		r.mustAsk("wave-cancel task-001")
		r.keys("tab", "enter") // reel has a thread
		if s := r.m.tree.Selected(); s == nil || s.ID != "docs-f9a0" || r.m.dialogs.Open() {
			t.Errorf("on %v", s)
		}
		r.keys("W")
		r.must("tasks of plans")
		r.keys("tab")
		r.must("work sessions", "orch-2025-01-17-001")
		r.keys("esc", "W")
		r.must("orch-2025-01-17-001")
		r.keys("tab")
		r.must("tasks of plans", "task-003")
		r.keys("esc")
	})
}

// TestTasksCall: what a task asks, and how it ended, is told once and calls the person as a thread does.
func TestTasksCall(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		r.send(tea.BlurMsg{})
		told := func(kind thread.HappeningKind, about, text string) {
			r.raw = nil
			r.event(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelWarn, Kind: kind, About: about, Text: text}})
			r.event(thread.Event{Kind: thread.EventHappened, Happening: &thread.Happening{At: time.Now(), Kind: kind, Name: about, Label: about, Text: text}})
		}
		told(thread.HappenedAsks, "task-001/publish", "Publish it?")
		r.must("◆ task-001/publish asks: Publish it?")
		if got := strings.Join(r.raw, " "); strings.Count(got, "task-001/publish") != 1 {
			t.Errorf("called %q", got)
		}
		told(thread.HappenedDone, "task-001", "0:42")
		r.must("task-001 done in 0:42")
	})
}

// BenchmarkGraphFrame is a frame with the graph of a task of 10,000 nodes, and a move in it.
func BenchmarkGraphFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {250, 70}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m := benchModel(many(100))
			defer m.Close()
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			srv := m.cfg.Server.(*server)
			srv.tasks.list = []plan.Task{{Name: "task-001", Status: plan.InProgress, Started: time.Now()}}
			srv.tasks.nodes = map[string][]plan.Node{}
			for i := range 10_000 {
				n := plan.Node{Agent: fmt.Sprintf("agent-%05d", i), Number: i, Wave: i/100 + 1, State: plan.NodeWorking}
				for k := range 5 {
					if i >= 100 {
						n.Reads = append(n.Reads, fmt.Sprintf("agent-%05d", (i/100-1)*100+(i*7+k)%100))
					}
				}
				srv.tasks.nodes["task-001"] = append(srv.tasks.nodes["task-001"], n)
			}
			m.Update(m.waves.Open("task-001", "")())
			if m.View(); !strings.Contains(m.View().Content, "wave 1") {
				b.Fatal("the graph is not drawn")
			}
			for b.Loop() {
				m.Update(press("down"))
				m.screen.stale = true
				if m.View().Content == "" {
					b.Fatal("nothing is drawn")
				}
			}
		})
	}
}
