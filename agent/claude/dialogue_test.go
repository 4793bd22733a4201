package claude

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/thread"
)

func start() thread.Dialogue { return newDialogue(false) }

func TestDialogue(t *testing.T) { agenttest.Dialogues(t, start) }

func FuzzDialogue(f *testing.F) { agenttest.FuzzDialogue(f, start) }
