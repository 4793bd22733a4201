package dialog

import (
	"slices"

	"charm.land/bubbles/v2/key"

	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Stack has the open dialogs, the newest on top.
type Stack struct {
	open []Dialog
	top  layout.Box // where the topmost one was drawn, with its frame
}

// Push opens a dialog.
func (s *Stack) Push(d Dialog) { s.open = append(s.open, d) }

// Top returns the topmost dialog, or nil.
func (s *Stack) Top() Dialog {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

// Open reports whether a dialog is open.
func (s *Stack) Open() bool { return len(s.open) > 0 }

// Has reports whether this dialog is open.
func (s *Stack) Has(d Dialog) bool { return slices.Contains(s.open, d) }

// Close closes a dialog, wherever it is in the stack.
func (s *Stack) Close(d Dialog) {
	for i, o := range s.open {
		if o == d {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

// Handle passes an intent to the topmost dialog, and closes it when it ends.
func (s *Stack) Handle(in intent.Intent) Result {
	top := s.Top()
	if top == nil {
		return nil
	}
	return s.ended(top, top.Handle(in))
}

// Click passes a click to the topmost dialog, if it takes clicks. Beside one that is only looked at or chosen from, it
// closes it; beside a question or a form it does nothing.
func (s *Stack) Click(x, y int) Result {
	if d := s.Top(); d != nil && !s.top.Empty() && !s.top.Contains(x, y) {
		switch d.(type) {
		case *Text, *Picker, *Menu:
			return s.ended(d, Cancelled{})
		default:
			return nil
		}
	}
	top, ok := s.Top().(Clicker)
	if !ok {
		return nil
	}
	return s.ended(s.Top(), top.Click(x, y))
}

// ended closes a dialog that ended with a result, and returns the result.
func (s *Stack) ended(d Dialog, r Result) Result {
	if _, stays := r.(Step); r != nil && !stays {
		s.Close(d)
	}
	return r
}

// Recheck withdraws questions that are obsolete. No dialog closes by itself.
func (s *Stack) Recheck() {
	for _, d := range s.open {
		if a, ok := d.(*Ask); ok {
			a.Recheck()
		}
	}
}

// Draw draws the dialogs over the screen.
func (s *Stack) Draw(c *layout.Canvas, th *theme.Theme, keys *intent.Table) {
	for _, d := range s.open {
		outer := Place(c.Bounds(), d)
		s.top = outer
		c.HideCursor()
		c.Fill(halo(c.Bounds(), outer), th.Style(theme.Text))
		title := styled.Span{Text: plain.Cut(plain.Line(d.Title()), outer.W-6), Tok: theme.Strong}
		in := c.Frame(outer, th, theme.BorderFocus, []styled.Span{title})
		in = in.Shrink(1, 0)
		drawHints(c, outer, th, d, keys.Bindings(d.Scope()), hints(d, in))
		d.Draw(c, in, th)
	}
}

// halo returns a dialog's box with the blank columns beside it, so that no cut words stand against its frame. Where few
// columns are left beside it, all are blank.
func halo(screen, b layout.Box) layout.Box {
	side := 2
	if b.X <= 8 {
		side = b.X
	}
	left := max(b.X-side, screen.X)
	right := min(b.X+b.W+side, screen.X+screen.W)
	if screen.X+screen.W-right <= 6 && side == b.X {
		right = screen.X + screen.W
	}
	return layout.Box{X: left, Y: b.Y, W: right - left, H: b.H}
}

// Place returns the box of a dialog on a screen, including its frame.
func Place(screen layout.Box, d Dialog) layout.Box {
	w, h := d.Size(max(screen.W-8, 20), max(screen.H-4, 3))
	box := screen.Center(w+4, h+2)
	if _, beside := d.(Beside); beside {
		box.X = screen.X + screen.W - box.W
	}
	return box
}

// drawHints draws the keys in the bottom edge of a dialog's frame.
func drawHints(
	c *layout.Canvas, b layout.Box, th *theme.Theme, d Dialog, keys []intent.Binding, actions []intent.Action,
) {
	var shown []key.Binding
	for _, a := range actions {
		if i := slices.IndexFunc(keys, func(k intent.Binding) bool { return k.Action == a }); i >= 0 {
			shown = append(shown, keys[i].As(word(d, keys[i])))
		}
	}
	edge := layout.Box{X: b.X + 3, Y: b.Y + b.H - 1, W: b.W - 6, H: 1}
	if n := keyhelp.Draw(c, edge, 0, th, shown); n > 0 {
		c.Print(b, 2, b.H-1, th.Style(theme.Muted), " ")
		c.Print(b, n+3, b.H-1, th.Style(theme.Muted), " ")
	}
}
