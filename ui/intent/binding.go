package intent

import "charm.land/bubbles/v2/key"

// Scope is a part of the screen with its own keys.
type Scope string

// The scopes. In those with text input, only their own keys work.
const (
	Global   Scope = "global"
	Terminal Scope = "terminal" // the agent is focused
	Scroll   Scope = "scroll"   // scroll mode: the agent's terminal is read
	Tree     Scope = "threads"
	Timeline Scope = "timeline"
	Turn     Scope = "turn"
	Diff     Scope = "diff"
	Context  Scope = "context"
	// Searching is added to a view's scope while what was searched for is marked in it.
	Searching Scope = "search"
	Question  Scope = "question" // the selected thread's agent asks in a dialog
	Offer     Scope = "offer"
	List      Scope = "list"      // a dialog with a list or a text
	Confirm   Scope = "confirm"   // a dialog with a question
	Resuming  Scope = "resume"    // the list of interrupted threads
	Servers   Scope = "mcp"       // the list of MCP servers
	Tools     Scope = "tools"     // the tools of an MCP server
	Items     Scope = "inbox"     // what is open for the person
	Costs     Scope = "money"     // what was spent
	Works     Scope = "work"      // work sessions, tasks and executions
	WorkPage  Scope = "execution" // one of them
	Waves     Scope = "tasks"     // tasks of plans
	Graph     Scope = "graph"     // one of them by wave
	Peeking   Scope = "peek"      // what a thread asks or answered, over the list
	Form      Scope = "form"      // a dialog with fields
	Field     Scope = "field"     // a text field: filter, search, palette

	// Menus: their letters hold only while the menu is open, which shows them.
	ThreadMenu  Scope = "menu"         // what can be done with a thread
	ContextMenu Scope = "context menu" // with what is masked, and with the thread
	ServersMenu Scope = "mcp menu"     // with an MCP server
	WavesMenu   Scope = "task menu"    // with a task of a plan
)

// leaks reports whether keys that a scope does not bind are passed to the next one.
func (s Scope) leaks() bool {
	switch s {
	case Terminal, Scroll, List, Confirm, Resuming, Servers, Tools, Items, Costs, Works, WorkPage, Waves, Graph, Peeking, Form, Field, ThreadMenu, ContextMenu, ServersMenu,
		WavesMenu:
		return false
	default:
		return true
	}
}

// IsMenu reports whether a scope is that of a menu.
func (s Scope) IsMenu() bool {
	return s == ThreadMenu || s == ContextMenu || s == ServersMenu || s == WavesMenu
}

// types reports whether printable keys that a scope does not bind are text. Questions get them too, although they take
// no text.
func (s Scope) types() bool { return s == Form || s == Field || s == Confirm }

// Scopes returns all scopes, in the order in which the help shows them.
func Scopes() []Scope {
	return []Scope{
		Global, Tree, ThreadMenu, Terminal, Scroll, Timeline, Turn, Diff, Searching, Context, ContextMenu, Question, Offer, Servers, ServersMenu, Tools,
		Items, Costs, Works, WorkPage, Waves, WavesMenu, Graph, Peeking, Resuming, List, Confirm, Form, Field,
	}
}

// Binding binds keys to an action in a scope. Its help has the label of the first key, and what it does.
type Binding struct {
	key.Binding
	Scope  Scope
	Action Action
	// Palette is set if the command palette lists it.
	Palette bool
}

// Label returns the label of the first key, or "".
func (b Binding) Label() string { return b.Help().Key }

// Description returns what the binding does.
func (b Binding) Description() string { return b.Help().Desc }

// As returns the keys with another word for what they do.
func (b Binding) As(word string) key.Binding {
	return key.NewBinding(key.WithKeys(b.Keys()...), key.WithHelp(b.Label(), word))
}

// newKeys returns keys with their help.
func newKeys(says string, keys []string) key.Binding {
	label := ""
	if len(keys) > 0 {
		label = KeyLabel(keys[0])
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, says))
}

// KeyLabel returns the label of a key.
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

// bind returns a binding that is not in the palette.
func bind(s Scope, a Action, help string, keys ...string) Binding {
	return Binding{Binding: newKeys(help, keys), Scope: s, Action: a}
}

// command returns a binding that is in the palette.
func command(s Scope, a Action, help string, keys ...string) Binding {
	return Binding{Binding: newKeys(help, keys), Scope: s, Action: a, Palette: true}
}
