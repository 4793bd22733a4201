package gemini

import (
	"strings"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread/pattern"
)

// pasteDelay is how long after a paste Gemini CLI takes a return as a line break.
const pasteDelay = 300 * time.Millisecond

var (
	// pasted matches Gemini CLI's placeholder for a long paste.
	pasted = pattern.Lazy(`^\[Pasted Text: \d+ (lines|chars)\]( #\d+)?$`)
	// placeholder matches the text of the empty input.
	placeholder = pattern.Lazy(`^Type your (message|shell command)\b`)
	// mark matches the prompt before the first line.
	mark = pattern.Lazy(`^ ([>!*]) ?`)
)

// Input finds the input: between two bars, containing the cursor, after ">" or, for a shell command, "!".
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
	text := agent.ScreenText(t, first, last, 3, cols, agent.Faint)
	if at.Y == first && at.X == 3 && placeholder().MatchString(text) {
		text = ""
	}
	if begin[1] == "!" {
		text = "!" + text
	}
	return agent.Input{Text: text, Pasted: pasted().MatchString(text), PasteDelay: pasteDelay}, true
}
