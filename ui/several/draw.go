package several

import (
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/frame"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
)

// DrawStack draws title bars of the threads that ask the most besides the selected one. titled is set if nothing else
// stands on the rule above them.
func (f *Feature) DrawStack(c *layout.Canvas, b frame.Boxes, th *theme.Theme, titled bool) {
	f.stack, f.bars = nil, nil
	if b.Stack.Empty() {
		return
	}
	_, rows := b.Stack.Top(1)
	var title []styled.Span
	if titled {
		title = append(title, styled.Span{Text: "stack", Tok: theme.Title})
	}
	b.Heading(c, th, b.Stack, title)
	if key := f.Keys.KeyOf(intent.Layout); titled && key != "" {
		hint := []styled.Span{{Text: " "}, {Text: key, Tok: theme.Key}, {Text: " layout ", Tok: theme.Muted}}
		c.PrintSpans(b.Stack, b.Stack.W-styled.Width(hint...)-1, 0, th, hint)
	}
	selected := f.Threads.Selected()
	f.stack = f.Threads.Loudest(rows.H, func(s *thread.Status) bool { return selected != nil && s.ID == selected.ID })
	bar := tree.Bar{Name: theme.Text, Width: min(max(rows.W/4, 12), 32), Now: f.Clock()}
	for y, s := range f.stack {
		f.Threads.DrawBar(c, rows.Row(y), th, s, bar)
	}
}

// DrawBars draws the title bars of threads with terminals beside each other. focused is set if the selected one has the
// keys; without says of which place somebody else draws the bar, -1 of none.
func (f *Feature) DrawBars(c *layout.Canvas, b frame.Boxes, th *theme.Theme, focused bool, without int) {
	selected := f.Threads.Selected()
	for i, p := range b.Parts {
		s := f.Thread(i)
		switch {
		case s == nil && i == b.At:
			continue
		case s == nil:
			c.Print(p.Inner, 1, 0, th.Style(theme.Muted), plain.Cut("No other agent is running", p.Inner.W-1))
			continue
		}
		f.bars = append(f.bars, s)
		if i == without {
			continue
		}
		bar := tree.Bar{Name: theme.Text, Now: f.Clock()}
		if i != b.At {
			bar.Note = f.note(s.ID)
		}
		if selected != nil && s.ID == selected.ID {
			bar.Name, bar.Marks = theme.Strong, !focused
			if focused {
				bar.Name = theme.Accent
			}
		}
		row := p.Title
		row.X, row.W = p.Box.X, p.Box.W
		f.Threads.DrawBar(c, row, th, s, bar)
	}
}

// note returns what the title bar of a thread beside the selected one says of its terminal, instead of its last line.
func (f *Feature) note(id thread.ID) styled.Span {
	back, problem := f.cfg.Aside(id)
	switch {
	case problem != nil:
		return styled.Span{Text: "not shown, " + f.Keys.KeyOf(intent.Redraw) + " tries again: " + problem.Error(), Tok: theme.Bad}
	case back > 0:
		return styled.Span{Text: "scrolled back " + plain.Count(back, "line"), Tok: theme.Accent}
	default:
		return styled.Span{}
	}
}

// Notes returns all that the title bars say of their terminals, to see whether it has changed.
func (f *Feature) Notes() string {
	var all strings.Builder
	for i, id := range f.slots.ids {
		if i != f.slots.at && id != "" {
			all.WriteString(f.note(id).Text + "\n")
		}
	}
	return all.String()
}

// Changes returns after how long something in the title bars looks different by itself; 0 if nothing does.
func (f *Feature) Changes(now time.Time) (next time.Duration) {
	for _, list := range [][]*thread.Status{f.stack, f.bars} {
		for _, s := range list {
			next = tree.Sooner(next, f.Threads.BarChanges(now, s))
		}
	}
	return next
}

// Click returns the thread whose title bar is at a place, or "".
func (f *Feature) Click(b frame.Boxes, x, y int) thread.ID {
	_, rows := b.Stack.Top(1)
	if i := y - rows.Y; rows.Contains(x, y) && i < len(f.stack) {
		return f.stack[i].ID
	}
	for i, p := range b.Parts {
		if s := f.Thread(i); s != nil && p.Title.Contains(x, y) {
			return s.ID
		}
	}
	return ""
}
