// Package turn shows a turn for reading: the prompt, the answer as Markdown, and tool calls with their results,
// collapsed.
package turn

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/markdown"
	"orchestrator/ui/pager"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// maxResult limits how many lines of an expanded result are laid out.
const maxResult = 2000

// Model is the view.
type Model struct {
	md *markdown.Renderer

	id      thread.ID
	at      thread.CheckpointID
	turn    int
	entries []thread.Entry
	err     string
	busy    bool
	open    map[int]bool // expanded entries
	places  places

	pages pager.Pager
	width int // the width that the lines were made for, 0 if they are stale
}

// New returns an empty view.
func New(md *markdown.Renderer) *Model { return &Model{md: md} }

// Show clears the view for a turn that is being loaded.
func (m *Model) Show(id thread.ID, cp thread.Checkpoint) {
	*m = Model{md: m.md, id: id, at: cp.ID, turn: cp.Turn, busy: true, open: map[int]bool{}}
	m.pages.Reset()
}

// At returns the thread, checkpoint and turn that are shown.
func (m *Model) At() (thread.ID, thread.CheckpointID, int) { return m.id, m.at, m.turn }

// Fill sets the entries of a turn; those of another turn are dropped.
func (m *Model) Fill(id thread.ID, at thread.CheckpointID, entries []thread.Entry, err error) {
	if id != m.id || at != m.at {
		return
	}
	m.busy, m.entries, m.width = false, entries, 0
	if err != nil {
		m.err = err.Error()
	}
}

// Search searches for text and returns how many lines match.
func (m *Model) Search(q string) int { return m.pages.Search(q) }

// Searched reports whether matches of a search are marked.
func (m *Model) Searched() bool { return m.pages.Query() != "" }

// Scroll scrolls by lines.
func (m *Model) Scroll(n int) { m.pages.Scroll(n) }

// Handle handles an action and reports whether it was one for the view.
func (m *Model) Handle(a intent.Action) bool {
	switch a {
	case intent.Toggle:
		if i := m.places.at(m.pages.Ref()).entry; m.folds(i) {
			m.open[i] = !m.open[i]
			m.width = 0
		}
	case intent.FoldAll:
		all := true
		for i := range m.entries {
			all = all && (!m.folds(i) || m.open[i])
		}
		for i := range m.entries {
			if m.folds(i) {
				m.open[i] = !all
			}
		}
		m.width = 0
	default:
		return m.pages.Handle(a)
	}
	return true
}

// folds reports whether an entry can be collapsed to one line.
func (m *Model) folds(i int) bool {
	if i < 0 || i >= len(m.entries) {
		return false
	}
	switch m.entries[i].Kind {
	case thread.EntryCall, thread.EntryResult, thread.EntryThinking:
		return true
	default:
		return false
	}
}

// Copy returns what to copy at the cursor, and what it is: the block of code, the output of the tool, or the whole text
// of the entry.
func (m *Model) Copy() (text, what string) {
	at := m.places.at(m.pages.Ref())
	switch {
	case at.code != "":
		return trimmed(at.code), "code"
	case at.entry < 0 || at.entry >= len(m.entries):
		return "", ""
	}
	e := m.entries[at.entry]
	if r := m.result(e); e.Kind == thread.EntryCall && r >= 0 {
		e = thread.Entry{Kind: thread.EntryResult, Tool: e.Tool, Text: m.entries[r].Text}
	}
	return trimmed(e.Text), wordOf(e)
}

// result returns the entry with the result of a call, -1 if there is none.
func (m *Model) result(call thread.Entry) int {
	for i := len(m.entries) - 1; i >= 0 && call.Call != ""; i-- {
		if e := m.entries[i]; e.Kind == thread.EntryResult && e.Call == call.Call {
			return i
		}
	}
	return -1
}

// Title returns the title of the view.
func (m *Model) Title() string { return fmt.Sprintf("turn %d", m.turn) }

// Draw draws the view.
func (m *Model) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	switch {
	case m.err != "":
		c.Print(b, 0, 0, th.Style(theme.Bad), plain.Cut(plain.Line(m.err), b.W))
		return
	case m.busy:
		c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		return
	case len(m.entries) == 0:
		c.Print(b, 0, 0, th.Style(theme.Muted), "No record of this turn")
		return
	}
	if m.width != b.W {
		m.width = b.W
		ref := m.pages.Ref()
		m.pages.Set(m.lines(b.W - 1))
		if ref > 0 {
			m.pages.GoRef(ref)
		}
	}
	m.pages.Draw(c, b, th, focus)
}

func (m *Model) lines(w int) []styled.Line {
	var out []styled.Line
	m.places = m.places[:0]
	calls := map[string]bool{}
	for _, e := range m.entries {
		if e.Kind == thread.EntryCall {
			calls[e.Call] = true
		}
	}
	for i, e := range m.entries {
		var part []styled.Line
		var code []string
		switch e.Kind {
		case thread.EntryPrompt:
			part = indent(verbatim(e.Text, w-2, theme.Strong), "▌ ", theme.Accent)
		case thread.EntryAnswer:
			part, code = m.md.RenderCode(e.Text, w)
		case thread.EntryCall:
			part = m.call(i, e, m.result(e), w)
		case thread.EntryResult:
			if e.Call != "" && calls[e.Call] {
				continue // shown with its call
			}
			part = m.folded(i, "└ "+nameOf(e), e.Text, e.Error, w)
		case thread.EntryThinking:
			part = m.folded(i, "thinking", e.Text, false, w)
		default:
			part = verbatim(e.Text, w, theme.Text)
		}
		m.places.refer(part, i, code)
		if len(out) > 0 && !(m.folds(i) && i > 0 && m.folds(i-1)) {
			out = append(out, styled.Line{})
		}
		out = append(out, part...)
	}
	return out
}

// call lays out a tool call with its result.
func (m *Model) call(i int, e thread.Entry, result, w int) []styled.Line {
	mark, outcome, tok := "▸ ", "", theme.Muted
	if m.open[i] {
		mark = "▾ "
	}
	if result >= 0 {
		r := m.entries[result]
		n := lineCount(r.Text)
		switch {
		case r.Error:
			outcome, tok = "failed: "+plain.First(r.Text), theme.Bad
		case n == 1:
			outcome = "1 line"
		default:
			outcome = fmt.Sprintf("%d lines", n)
		}
	}
	name := plain.Line(nameOf(e))
	head := styled.Line{Spans: []styled.Span{{Text: mark, Tok: theme.Accent}, {Text: name, Tok: theme.Code}}}
	room := w - 4 - plain.Width(name)
	if outcome != "" {
		outcome = plain.Cut(outcome, max(w/2, 10))
		room -= plain.Width(outcome) + 2
	}
	head.Spans = append(head.Spans, styled.Span{Text: "  " + plain.Cut(arguments(e.Text), max(room, 0))})
	if outcome != "" {
		head.Spans = append(head.Spans, styled.Span{Text: "  " + outcome, Tok: tok})
	}
	out := []styled.Line{head}
	if !m.open[i] {
		return out
	}
	out = append(out, indent(verbatim(unfolded(e.Text), w-4, theme.Code), "  │ ", theme.Border)...)
	if result >= 0 {
		tok := theme.Text
		if m.entries[result].Error {
			tok = theme.Bad
		}
		out = append(out, styled.Indent(verbatim(m.entries[result].Text, w-4, tok),
			styled.Span{Text: "  └ ", Tok: theme.Border}, styled.Span{Text: "    "})...)
	}
	return out
}

// folded lays out an entry that can be collapsed to one line.
func (m *Model) folded(i int, title, text string, failed bool, w int) []styled.Line {
	mark, tok := "▸ ", theme.Muted
	if m.open[i] {
		mark = "▾ "
	}
	if failed {
		tok = theme.Bad
	}
	title = plain.Line(title)
	head := styled.Line{Spans: []styled.Span{{Text: mark, Tok: theme.Accent}, {Text: title, Tok: theme.Code},
		{Text: "  " + plain.Cut(plain.First(text), max(w-4-plain.Width(title), 0)), Tok: tok}}}
	out := []styled.Line{head}
	if m.open[i] {
		out = append(out, indent(verbatim(text, w-4, theme.Text), "  │ ", theme.Border)...)
	}
	return out
}

func lineCount(s string) int {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

// verbatim lays out text unchanged, up to a limit.
func verbatim(text string, w int, tok theme.Token) []styled.Line {
	lines := plain.Lines(strings.TrimRight(text, "\n"))
	cut := 0
	if len(lines) > maxResult {
		cut = len(lines) - maxResult
		lines = lines[:maxResult]
	}
	out := styled.WrapAll(w, tok, lines)
	if cut > 0 {
		out = append(out, styled.Of(theme.Muted, fmt.Sprintf("… %d more lines", cut)))
	}
	return out
}

// indent puts a mark before each line.
func indent(lines []styled.Line, mark string, tok theme.Token) []styled.Line {
	s := styled.Span{Text: mark, Tok: tok}
	return styled.Indent(lines, s, s)
}
