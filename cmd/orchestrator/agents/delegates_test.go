package agents_test

import (
	"testing"

	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/demo"
	"orchestrator/agent/gemini"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestDelegates: which calls start sub-agents, and which end them, as each CLI has them.
func TestDelegates(t *testing.T) {
	for _, c := range []struct {
		agent thread.Delegator
		tool  string
		args  string
		want  thread.Delegation
		said  string
	}{
		{&claude.Agent{}, "Agent", `{"subagent_type":"Explore","prompt":"look"}`, thread.Delegation{Type: "Explore", Prompt: "look"}, ""},
		{&claude.Agent{}, "Task", `{"prompt":"look"}`, thread.Delegation{Prompt: "look"}, ""},
		{&claude.Agent{}, "Bash", `{"prompt":"look"}`, thread.Delegation{}, ""},
		{&claude.Agent{}, "Agent", `{"prompt":`, thread.Delegation{}, ""},
		{&opencode.Agent{}, "task", `{"subagent_type":"general","prompt":"look"}`, thread.Delegation{Type: "general", Prompt: "look"}, ""},
		{&codex.Agent{}, "collaboration.spawn_agent", `{"task_name":"one","message":"look there"}`, thread.Delegation{Name: "one", Prompt: "look there"}, ""},
		{&codex.Agent{}, "wait_agent", `{}`, thread.Delegation{}, ""},
		{&gemini.Agent{}, "invoke_agent", `{"agent_name":"generalist","prompt":"look"}`, thread.Delegation{Type: "generalist", Prompt: "look"}, ""},
		{&gemini.Agent{}, "complete_task", `{"result":{"response":"found"}}`, thread.Delegation{}, "found"},
		{&gemini.Agent{}, "complete_task", `{"result":"found"}`, thread.Delegation{}, "found"},
		{&gemini.Agent{}, "complete_task", `{"report":{"a":1,"b":2}}`, thread.Delegation{}, `{"a":1,"b":2}`},
		{&demo.Agent{}, "sub_agent", `{"type":"explore","task":"look"}`, thread.Delegation{Type: "explore", Prompt: "look"}, ""},
	} {
		got, ok := c.agent.Delegates(c.tool, c.args)
		said, ends := c.agent.Concludes(c.tool, c.args)
		if got != c.want || ok != (c.want != thread.Delegation{}) || said != c.said || ends != (c.said != "") {
			t.Errorf("%T %s %s: %+v %v, %q %v", c.agent, c.tool, c.args, got, ok, said, ends)
		}
	}
}
