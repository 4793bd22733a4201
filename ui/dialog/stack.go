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

// Stack is the open dialogs, the newest on top.
type Stack struct{ open []Dialog }

// Push opens a dialog.
func (s *Stack) Push(d Dialog) { s.open = append(s.open, d) }

// Top returns the newest, nil when none is open.
func (s *Stack) Top() Dialog {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

// Open reports whether there is one.
func (s *Stack) Open() bool { return len(s.open) > 0 }

// Has reports whether a dialog is open.
func (s *Stack) Has(d Dialog) bool { return slices.Contains(s.open, d) }

// Close closes a dialog wherever it stands.
func (s *Stack) Close(d Dialog) {
	for i, o := range s.open {
		if o == d {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

// Handle gives an intent to the top and closes it when it ends.
func (s *Stack) Handle(in intent.Intent) Result {
	top := s.Top()
	if top == nil {
		return nil
	}
	r := top.Handle(in)
	if r != nil {
		s.Close(top)
	}
	return r
}

// Recheck withdraws the questions that are none any more.
func (s *Stack) Recheck() {
	for _, d := range s.open {
		if a, ok := d.(*Ask); ok {
			a.Recheck()
		}
	}
}

// Draw draws the dialogs over what is there.
func (s *Stack) Draw(c *layout.Canvas, th *theme.Theme, keys *intent.Table) {
	for _, d := range s.open {
		outer := Place(c.Bounds(), d)
		c.HideCursor()
		c.Fill(outer, th.Style(theme.Text))
		in := c.Frame(outer, th, theme.BorderFocus, []styled.Span{{Text: plain.Cut(plain.Line(d.Title()), outer.W-6), Tok: theme.Strong}})
		in = in.Shrink(1, 0)
		drawHints(c, outer, th, d, keys.Bindings(d.Scope()), hints(d, in))
		d.Draw(c, in, th)
	}
}

// Place returns where a dialog is on a screen, frame included.
func Place(screen layout.Box, d Dialog) layout.Box {
	w, h := d.Size(max(screen.W-8, 20), max(screen.H-4, 3))
	return screen.Center(w+4, h+2)
}

// drawHints names the keys in the bottom edge of a dialog's frame.
func drawHints(c *layout.Canvas, b layout.Box, th *theme.Theme, d Dialog, keys []intent.Binding, named []intent.Action) {
	var told []key.Binding
	for _, a := range named {
		if i := slices.IndexFunc(keys, func(k intent.Binding) bool { return k.Action == a }); i >= 0 {
			told = append(told, keys[i].As(word(d, keys[i])))
		}
	}
	edge := layout.Box{X: b.X + 3, Y: b.Y + b.H - 1, W: b.W - 6, H: 1}
	if n := keyhelp.Draw(c, edge, 0, th, told); n > 0 {
		c.Print(b, 2, b.H-1, th.Style(theme.Muted), " ")
		c.Print(b, n+3, b.H-1, th.Style(theme.Muted), " ")
	}
}
