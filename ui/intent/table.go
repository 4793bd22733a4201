package intent

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// defaultLeave is the one key that is taken from agents, unless a person chose others.
const defaultLeave = "ctrl+q"

// Table is all bindings. It does not change after it was made.
type Table struct {
	bindings []Binding
	keys     map[Scope]map[string]Action
}

// NewTable makes the table with a person's own keys: for an action's name, the keys that take
// the place of the ones it has. What is wrong with them is told in full; the table returned beside
// an error leaves out the wrong ones only, so the keyboard never dies of a typing error.
func NewTable(own map[string][]string) (*Table, error) {
	t, wrong := newTable(own)
	errs := make([]error, len(wrong))
	for i, w := range wrong {
		errs[i] = w
	}
	return t, errors.Join(errs...)
}

// Wrong is something that is wrong with a person's own keys.
type Wrong struct {
	Actions []Action // that it is about: one that is unknown, or has no such key, or the two that have one key
	Text    string
}

func (w *Wrong) Error() string { return w.Text }

// Check returns all that is wrong with a person's own keys.
func Check(own map[string][]string) []*Wrong {
	_, wrong := newTable(own)
	return wrong
}

func newTable(own map[string][]string) (*Table, []*Wrong) {
	t := &Table{bindings: defaults()}
	var wrong []*Wrong
	names := make([]string, 0, len(own))
	for name := range own {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := t.override(Action(name), own[name]); err != nil {
			wrong = append(wrong, &Wrong{Actions: []Action{Action(name)}, Text: err.Error()})
		}
	}
	return t, append(wrong, t.index()...)
}

func (t *Table) override(a Action, keys []string) error {
	known := false
	for _, b := range t.bindings {
		known = known || b.Action == a
	}
	if !known {
		return fmt.Errorf("keys: no action is called %q; allowed: %s", a, strings.Join(t.actions(), ", "))
	}
	keys = slices.Clone(keys)
	for i, k := range keys {
		keys[i] = normal(k)
		if keys[i] == "" {
			return fmt.Errorf("keys: %q has an empty key", a)
		}
	}
	if a == Leave && len(keys) == 0 {
		return fmt.Errorf("keys: %q needs a key, or nothing leads out of an agent", a)
	}
	for i := range t.bindings {
		b := &t.bindings[i]
		switch {
		case b.Action != a:
		case a == Leave && b.Scope != Terminal:
			// What leads out of an agent leads out of the views too, beside what did before.
			rest := slices.DeleteFunc(slices.Clone(b.Keys()), func(k string) bool { return k == defaultLeave || slices.Contains(keys, k) })
			b.Binding = newKeys(b.Says(), append(rest, keys...))
		case b.Scope.types() && slices.ContainsFunc(keys, isText):
			// A letter goes on to be text there.
			if rest := slices.DeleteFunc(slices.Clone(keys), isText); len(rest) > 0 {
				b.Binding = newKeys(b.Says(), rest)
			}
		default:
			b.Binding = newKeys(b.Says(), keys)
		}
	}
	return nil
}

// isText reports whether a key types something.
func isText(key string) bool { return key == "space" || utf8.RuneCountInString(key) == 1 }

// normal spells a key as the terminal library does.
func normal(key string) string {
	switch key = strings.TrimSpace(key); strings.ToLower(key) {
	case "return":
		return "enter"
	case "escape":
		return "esc"
	case "pagedown", "pgdn":
		return "pgdown"
	case "pageup":
		return "pgup"
	}
	if strings.Contains(key, "+") && len(key) > 1 {
		return strings.ToLower(key)
	}
	return key
}

func (t *Table) actions() []string {
	var names []string
	for _, b := range t.bindings {
		if !slices.Contains(names, string(b.Action)) {
			names = append(names, string(b.Action))
		}
	}
	sort.Strings(names)
	return names
}

// index builds the lookup; of two actions with one key in one scope the first keeps it.
func (t *Table) index() []*Wrong {
	t.keys = map[Scope]map[string]Action{}
	var wrong []*Wrong
	for _, b := range t.bindings {
		m := t.keys[b.Scope]
		if m == nil {
			m = map[string]Action{}
			t.keys[b.Scope] = m
		}
		for _, k := range b.Keys() {
			if other, taken := m[k]; taken && other != b.Action {
				wrong = append(wrong, &Wrong{
					Actions: []Action{other, b.Action}, Text: fmt.Sprintf("keys: %q is %q and %q in %s", k, other, b.Action, b.Scope),
				})
				continue
			}
			m[k] = b.Action
		}
	}
	return wrong
}

// Key is a pressed key: its name, and the text it types if it does.
type Key struct{ Name, Text string }

// Lookup returns what a key means in the scopes, innermost first; nil when it means nothing.
func (t *Table) Lookup(scopes []Scope, k Key) Intent {
	for _, s := range scopes {
		if a, ok := t.keys[s][k.Name]; ok {
			return a
		}
		if s.types() && k.Text != "" {
			return Type{Text: k.Text}
		}
		if !s.leaks() {
			return nil
		}
		if s == Global && len(k.Name) == 1 && k.Name >= "1" && k.Name <= "9" {
			return Jump{N: int(k.Name[0] - '0')}
		}
	}
	return nil
}

// Bindings returns those of the scopes that a key reaches, in the order of the scopes.
func (t *Table) Bindings(scopes ...Scope) []Binding {
	var out []Binding
	for _, s := range scopes {
		for _, b := range t.bindings {
			if b.Scope == s && len(b.Keys()) > 0 {
				out = append(out, b)
			}
		}
	}
	return out
}

// Commands returns what the palette offers, keys or not.
func (t *Table) Commands() []Binding {
	var out []Binding
	for _, b := range t.bindings {
		if b.Palette {
			out = append(out, b)
		}
	}
	return out
}

// KeyOf returns the first key of an action as people read it, "" when it has none.
func (t *Table) KeyOf(a Action) string {
	for _, b := range t.bindings {
		if b.Action == a && len(b.Keys()) > 0 {
			return b.Label()
		}
	}
	return ""
}

// LeaveKey returns the key that leads out of an agent, as people read it.
func (t *Table) LeaveKey() string {
	for _, b := range t.Bindings(Terminal) {
		if b.Action == Leave {
			return b.Label()
		}
	}
	return ""
}
