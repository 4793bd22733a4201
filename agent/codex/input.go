package codex

import (
	"strings"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread/pattern"
)

// pasted matches Codex's placeholder for a long paste.
var pasted = pattern.Lazy(`^\[Pasted Content \d+ chars\]( #\d+)?$`)

// Input finds the input: the cursor's lines, after "›". They have a background of their own if Codex knows the
// terminal's, and end above the footer otherwise.
func (a *Agent) Input(t *vterm.Terminal) (agent.Input, bool) {
	cols, rows := t.Size()
	at := t.Cursor()
	if !at.Visible {
		return agent.Input{}, false
	}
	first := at.Y
	for first > 0 && !strings.HasPrefix(t.RowText(first), "›") {
		if line := t.RowText(first); line != "" && !strings.HasPrefix(line, "  ") {
			return agent.Input{}, false
		}
		first--
	}
	if !strings.HasPrefix(t.RowText(first), "›") || at.X < 2 {
		return agent.Input{}, false
	}
	last := first
	if ground := t.Row(nil, first)[0].Style.Bg; !ground.IsDefault() {
		for last < rows-1 && t.Row(nil, last+1)[0].Style.Bg == ground {
			last++
		}
	} else {
		for y := first + 1; y < rows; y++ {
			if t.RowText(y) == "" {
				last = y
			}
		}
	}
	text := agent.ScreenText(t, first, max(last, at.Y), 2, cols, agent.Faint)
	return agent.Input{Text: text, Pasted: pasted().MatchString(text)}, true
}
