package claude

import (
	"strings"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread/pattern"
)

// pasted matches Claude Code's placeholder for a long paste.
var pasted = pattern.Lazy(`^\[Pasted text #\d+( \+\d+ lines)?\]$`)

// border is the beginning of the lines above and below the input.
var border = strings.Repeat("─", 3)

// Input finds the input: between two lines, containing the cursor, after "❯" or, for a shell command, "!".
func (a *Agent) Input(t *vterm.Terminal) (agent.Input, bool) {
	cols, rows := t.Size()
	first := t.Cursor().Y
	for first > 0 && !strings.HasPrefix(t.RowText(first-1), border) {
		first--
	}
	last := t.Cursor().Y
	for last < rows-1 && !strings.HasPrefix(t.RowText(last+1), border) {
		last++
	}
	mark := t.RowText(first)
	if first == 0 || last == rows-1 || !strings.HasPrefix(mark, "❯") && !strings.HasPrefix(mark, "!") {
		return agent.Input{}, false
	}
	text := agent.ScreenText(t, first, last, 2, cols, agent.Faint)
	if at := t.Cursor(); suggests(t, at) { // the suggestion's first letter is the cursor's and so not faint
		text = strings.TrimSpace(agent.ScreenText(t, first, at.Y-1, 2, cols, agent.Faint) + "\n" +
			agent.ScreenText(t, at.Y, at.Y, 2, at.X, agent.Faint))
	}
	if strings.HasPrefix(mark, "!") {
		text = "!" + text
	}
	return agent.Input{Text: text, Pasted: pasted().MatchString(text)}, true
}

// suggests reports whether a suggestion of Claude Code begins at the cursor, which it draws as a reversed cell: the
// text after it is faint.
func suggests(t *vterm.Terminal, at vterm.Cursor) bool {
	row := t.Row(nil, at.Y)
	if at.X+1 >= len(row) || row[at.X].Style.Attr&vterm.Reverse == 0 {
		return false
	}
	next := row[at.X+max(1, int(row[at.X].Width)):]
	return len(next) > 0 && agent.Faint(next[0].Style)
}
