package opencode

import (
	"slices"
	"strings"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread/pattern"
)

// pasted matches opencode's placeholder for a long paste.
var pasted = pattern.Lazy(`^\[Pasted ~\d+ lines?( #\d+)?\]$`)

// Input finds the input: the block around the cursor with "┃" on its left and a background of its own, without the
// empty line above and the lines below, the last of which contains the agent and the model.
func (a *Agent) Input(t *vterm.Terminal) (agent.Input, bool) {
	cols, rows := t.Size()
	at := t.Cursor()
	row := t.Row(nil, at.Y)
	bar := slices.IndexFunc(row, func(c vterm.Cell) bool { return c.Rune != ' ' })
	if !at.Visible || bar < 0 || row[bar].Rune != '┃' || at.X < bar+3 {
		return agent.Input{}, false
	}
	ground := row[bar+1].Style.Bg
	within := func(y int) bool {
		r := t.Row(nil, y)
		return r[bar].Rune == '┃' && r[bar+1].Style.Bg == ground &&
			strings.Count(t.RowText(y), "┃") == 1 // not a list of completions
	}
	first, last := at.Y, at.Y
	for first > 0 && within(first-1) {
		first--
	}
	for last < rows-1 && within(last+1) {
		last++
	}
	right := bar + 1 // of the block: the empty line above has its background and no text
	for edge := t.Row(nil, first); right < cols && edge[right].Style.Bg == ground; right++ {
	}
	first, last = first+1, last-2
	if last >= rows-3 || !strings.HasPrefix(strings.TrimLeft(t.RowText(last+3), " "), "╹") || first > at.Y || last < at.Y {
		return agent.Input{}, false
	}
	text := agent.ScreenText(t, first, last, bar+3, right, func(vterm.Style) bool { return false })
	if at.X == bar+3 && at.Y == first && placeholder().MatchString(text) {
		text = ""
	}
	return agent.Input{Text: text, Pasted: pasted().MatchString(text)}, true
}

// placeholder matches the text of the empty input.
var placeholder = pattern.Lazy(`^(Ask anything…|Run a command…)`)
