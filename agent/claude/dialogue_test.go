package claude

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/thread"
)

func start() thread.Dialogue { return newDialogue(manner{}) }

func askingPerson() thread.Dialogue { return newDialogue(manner{asks: true}) }

func TestDialogue(t *testing.T) { agenttest.Dialogues(t, start) }

func TestAsking(t *testing.T) { agenttest.Asking(t, askingPerson) }

func FuzzDialogue(f *testing.F) { agenttest.FuzzDialogue(f, askingPerson) }
