package dialog

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Text is a text to read.
type Text struct {
	title string
	body  Scroll
}

// NewText returns a text dialog.
func NewText(title string, body []Line) *Text { return &Text{title: title, body: NewScroll(body)} }

// Set replaces the text.
func (t *Text) Set(body []Line) { t.body = NewScroll(body) }

// SetAtEnd replaces the text, and goes to its end.
func (t *Text) SetAtEnd(body []Line) {
	t.Set(body)
	t.body.toEnd = true
}

// Title returns the title.
func (t *Text) Title() string { return t.title }

// Scope returns the scope of its keys.
func (t *Text) Scope() intent.Scope { return intent.List }

// Hints leaves out the scroll keys if the whole text is visible.
func (t *Text) Hints(inside layout.Box) []intent.Action {
	if t.body.Fits(inside) {
		return []intent.Action{intent.Cancel}
	}
	return []intent.Action{intent.Down, intent.Cancel}
}

// Size returns the size that it needs.
func (t *Text) Size(w, h int) (int, int) {
	w = min(w, 100)
	bw, _ := t.body.Size(w)
	bw = min(max(bw, plain.Width(t.title)+4, 40), w)
	_, bh := t.body.Size(bw)
	return bw, min(bh, h)
}

// Handle handles an intent.
func (t *Text) Handle(in intent.Intent) Result {
	act, _ := in.(intent.Action)
	if act == intent.Accept || act == intent.Cancel {
		return Cancelled{}
	}
	t.body.Handle(act)
	return nil
}

// Draw draws the dialog.
func (t *Text) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) { t.body.Draw(c, b, th) }
