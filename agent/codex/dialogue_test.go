package codex

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/thread"
)

func begun() thread.Dialogue {
	return newDialogue(opening{dir: "/home/me/work", model: "gpt-5.5", sandbox: "workspace-write", approval: "on-request"})
}

func asksPerson() thread.Dialogue {
	return newDialogue(opening{
		dir: "/home/me/work", model: "gpt-5.5", sandbox: "workspace-write", approval: "on-request", asking: true,
	})
}

func TestDialogue(t *testing.T) { agenttest.Dialogues(t, begun) }

func TestAsking(t *testing.T) { agenttest.Asking(t, asksPerson) }

func FuzzDialogue(f *testing.F) { agenttest.FuzzDialogue(f, asksPerson) }
