package intent

import "charm.land/bubbles/v2/key"

// Scope is a part of the screen that keys can belong to.
type Scope string

// The scopes. Those in which text is typed let no key through but their own.
const (
	Global   Scope = "global"
	Terminal Scope = "terminal" // the agent has the keys
	Tree     Scope = "threads"
	Timeline Scope = "timeline"
	Turn     Scope = "turn"
	Diff     Scope = "diff"
	Context  Scope = "context"
	Offer    Scope = "offer"
	List     Scope = "list"    // a dialog with a list or a text
	Confirm  Scope = "confirm" // a dialog with a question
	Resuming Scope = "resume"  // the list of interrupted threads
	Form     Scope = "form"    // a dialog with fields
	Field    Scope = "field"   // a line being typed: filter, search, palette
)

// leaks reports whether keys that a scope does not know go on to the next one.
func (s Scope) leaks() bool {
	switch s {
	case Terminal, List, Confirm, Resuming, Form, Field:
		return false
	default:
		return true
	}
}

// types reports whether printable keys that a scope does not bind are text. A question takes none, but is told.
func (s Scope) types() bool { return s == Form || s == Field || s == Confirm }

// Scopes returns all scopes in the order in which help shows them.
func Scopes() []Scope {
	return []Scope{Global, Tree, Terminal, Timeline, Turn, Diff, Context, Offer, Resuming, List, Confirm, Form, Field}
}

// Binding ties keys to an action in a scope. Its help names the first key as people read it, and what it does.
type Binding struct {
	key.Binding
	Scope  Scope
	Action Action
	// Palette is set for what the command palette offers.
	Palette bool
}

// Label returns the first key as people read it, empty when there is none.
func (b Binding) Label() string { return b.Help().Key }

// Says returns what the binding does.
func (b Binding) Says() string { return b.Help().Desc }

// As returns the keys with another word for what they do.
func (b Binding) As(word string) key.Binding {
	return key.NewBinding(key.WithKeys(b.Keys()...), key.WithHelp(b.Label(), word))
}

// newKeys makes keys with their help.
func newKeys(says string, keys []string) key.Binding {
	label := ""
	if len(keys) > 0 {
		label = KeyLabel(keys[0])
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, says))
}

// KeyLabel returns a key as people read it.
func KeyLabel(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "pgdown":
		return "pgdn"
	default:
		return key
	}
}
