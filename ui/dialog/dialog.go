// Package dialog contains the dialogs over the screen: each one is a model that handles intents and ends with a typed
// result. A stack owns them; only the topmost one gets input.
//
// Dialogs have no effects of their own. Whoever opens one sets what it needs, and gets the user's choice as a Result.
// This package has the kinds of dialog; features fill one, or have one of their own.
package dialog

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// Result is the result of a dialog.
type Result interface{ DialogResult() }

// Cancelled is the result of a dialog that was closed without a choice.
type Cancelled struct{}

// DialogResult marks it as a Result.
func (Cancelled) DialogResult() {}

// Step is a result after which the dialog stays open.
type Step interface {
	Result
	Stays()
}

// Dialog is a dialog.
type Dialog interface {
	Title() string
	// Scope returns the scope of its keys.
	Scope() intent.Scope
	// Size returns how many cells it needs inside its frame, at most w by h.
	Size(w, h int) (int, int)
	// Handle handles an intent. It returns the result, or nil while the dialog stays open.
	Handle(intent.Intent) Result
	Draw(*layout.Canvas, layout.Box, *theme.Theme)
}

// Hinter is implemented by dialogs that know better than their scope which keys do something. Optional.
type Hinter interface {
	// Hints returns the actions to show in its frame, for a given size inside it.
	Hints(inside layout.Box) []intent.Action
}

// Clicker is implemented by dialogs that take clicks on their cells of the screen. Optional: others ignore clicks, so
// that a stray one decides nothing.
type Clicker interface {
	// Click handles a click. It returns the result, or nil while the dialog stays open.
	Click(x, y int) Result
}

// Beside is implemented by dialogs that stand at the right, so that the list of threads stays in sight. Optional.
type Beside interface{ Beside() }

// Labeler is implemented by dialogs with their own words for what keys do. Optional.
type Labeler interface {
	// Label returns the word for an action, or "" for the default of its binding.
	Label(intent.Action) string
}

// word returns the word for what a key does in a dialog.
func word(d Dialog, b intent.Binding) string {
	if w, ok := d.(Labeler); ok {
		if own := w.Label(b.Action); own != "" {
			return own
		}
	}
	return b.Description()
}

// hints returns the actions to show in a dialog's frame.
func hints(d Dialog, inside layout.Box) []intent.Action {
	if h, ok := d.(Hinter); ok {
		return h.Hints(inside)
	}
	return []intent.Action{intent.Accept, intent.Cancel}
}
