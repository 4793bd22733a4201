// Package dialog is what stands over the screen and asks: each dialog is a model that takes
// intents and ends in one typed result. A stack owns them; only the top one hears anything.
//
// Dialogs do nothing themselves. What they need from outside is set by the root, and what a
// person chose goes back to it as a Result.
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

// Result is what a dialog ends in. The root may have its own.
type Result interface{ DialogResult() }

// Cancelled is the result of a dialog that was closed without a choice.
type Cancelled struct{}

// DialogResult marks it.
func (Cancelled) DialogResult() {}

// Dialog is one of them.
type Dialog interface {
	Title() string
	// Scope says which keys it takes.
	Scope() intent.Scope
	// Size returns how many cells it wants inside its frame, at most w by h.
	Size(w, h int) (int, int)
	// Handle takes an intent and returns the result, nil while it stays open.
	Handle(intent.Intent) Result
	Draw(*layout.Canvas, layout.Box, *theme.Theme)
}

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

// Hinter is a dialog that knows better than its scope which of its keys do something. Optional for a Dialog.
type Hinter interface {
	// Hints returns the actions that its frame names, when its inside is drawn that large.
	Hints(inside layout.Box) []intent.Action
}

// Worder is a dialog that has its own word for what a key does there. Optional for a Dialog.
type Worder interface {
	// Word returns "" where the binding's own will do.
	Word(intent.Action) string
}

// word says what a key does in a dialog.
func word(d Dialog, b intent.Binding) string {
	if w, ok := d.(Worder); ok {
		if own := w.Word(b.Action); own != "" {
			return own
		}
	}
	return b.Says()
}

// hints are the actions that a dialog's frame names.
func hints(d Dialog, inside layout.Box) []intent.Action {
	if h, ok := d.(Hinter); ok {
		return h.Hints(inside)
	}
	if d.Scope() == intent.Resuming {
		return []intent.Action{intent.ResumeOne, intent.ResumeAll, intent.Cancel}
	}
	return []intent.Action{intent.Accept, intent.Cancel}
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

// Place returns where a dialog stands on a screen, frame included.
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
