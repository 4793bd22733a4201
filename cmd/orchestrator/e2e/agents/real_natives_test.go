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
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// part is what an agent hands to a sub-agent.
type part struct{ kind, prompt, said string }

// handing is what each CLI hands to two sub-agents of different type, in its own words.
func handing(cli string) [2]part {
	kinds := map[string][2]string{
		"claude": {"Explore", "Plan"}, "codex": {"one", "two"}, "gemini": {"codebase_investigator", "generalist"}, "opencode": {"explore", "general"},
	}[cli]
	second := "found the second"
	if cli == "codex" {
		second = "found the first"
	}
	return [2]part{{kinds[0], "explore the folder", "found the first"}, {kinds[1], "plan the work", second}}
}

// handsOver is a model that hands both parts of "share it" to sub-agents, which call a tool and then say what they found; with
// #hold in the prompt they never do.
func handsOver(cli string) model.Script {
	parts := handing(cli)
	return func(turn model.Turn) scripted.Reply {
		for _, p := range parts {
			if strings.Contains(turn.Prompt, p.prompt) {
				return worksOn(cli, turn, p)
			}
		}
		if cli == "codex" && !turn.Side && !slices.ContainsFunc(turn.Tools, func(tool scripted.Tool) bool { return tool.Name == "spawn_agent" }) {
			return worksOn(cli, turn, parts[0]) // its prompt stands where a model finds it, and nobody else
		}
		if turn.Side || !strings.Contains(turn.Prompt, "share it") {
			return atWork(turn)
		}
		switch {
		case turn.Round == 0:
			held := ""
			if strings.Contains(turn.Prompt, "for ever") {
				held = " #hold:plug"
			}
			return scripted.Reply{Calls: []scripted.Call{start(cli, parts[0], held), start(cli, parts[1], held)}, Usage: scripted.Usage{Input: 5000, Output: 50}}
		case turn.Round == 1 && cli == "codex":
			return scripted.Reply{Calls: []scripted.Call{{Name: "wait_agent", Namespace: "collaboration", Args: map[string]any{"timeout_ms": 20000}}}}
		default:
			return scripted.Reply{Text: "both are done", Usage: scripted.Usage{Input: 6000, Output: 60}}
		}
	}
}

// worksOn is the model of a sub-agent.
func worksOn(cli string, turn model.Turn, p part) scripted.Reply {
	r := scripted.Reply{Text: p.said, Usage: scripted.Usage{Input: 1000, Output: 10}}
	if strings.Contains(turn.Prompt, "#hold:plug") {
		r.Hold = "plug"
	}
	if cli == "gemini" {
		r.Text, r.Calls = "", []scripted.Call{{Name: "complete_task", Args: completed(turn, p.said)}}
	}
	return r
}

// completed is what a sub-agent of Gemini CLI ends with: a report, or one text by the name that its tool gives it.
func completed(turn model.Turn, said string) map[string]any {
	var schema struct {
		Required []string `json:"required"`
	}
	i := slices.IndexFunc(turn.Tools, func(tool scripted.Tool) bool { return tool.Name == "complete_task" })
	if i < 0 || json.Unmarshal(turn.Tools[i].Params, &schema) != nil || len(schema.Required) != 1 {
		return map[string]any{"result": said}
	}
	if strings.Contains(string(turn.Tools[i].Params), "SummaryOfFindings") {
		return map[string]any{schema.Required[0]: map[string]any{"SummaryOfFindings": said, "ExplorationTrace": []string{}, "RelevantLocations": []any{}}}
	}
	return map[string]any{schema.Required[0]: map[string]any{"response": said}}
}

// start is a call that starts a sub-agent.
func start(cli string, p part, more string) scripted.Call {
	prompt := p.prompt + more
	switch cli {
	case "codex":
		return scripted.Call{Name: "spawn_agent", Namespace: "collaboration", Args: map[string]any{"task_name": p.kind, "message": prompt, "fork_turns": "none"}}
	case "gemini":
		return scripted.Call{Name: "invoke_agent", Args: map[string]any{"agent_name": p.kind, "prompt": prompt}}
	default:
		name := map[string]string{"claude": "Agent", "opencode": "task"}[cli]
		return scripted.Call{Name: name, Args: map[string]any{"description": "a part", "prompt": prompt, "subagent_type": p.kind}}
	}
}

// newNatives is a rig with a CLI that has sub-agents.
func newNatives(t *testing.T, cli clis.CLI) *realRig {
	r := newScripted(t, cli, handsOver(cli.Name))
	if cli.Name == "codex" { // the person has to switch them on
		file := filepath.Join(r.Home, ".codex", "config.toml")
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprintf(f, "\n[features.multi_agent_v2]\nenabled = true\n")
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// recorded are the rows of sub-agents, oldest first.
func (r *realRig) recorded(origin string) []work.Row {
	r.T.Helper()
	list := e2e.Get[[]work.Row](r.Rig, "exec", "query", "--origin", origin)
	slices.Reverse(list)
	return list
}

// TestRealNatives has each real CLI start two sub-agents of different type, in a terminal and in a run: each has its row,
// with type, prompt, final message, tokens, cost and parent.
func TestRealNatives(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newNatives(t, cli)
			name := r.start("shares")
			r.Ok("send", name, "share it")
			parent := r.checkNatives(cli, 0)
			if parent.Kind != work.KindTerminal || parent.Answer != "both are done" || parent.Scope != "share it" {
				t.Errorf("the terminal: %+v", parent)
			}
			r.Ok("stop", name)
			e2e.Await(t, "the end of the terminal's row", func() bool {
				x := r.find(string(parent.ID))
				return x.State == work.Completed && !x.Ended.IsZero() && x.Said > 0
			})
			r.Ok("run", "--once", "-a", cli.Name, "-m", cli.Model, "--permission-mode", cli.Mode, "--no-worktree", "--base", "full", "share it")
			if parent := r.checkNatives(cli, 2); parent.Kind != work.KindRun || parent.Answer != "both are done" {
				t.Errorf("the run: %+v", parent)
			}
		})
	}
}

// find returns an execution.
func (r *realRig) find(ref string) work.Execution {
	return e2e.Get[work.Execution](r.Rig, "exec", "show", ref)
}

// checkNatives checks the rows of two sub-agents, after some, and returns that of their parent.
func (r *realRig) checkNatives(cli clis.CLI, after int) (parent work.Execution) {
	r.T.Helper()
	var rows []work.Row
	e2e.Await(r.T, "the end of two sub-agents", func() bool {
		rows = r.recorded("native")
		return len(rows) >= after+2 && !slices.ContainsFunc(rows, func(x work.Row) bool { return !x.State.Final() })
	})
	if len(rows) != after+2 {
		r.T.Fatalf("%d rows: %+v", len(rows), rows)
	}
	for _, p := range handing(cli.Name) {
		i := slices.IndexFunc(rows[after:], func(x work.Row) bool { return x.AgentType == p.kind })
		if i < 0 {
			r.T.Errorf("no row of type %s: %+v", p.kind, rows[after:])
			continue
		}
		row := rows[after+i]
		if row.State != work.Completed || row.Scope != p.prompt || !strings.Contains(row.Message, p.said) || row.In != 1000 || row.Out != 10 ||
			cli.Name == "claude" && (row.Cost == nil || *row.Cost <= 0) || row.Parent == "" || row.Completed.IsZero() || row.Model == "" {
			r.T.Errorf("%s: %+v", p.kind, row)
		}
		parent = r.find(string(row.Parent))
		if text := strings.Join(strings.Fields(r.Ok("history", "context", p.kind)), " "); !strings.Contains(text, p.prompt) {
			r.T.Errorf("what the last %s was given:\n%s", p.kind, text)
		}
		if list := e2e.Get[record.Sums](r.Rig, "stats", "--by", "type"); !slices.ContainsFunc(list.Rows, func(v record.Sum) bool {
			return v.Key == p.kind && v.Natives > 0 && v.Spent.Out >= 10 && (cli.Name != "claude" || *v.Spent.Cost > 0)
		}) {
			r.T.Errorf("what a %s cost: %+v", p.kind, list)
		}
		text := r.Ok("exec", "show", string(row.ID))
		for _, want := range []string{p.prompt, p.said, p.kind} {
			if !strings.Contains(text, want) {
				r.T.Errorf("exec show lacks %q:\n%s", want, text)
			}
		}
	}
	return parent
}

// TestRealNativesKilled pulls the plug while two sub-agents work: they and their parent are lost, and have their rows.
func TestRealNativesKilled(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newNatives(t, cli)
			name := r.start("shares")
			r.Ok("send", "-d", name, "share it for ever")
			e2e.Await(t, "two sub-agents at work", func() bool {
				rows := r.recorded("native")
				return len(rows) == 2 && rows[0].State == work.Running && rows[1].State == work.Running
			})
			r.plug()
			r.model.Release("plug")
			var rows []work.Row
			e2e.Await(t, "the next server to find them", func() bool {
				rows = r.recorded("native")
				return !slices.ContainsFunc(rows, func(x work.Row) bool { return !x.State.Final() })
			})
			for i, p := range handing(cli.Name) {
				if len(rows) != 2 || rows[i].State != work.Lost || rows[0].AgentType == rows[1].AgentType || !strings.Contains(rows[0].Scope+rows[1].Scope, p.prompt) {
					t.Fatalf("%+v", rows)
				}
			}
			if x := r.find(string(rows[0].Parent)); x.State != work.Lost || x.Kind != work.KindTerminal {
				t.Errorf("their parent: %+v", x)
			}
		})
	}
}
