package intent

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
)

// defaultLeave is the only key that does not go to a focused agent, unless the user has configured others.
const defaultLeave = "ctrl+q"

// Table has all bindings. It is immutable.
type Table struct {
	bindings []Binding
	keys     map[Scope]map[string]Action
}

// NewTable returns the table with the user's own keys, which replace the default keys of an action by its name. The
// error has everything that is wrong with them. The table is usable even then: it only leaves out the invalid ones.
func NewTable(own map[string][]string) (*Table, error) {
	t, wrong := newTable(own)
	errs := make([]error, len(wrong))
	for i, w := range wrong {
		errs[i] = w
	}
	return t, errors.Join(errs...)
}

// Wrong is a problem with the user's own keys.
type Wrong struct {
	Actions []Action // the actions concerned: an unknown one, one with an invalid key, or two with the same key
	Text    string
}

func (w *Wrong) Error() string { return w.Text }

// Check returns all problems with the user's own keys.
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
		return errors.New("keys: " + thread.Sentences(fmt.Sprintf("no action %q", string(a)),
			thread.Meant(near.Names(string(a), t.actions()), "All: `orchestrator help keys`")))
	}
	keys = slices.Clone(keys)
	for i, k := range keys {
		keys[i] = normal(k)
		if keys[i] == "" {
			return fmt.Errorf("keys: %q has an empty key", a)
		}
		if !exists(keys[i]) {
			return fmt.Errorf("keys: %q: there is no key %q; keys are such as q, f5, ctrl+q or alt+enter", a, k)
		}
	}
	if a == Leave && len(keys) == 0 {
		return fmt.Errorf("keys: %q needs a key, because it is the only way to leave an agent", a)
	}
	for i := range t.bindings {
		b := &t.bindings[i]
		switch {
		case b.Action != a, b.Scope.IsMenu() && a != Menu: // the letters of a menu stay
		case a == Leave && b.Scope != Terminal:
			// The keys that leave an agent leave the views too, besides their other keys.
			rest := slices.DeleteFunc(slices.Clone(b.Keys()),
				func(k string) bool { return k == defaultLeave || slices.Contains(keys, k) })
			b.Binding = newKeys(b.Description(), append(rest, keys...))
		case b.Scope.types() && slices.ContainsFunc(keys, isText):
			// Letters stay text there.
			if rest := slices.DeleteFunc(slices.Clone(keys), isText); len(rest) > 0 {
				b.Binding = newKeys(b.Description(), rest)
			}
		default:
			b.Binding = newKeys(b.Description(), keys)
		}
	}
	return nil
}

// isText reports whether a key types a character.
func isText(key string) bool { return key == "space" || utf8.RuneCountInString(key) == 1 }

// normal normalises the spelling of a key to that of the terminal library.
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
	if utf8.RuneCountInString(key) > 1 {
		return strings.ToLower(key)
	}
	return key
}

// exists reports whether there is a key of this name: a character or a named key, with modifiers before it.
func exists(key string) bool {
	last := key
	if i := strings.LastIndexByte(strings.TrimSuffix(key, "+"), '+'); i >= 0 {
		last = key[i+1:]
		for m := range strings.SplitSeq(key[:i], "+") {
			if !slices.Contains([]string{"ctrl", "alt", "shift", "meta", "super", "hyper"}, m) {
				return false
			}
		}
	}
	if number, ok := strings.CutPrefix(strings.ToLower(last), "f"); ok && number != "" {
		n, err := strconv.Atoi(number)
		return err == nil && n >= 1 && n <= 63
	}
	return utf8.RuneCountInString(last) == 1 || slices.Contains([]string{"enter", "esc", "tab", "space", "backspace", "delete",
		"insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "begin", "menu", "pause", "printscreen"}, last)
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

// index builds the lookup. If two actions have the same key in a scope, the first one keeps it.
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
					Actions: []Action{other, b.Action},
					Text:    fmt.Sprintf("keys: %q is bound to both %q and %q in %s", k, other, b.Action, b.Scope),
				})
				continue
			}
			m[k] = b.Action
		}
	}
	return wrong
}

// Key is a pressed key: its name, and the text that it types, if any.
type Key struct{ Name, Text string }

// Lookup returns what a key means in the scopes, innermost first, or nil.
func (t *Table) Lookup(scopes []Scope, k Key) Intent {
	for _, s := range scopes {
		if a, ok := t.keys[s][k.Name]; ok {
			return a
		}
		if s.types() && k.Text != "" {
			return Type{Text: k.Text}
		}
		if s == Items && len(k.Name) == 1 && k.Name >= "1" && k.Name <= "9" {
			return Pick{N: int(k.Name[0] - '0')}
		}
		if s == Scroll && len(k.Name) == 1 && k.Name >= "1" && k.Name <= "9" {
			return Digit{N: int(k.Name[0] - '0')}
		}
		if !s.leaks() {
			return nil
		}
		if s == Question && len(k.Name) == 1 && k.Name >= "1" && k.Name <= "9" {
			return Pick{N: int(k.Name[0] - '0')}
		}
		if s == Global && len(k.Name) == 1 && k.Name >= "1" && k.Name <= "9" {
			return Jump{N: int(k.Name[0] - '0')}
		}
	}
	return nil
}

// Bindings returns the bindings of the scopes that keys reach, in the order of the scopes.
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

// Entries returns the bindings of a menu that are its entries.
func (t *Table) Entries(menu Scope) []Binding {
	return slices.DeleteFunc(t.Bindings(menu), func(b Binding) bool {
		return slices.Contains([]Action{Up, Down, Accept, Cancel}, b.Action)
	})
}

// Commands returns the bindings in the palette, with or without keys.
func (t *Table) Commands() []Binding {
	var out []Binding
	for _, b := range t.bindings {
		if b.Palette {
			out = append(out, b)
		}
	}
	return out
}

// KeyOf returns the label of the first key of an action, or "": ". m" for the key m in the menu.
func (t *Table) KeyOf(a Action) string {
	label := ""
	for _, b := range t.bindings {
		switch {
		case b.Action != a || len(b.Keys()) == 0:
		case !b.Scope.IsMenu():
			return b.Label()
		case label == "":
			label = t.KeyOf(Menu) + " " + b.Label()
		}
	}
	return label
}

// LeaveKey returns the label of the key that leaves an agent.
func (t *Table) LeaveKey() string {
	for _, b := range t.Bindings(Terminal) {
		if b.Action == Leave {
			return b.Label()
		}
	}
	return ""
}
