package ui

import (
	"time"

	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// hold does something unless the letter that asks for it turns out to be the start of typed text.
func (m *Model) hold(in intent.Intent, alone string, delay time.Duration, do func() tea.Cmd) tea.Cmd {
	return m.cfg.After(delay, heldMsg{id: m.typing.Hold(in, alone), do: do})
}
