package claude

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/thread"
)

func start() thread.Dialogue { return newDialogue(false) }

func askingPerson() thread.Dialogue { return newDialogue(true) }

func TestDialogue(t *testing.T) { agenttest.Dialogues(t, start) }

func TestAsking(t *testing.T) { agenttest.Asking(t, askingPerson) }

func FuzzDialogue(f *testing.F) { agenttest.FuzzDialogue(f, askingPerson) }
