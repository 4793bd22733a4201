package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// TestRealPartTools has each real CLI, without a terminal and in its own sandbox, hand over by a tool, read another agent's
// deliverable and start a run: what was put is what it hands over, byte for byte, and the run's answer comes back to it.
func TestRealPartTools(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			const data = `{"z": 1.50, "a": "<&>", "n": 9007199254740993}`
			home := ""
			steps := func(turn model.Turn, all ...step) scripted.Reply {
				var said []string
				done := 0
				for _, o := range turn.Outcomes {
					if done < len(all) && strings.HasSuffix(o.Name, all[done].tool) {
						said, done = append(said, o.Output), done+1
					}
				}
				if done == len(all) {
					return scripted.Reply{Text: strings.Join(said, "\n")}
				}
				if c, ok := turn.MCP(all[done].tool, all[done].args); ok {
					return scripted.Reply{Calls: []scripted.Call{c}}
				}
				if cli.Name == "codex" { // it shows such tools to who searches for them only, and takes a call of one all the same
					names, err := filepath.Glob(filepath.Join(home, ".local/state/orchestrator/*/mcp/name"))
					if err == nil && len(names) == 1 && len(turn.Outcomes) <= len(all) {
						name, _ := os.ReadFile(names[0])
						return scripted.Reply{Calls: []scripted.Call{{Name: all[done].tool, Namespace: "mcp__" + string(name), Args: all[done].args}}}
					}
				}
				return scripted.Reply{Text: fmt.Sprintf("no tool %s of %v", all[done].tool, named(turn))}
			}
			r := newScripted(t, cli, func(turn model.Turn) scripted.Reply {
				switch {
				case turn.Side:
				case strings.Contains(turn.Prompt, "Answer below"):
					return scripted.Reply{Text: "the answer from below"}
				case strings.Contains(turn.Prompt, "Do the first part"):
					return steps(turn, step{"orch__deliverable_put", map[string]any{"summary": "s", "output_data": data}})
				case strings.Contains(turn.Prompt, "Do the second part"):
					return steps(turn, step{"orch__deliverable_get", map[string]any{"agent": "first"}},
						step{"orch__deliverable_get", map[string]any{"agent": "peer"}},
						step{"orch__spawn", map[string]any{"prompt": "Answer below."}}, step{"orch__status", map[string]any{}},
						step{"orch__deliverable_put", map[string]any{"output_data": `{"second": true}`}})
				case strings.Contains(turn.Prompt, "Do the other part"):
					return scripted.Reply{Text: `{"secret": 1}`}
				}
				return model.Markers(turn)
			})
			home = r.Home
			agent := func(a plan.Agent) plan.Agent {
				a.Agent, a.Model = cli.Name, cli.Model
				return a
			}
			p := plan.Plan{Name: "tools", Agents: []plan.Agent{
				agent(plan.Agent{Name: "first", Prompt: "Do the first part."}), agent(plan.Agent{Name: "peer", Prompt: "Do the other part."}),
				agent(plan.Agent{Name: "second", Prompt: "Do the second part.", Reads: []string{"first"}, Spawn: 1}),
			}}
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "tools.json")
			e2e.Put(t, file, string(b))
			task := strings.TrimSpace(r.Ok("wave", "run", "--detach", "--yes", file, "use the tools"))
			var v wave.View
			e2e.Await(t, "the task to end", func() bool {
				v = r.Task(task)
				return v.Task.Status.Final() || len(v.Open) > 0
			})
			node := func(name string) wave.NodeView {
				return v.Nodes[slices.IndexFunc(v.Nodes, func(n wave.NodeView) bool { return n.Agent == name })]
			}
			for _, n := range v.Nodes {
				t.Logf("%s: %s %s %s %s", n.Agent, n.State, n.Reason, n.Question, n.Data)
			}
			if node("first").Data != data || node("first").Summary != "s" || node("second").Data != `{"second": true}` {
				t.Errorf("it is %s", v.Task.Status)
				for _, x := range e2e.Get[[]work.Execution](r.Rig, "exec", "list") {
					t.Logf("%s %s: %s", x.Name, x.Part.Agent, r.Run("exec", "logs", x.Name).Stdout)
				}
			}
			said := ""
			for _, q := range r.model.Main() {
				if strings.Contains(q.Turn.Prompt, "Do the second part") {
					for _, o := range q.Turn.Outcomes {
						said += o.Output + "\n"
					}
				}
			}
			for _, want := range []string{"9007199254740993", "the answer from below"} {
				if !strings.Contains(said, want) {
					t.Errorf("%q did not come back to it: %s", want, said)
				}
			}
			if strings.Contains(said, "secret") {
				t.Errorf("it read a peer: %s", said)
			}
			x := e2e.Get[work.Execution](r.Rig, "exec", "show", task+".second.1.1")
			if x.State != work.Completed || x.Agent != cli.Name || x.Part.Task != "" {
				t.Errorf("%+v", x)
			}
		})
	}
}

// named are the names of the tools that a turn has.
func named(turn model.Turn) (names []string) {
	for _, t := range turn.Tools {
		names = append(names, t.Namespace+"/"+t.Name)
	}
	return names
}
