package graph

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
	"orchestrator/ui/glyph"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "update the golden files")

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// seven is the task of seven agents: one of the first wave failed once and is stale now, a gate asks, one has failed.
func seven(t testing.TB) wave.View {
	agent := func(name string, wave int, reads ...string) plan.Agent {
		return plan.Agent{Name: name, Wave: wave, Reads: reads, Prompt: "x"}
	}
	nodes, err := plan.Layout(plan.Plan{Name: "campaign", Agents: []plan.Agent{
		agent("vision", 1), agent("apex", 1), agent("nova", 1),
		agent("echo", 2, "vision", "apex", "nova"), agent("pixel", 2, "vision", "apex", "nova"), agent("reel", 2, "vision", "apex", "nova"),
		agent("social", 3, "vision", "apex", "nova", "echo"),
	}, Gates: []plan.Gate{{Name: "publish", After: 2, Text: "Publish the campaign as it stands? It cannot be taken back once the posts are out"}}})
	if err != nil {
		t.Fatal(err)
	}
	task := plan.Task{Name: "task-001", Title: "Spring campaign", Status: plan.InProgress, Started: at(0), PlanName: "campaign"}
	var execs []work.Execution
	set := func(name string, st plan.NodeState, from, to int, tokens int64, model string, change func(*plan.Node)) {
		for i := range nodes {
			n := &nodes[i]
			if n.Task = task.Name; n.Agent != name {
				continue
			}
			n.State = st
			if from >= 0 {
				n.Started, n.Round, n.Execution, n.Exec = at(from), 1, work.ID("x"+name), fmt.Sprintf("exec-%03d", i+1)
				agent, model, _ := strings.Cut(model, " ")
				execs = append(execs, work.Execution{ID: n.Execution, Part: thread.Part{Task: task.Name, Agent: name, Round: 1}, State: work.Running, Agent: agent, Model: model,
					Started: n.Started, Usage: thread.Usage{Input: tokens, Output: tokens / 10, CostUSD: float64(tokens) / 50_000, Priced: true}})
			}
			if to >= 0 {
				n.Ended, n.Version = at(to), 1
			}
			if change != nil {
				change(n)
			}
		}
	}
	set("vision", plan.NodeDelivered, 0, 62, 12_000, "claude claude-sonnet-4-5", nil)
	set("apex", plan.NodeDelivered, 0, 41, 8000, "codex gpt-5.5", func(n *plan.Node) { n.Version = 2 })
	set("nova", plan.NodeDelivered, 0, 84, 21_000, "gemini gemini-3-pro", nil)
	set("echo", plan.NodeDelivered, 84, 140, 31_000, "claude claude-sonnet-4-5", func(n *plan.Node) { n.Stale, n.Given = true, map[string]int{"apex": 1} })
	set("pixel", plan.NodeFailed, 84, 120, 9000, "codex gpt-5.5", func(n *plan.Node) {
		n.Reason, n.Version = "what it handed over breaks its schema: /images/0/url: a text is expected, a \x1b[31mnumber\x1b[0m stands there", 0
	})
	set("reel", plan.NodeWorking, 84, -1, 14_000, "opencode glm-4.6", func(n *plan.Node) { n.Stalled = "the same call 6 times: Bash ls" })
	set("publish", plan.NodeAsking, -1, -1, 0, "", func(n *plan.Node) { n.Asks, n.Asked = plan.AsksGate, at(150) })
	v := wave.ViewOf(task, nodes, execs, at(200))
	for i := range v.Nodes {
		if v.Nodes[i].Agent == "vision" {
			v.Nodes[i].Summary = "A palette of five colours, a voice, and three audiences"
		}
	}
	return v
}

// wide is a task with a wave of 50.
func wide() wave.View {
	v := wave.View{Task: plan.Task{Name: "task-002", Status: plan.InProgress, Started: at(0)}}
	add := func(name string, w int, st plan.NodeState, reads ...string) {
		n := wave.NodeView{Node: plan.Node{Agent: name, Wave: w, State: st, Reads: reads}, Program: "claude"}
		if st == plan.NodeWaiting {
			n.Wait = strings.Join(reads, ", ")
		}
		v.Nodes = append(v.Nodes, n)
	}
	add("split", 1, plan.NodeDelivered)
	var all []string
	for i := range 50 {
		name := fmt.Sprintf("part-%02d", i+1)
		st := plan.NodeDelivered
		switch {
		case i%9 == 4:
			st = plan.NodeFailed
		case i > 30:
			st = plan.NodeWorking
		}
		add(name, 2, st, "split")
		all = append(all, name)
	}
	add("join", 3, plan.NodeWaiting, all...)
	return v
}

// huge is a task of 10,000 nodes in 100 waves, each of which reads five.
func huge() wave.View {
	v := wave.View{Task: plan.Task{Name: "task-003", Status: plan.InProgress, Started: at(0)}}
	for i := range 10_000 {
		n := plan.Node{Agent: fmt.Sprintf("agent-%05d", i), Number: i, Wave: i/100 + 1, State: plan.NodeWaiting}
		for k := range 5 {
			if i >= 100 {
				n.Reads = append(n.Reads, fmt.Sprintf("agent-%05d", (i/100-1)*100+(i*7+k)%100))
			}
		}
		if i < 4000 {
			n.State = plan.NodeDelivered
		} else if i < 4100 {
			n.State = plan.NodeWorking
		}
		v.Nodes = append(v.Nodes, wave.NodeView{Node: n, Program: "claude", Model: "claude-sonnet-4-5"})
	}
	return v
}

func drawn(g *Graph, w, h int, set glyph.Set, p colorprofile.Profile, dark bool) string {
	var c layout.Canvas
	c.Glyphs = set
	c.Reset(w, h)
	g.Draw(&c, c.Bounds(), theme.New(p, dark), at(212))
	return c.String()
}

func text(s string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(ansi.Strip(s), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; `go test ./ui/graph -update` writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; look at it, and if it is right: go test ./ui/graph -update\ngot\n%s\nwant\n%s", path, got, want)
	}
}

// TestGolden: a task with a gate open, one failed, one stale and one stalled, in each size and kind of terminal; without
// colours and in ASCII the states are told apart by marks and words.
func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}, {250, 70}} {
		for _, c := range []struct {
			name string
			set  glyph.Set
			p    colorprofile.Profile
			dark bool
		}{
			{"dark", glyph.Unicode, colorprofile.TrueColor, true}, {"light", glyph.Unicode, colorprofile.TrueColor, false}, {"none", glyph.Unicode, colorprofile.ASCII, true},
			{"ascii", glyph.Bytes, colorprofile.ASCII, true},
		} {
			name := fmt.Sprintf("seven-%s-%dx%d", c.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				g := &Graph{Cursor: true}
				g.Set(seven(t), at(200))
				got := drawn(g, size[0], size[1], c.set, c.p, c.dark)
				if c.set == glyph.Bytes {
					if i := strings.IndexFunc(got, func(r rune) bool { return r >= 0x7f }); i >= 0 {
						t.Errorf("%q is not ASCII", got[i:])
					}
					golden(t, name+".txt", text(got))
					return
				}
				golden(t, fmt.Sprintf("seven-%dx%d.txt", size[0], size[1]), text(got))
				if size[0] == 120 {
					golden(t, name+".ansi", got+"\n")
				}
			})
		}
		for name, v := range map[string]wave.View{"wide": wide(), "huge": huge()} {
			g := &Graph{Cursor: true}
			g.Set(v, at(200))
			golden(t, fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1]), text(drawn(g, size[0], size[1], glyph.Unicode, colorprofile.TrueColor, true)))
			g.Handle(intent.Last)
			golden(t, fmt.Sprintf("%s-end-%dx%d.txt", name, size[0], size[1]), text(drawn(g, size[0], size[1], glyph.Unicode, colorprofile.TrueColor, true)))
		}
	}
}

// TestMoves: the cursor begins at what asks, goes from wave to wave and stays on its node when another view comes; tab goes
// to what needs somebody.
func TestMoves(t *testing.T) {
	g := &Graph{Cursor: true}
	v := seven(t)
	g.Set(v, at(200))
	on := func() string { n, _ := g.Node(); return n.Agent }
	for _, c := range []struct {
		do   intent.Action
		want string
	}{
		{"", "publish"}, {intent.Down, "social"}, {intent.Down, "social"}, {intent.Left, "pixel"}, {intent.Left, "apex"}, {intent.Left, "apex"}, {intent.Up, "vision"},
		{intent.Up, "vision"}, {intent.PageDown, "social"}, {intent.First, "vision"}, {intent.Down, "apex"}, {intent.Down, "nova"}, {intent.Down, "echo"}, {intent.Up, "nova"},
		{intent.Right, "reel"}, {intent.Right, "social"}, {intent.PageUp, "vision"}, {intent.Last, "social"},
	} {
		if moved := g.Handle(c.do); moved != (c.do != "") || on() != c.want {
			t.Fatalf("%s: on %s (%t), want %s", c.do, on(), moved, c.want)
		}
	}
	var all []string
	for range 5 {
		g.Next()
		all = append(all, on())
	}
	if got := strings.Join(all, " "); got != "echo pixel reel publish echo" {
		t.Errorf("needs somebody: %s", got)
	}
	v.Nodes = v.Nodes[:4]
	g.Set(v, at(201))
	if on() != "echo" {
		t.Errorf("it stays on %s", on())
	}
	g.Set(wave.View{}, at(201))
	g.Set(wave.View{}, at(201))
	for _, a := range []intent.Action{intent.Down, intent.Up, intent.Left, intent.Right, intent.Last} {
		g.Handle(a)
	}
	if _, ok := g.Node(); ok || g.Next() {
		t.Error("an empty task has a node")
	}
	drawn(g, 120, 36, glyph.Unicode, colorprofile.ASCII, true)
}

// TestClick: what is clicked is what is drawn there.
func TestClick(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {250, 70}} {
		g := &Graph{Cursor: true}
		g.Set(seven(t), at(200))
		lines := strings.Split(text(drawn(g, size[0], size[1], glyph.Unicode, colorprofile.ASCII, true)), "\n")
		for _, name := range []string{"vision", "reel", "social"} {
			for y, l := range lines {
				if before, _, ok := strings.Cut(l, name); ok && y < 20 && !strings.Contains(l, "after") && !strings.Contains(l, "←") {
					x := len([]rune(before))
					if hit, _ := g.Click(x, y); !hit {
						t.Errorf("%v: no node at %d:%d", size, x, y)
					}
					if n, _ := g.Node(); n.Agent != name {
						t.Errorf("%v: %s was clicked, the cursor is on %s", size, name, n.Agent)
					}
					break
				}
			}
		}
	}
}

// TestEveryNodeIsReached: whatever the sizes, the node under the cursor is in sight.
func TestEveryNodeIsReached(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}, {250, 70}} {
		g := &Graph{Cursor: true}
		g.Set(wide(), at(200))
		g.Handle(intent.First)
		for range len(g.view.Nodes) {
			n, _ := g.Node()
			top, _, _ := strings.Cut(text(drawn(g, size[0], size[1], glyph.Unicode, colorprofile.ASCII, true)), "\n───")
			if !strings.Contains(top, n.Agent) {
				t.Fatalf("%v: %s is not in sight:\n%s", size, n.Agent, top)
			}
			g.Handle(intent.Down)
		}
	}
}

// BenchmarkSet lays out 10,000 nodes, BenchmarkDraw draws what of them is in sight.
func BenchmarkSet(b *testing.B) {
	v := huge()
	g := &Graph{Cursor: true}
	for b.Loop() {
		g.Set(v, noon)
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {250, 70}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			g := &Graph{Cursor: true}
			g.Set(huge(), noon)
			var c layout.Canvas
			th := theme.New(colorprofile.TrueColor, true)
			for b.Loop() {
				c.Reset(size[0], size[1])
				g.Draw(&c, c.Bounds(), th, noon)
			}
		})
	}
}
