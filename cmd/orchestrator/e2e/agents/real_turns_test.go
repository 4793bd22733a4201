package agents

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// delegating is a model that has a sub-agent in the background look for something, says so, and goes on when it has
// ended.
func delegating(turn model.Turn) scripted.Reply {
	if turn.Side || !strings.Contains(turn.Prompt, "find it") {
		return atWork(turn)
	}
	switch turn.Round {
	case 0:
		i := slices.IndexFunc(turn.Tools, func(tool scripted.Tool) bool { return tool.Name == "Agent" || tool.Name == "Task" })
		if i < 0 {
			return scripted.Reply{Text: "there are no sub-agents"}
		}
		return scripted.Reply{Calls: []scripted.Call{{Name: turn.Tools[i].Name, Args: map[string]any{
			"description": "look", "prompt": "look around #say:it lies here", "subagent_type": "general-purpose", "run_in_background": true,
		}}}}
	case 1:
		return scripted.Reply{Text: "a sub-agent looks for it"}
	default:
		return scripted.Reply{Text: "the sub-agent found it"}
	}
}

// TestRealSubAgentMakesNoSecondTurn has the real Claude Code go on by itself with what a sub-agent in the background
// found: it is one turn of one prompt.
func TestRealSubAgentMakesNoSecondTurn(t *testing.T) {
	r := newScripted(t, realClaude(), delegating)
	name := r.start("delegates")
	r.Ok("send", name, "find it")
	find := func() []thread.Checkpoint { return e2e.Get[[]thread.Checkpoint](r.Rig, "checkpoint", "list", name) }
	e2e.Await(t, "the agent to go on", func() bool { return find()[0].Answer == "the sub-agent found it" && find()[0].Kind == thread.KindTurn })
	if list := find(); len(list) != 1 || list[0].Turn != 1 || list[0].Prompt != "find it" {
		t.Errorf("turns %+v", list)
	}
	prompts := e2e.Get[[]thread.Prompt](r.Rig, "prompts", name)
	if len(prompts) != 1 || prompts[0].State != thread.PromptAnswered || prompts[0].Turn != 1 {
		t.Errorf("prompts %+v", prompts)
	}
	r.Ok("send", name, "and then #say:that was all")
	if list := find(); len(list) != 2 || list[0].Turn != 2 {
		t.Errorf("the next prompt: %+v", list)
	}
}
