package opencode

import (
	"slices"
	"strings"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread/pattern"
)

// pasted is the placeholder of a long paste.
var pasted = pattern.Lazy(`^\[Pasted ~\d+ lines?( #\d+)?\]$`)

// Input finds the input: the block around the cursor that has "┃" on its left and a ground of its own, without the
// empty line above and those below, of which the last names the agent and the model.
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
			strings.Count(t.RowText(y), "┃") == 1 // and no list of completions
	}
	first, last := at.Y, at.Y
	for first > 0 && within(first-1) {
		first--
	}
	for last < rows-1 && within(last+1) {
		last++
	}
	right := bar + 1 // of the block: the empty line above has its ground and nothing else
	for edge := t.Row(nil, first); right < cols && edge[right].Style.Bg == ground; right++ {
	}
	first, last = first+1, last-2
	if last >= rows-3 || !strings.HasPrefix(strings.TrimLeft(t.RowText(last+3), " "), "╹") || first > at.Y || last < at.Y {
		return agent.Input{}, false
	}
	text := agent.Written(t, first, last, bar+3, right, func(vterm.Style) bool { return false })
	if at.X == bar+3 && at.Y == first && placeholder().MatchString(text) {
		text = ""
	}
	return agent.Input{Text: text, Pasted: pasted().MatchString(text)}, true
}

// placeholder is what the empty input says.
var placeholder = pattern.Lazy(`^(Ask anything…|Run a command…)`)
