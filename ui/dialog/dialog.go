// Package dialog draws dialogs over the screen: each dialog is a model that takes
// intents and ends in one typed result. A stack owns them; only the top one hears anything.
//
// Dialogs do nothing themselves. What they need from outside is set by who opens them, and what a person chose goes
// back as a Result. Here are the kinds of dialog; a feature fills one, or has one of its own.
package dialog

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// Result is what a dialog ends in.
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
	return []intent.Action{intent.Accept, intent.Cancel}
}
