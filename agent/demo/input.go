package demo

import (
	"strings"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
)

// Input finds the input: the last lines of the screen, after "›", or "…" if there are more above, containing the
// cursor.
func (a *Agent) Input(t *vterm.Terminal) (agent.Input, bool) {
	cols, rows := t.Size()
	at := t.Cursor()
	first := at.Y
	for first > 0 && (strings.HasPrefix(t.RowText(first), "  ") || t.RowText(first) == "") {
		first--
	}
	if mark := t.RowText(first); !strings.HasPrefix(mark, "›") && !strings.HasPrefix(mark, "…") || at.X < 2 {
		return agent.Input{}, false
	}
	return agent.Input{Text: agent.ScreenText(t, first, rows-1, 2, cols, func(vterm.Style) bool { return false })}, true
}
