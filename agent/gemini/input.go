package gemini

import (
	"strings"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread/pattern"
)

// settles is how long a return behind a paste is a line break.
const settles = 300 * time.Millisecond

var (
	// pasted is the placeholder of a long paste.
	pasted = pattern.Lazy(`^\[Pasted Text: \d+ (lines|chars)\]( #\d+)?$`)
	// placeholder is what the empty input says.
	placeholder = pattern.Lazy(`^Type your (message|shell command)\b`)
	// mark stands before the first line.
	mark = pattern.Lazy(`^ ([>!*]) ?`)
)

// Input finds the input: between two bars, with the cursor in it, behind ">", or "!" for a command of the shell.
func (a *Agent) Input(t *vterm.Terminal) (agent.Input, bool) {
	const above, below = "▄▄▄▄▄▄▄▄", "▀▀▀▀▀▀▀▀"
	cols, rows := t.Size()
	at := t.Cursor()
	first, last := at.Y, at.Y
	for first > 0 && !strings.HasPrefix(t.RowText(first-1), above) {
		first--
	}
	for last < rows-1 && !strings.HasPrefix(t.RowText(last+1), below) {
		last++
	}
	begin := mark().FindStringSubmatch(t.RowText(first))
	if first == 0 || last == rows-1 || at.X < 3 || begin == nil {
		return agent.Input{}, false
	}
	text := agent.Written(t, first, last, 3, cols, agent.Faint)
	if at.Y == first && at.X == 3 && placeholder().MatchString(text) {
		text = ""
	}
	if begin[1] == "!" {
		text = "!" + text
	}
	return agent.Input{Text: text, Pasted: pasted().MatchString(text), Settles: settles}, true
}
