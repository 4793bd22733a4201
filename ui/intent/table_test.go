package intent

import (
	"strings"
	"testing"
)

func TestDefaultsAreSound(t *testing.T) {
	tab, err := NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	known := map[Scope]bool{}
	for _, s := range Scopes() {
		known[s] = true
		if len(tab.Bindings(s)) == 0 {
			t.Errorf("scope %s binds nothing", s)
		}
	}
	for _, b := range tab.bindings {
		if !known[b.Scope] {
			t.Errorf("%s is in the unknown scope %s", b.Action, b.Scope)
		}
		if help := b.Description(); help == "" || strings.ToLower(help[:1]) != help[:1] && help[:3] != "MCP" {
			t.Errorf("%s: help %q", b.Action, help)
		}
		for _, k := range b.Keys() {
			if normal(k) != k || !exists(k) {
				t.Errorf("%s: key %q is not spelled as keys are", b.Action, k)
			}
		}
	}
}

// The agent keeps every key but the one that leads out, and those for the next thread that waits and the one before.
func TestTerminalTakesThreeKeysOnly(t *testing.T) {
	tab, _ := NewTable(nil)
	b := tab.Bindings(Terminal)
	for i, want := range []Action{Leave, NextWait, LastSeen} {
		if len(b) != 3 || b[i].Action != want || len(b[i].Keys()) != 1 {
			t.Fatalf("terminal binds %v", b)
		}
	}
	for _, k := range []string{"q", "ctrl+c", "ctrl+p", "esc", "tab", "1"} {
		if got := tab.Lookup([]Scope{Terminal, Global}, Key{Name: k, Text: k}); got != nil {
			t.Errorf("%s: %v", k, got)
		}
	}
}

func TestLookup(t *testing.T) {
	tab, _ := NewTable(nil)
	for _, c := range []struct {
		scopes []Scope
		key    Key
		want   Intent
	}{
		{[]Scope{Tree, Global}, Key{"n", "n"}, New},
		{[]Scope{Tree, Global}, Key{"j", "j"}, Down},
		{[]Scope{Tree, Global}, Key{"3", "3"}, Jump{3}},
		{[]Scope{Timeline, Global}, Key{"F", "F"}, ForkAt},
		{[]Scope{Searching, Turn, Global}, Key{"n", "n"}, NextHit},
		{[]Scope{Turn, Global}, Key{"n", "n"}, New},
		{[]Scope{Form, Global}, Key{"n", "n"}, Type{"n"}},
		{[]Scope{Form, Global}, Key{"f1", ""}, nil},
		{[]Scope{Field, Global}, Key{"3", "3"}, Type{"3"}},
		{[]Scope{List, Global}, Key{"n", "n"}, nil},
		{[]Scope{Terminal, Global}, Key{"ctrl+q", ""}, Leave},
		{[]Scope{Offer, Tree, Global}, Key{"a", "a"}, TakeOffer},
	} {
		if got := tab.Lookup(c.scopes, c.key); got != c.want {
			t.Errorf("%v %q: %v, want %v", c.scopes, c.key.Name, got, c.want)
		}
	}
}

// TestFirstKeepsItsKey binds a key twice: it does what it did, and the error names both actions.
func TestFirstKeepsItsKey(t *testing.T) {
	before, err := NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := NewTable(map[string][]string{"rename": {"n"}})
	if err == nil || !strings.Contains(err.Error(), `"new" and "rename"`) {
		t.Errorf("the error is %v", err)
	}
	key := Key{Name: "n", Text: "n"}
	if got, want := tab.Lookup([]Scope{Global}, key), before.Lookup([]Scope{Global}, key); got != want || got != New {
		t.Errorf("n leads to %v, before to %v", got, want)
	}
}

func TestOwnKeys(t *testing.T) {
	tab, err := NewTable(map[string][]string{"leave": {"Ctrl+B"}, "new": {"c"}, "pin": {}})
	if err != nil {
		t.Fatal(err)
	}
	if got := tab.Lookup([]Scope{Terminal}, Key{Name: "ctrl+b"}); got != Leave {
		t.Errorf("own key leads to %v", got)
	}
	for _, k := range []string{"ctrl+b", "esc", "q"} {
		if got := tab.Lookup([]Scope{Turn, Global}, Key{Name: k}); got != Leave {
			t.Errorf("%s leads to %v in a turn", k, got)
		}
	}
	if got := tab.Lookup([]Scope{Global}, Key{Name: "P"}); got != nil {
		t.Errorf("unbound key leads to %v", got)
	}
	for name, own := range map[string]map[string][]string{
		"Did you mean new?":        {"nwe": {"c"}},
		"`orchestrator help keys`": {"jump": {"c"}},
		"\"f\" is":                 {"new": {"f"}},
		"has an empty key":         {"new": {" "}},
		"the only way to leave":    {"leave": {}},
	} {
		tab, err := NewTable(own)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v", own, err)
		}
		if got := tab.Lookup([]Scope{Tree, Global}, Key{Name: "j"}); got != Down {
			t.Errorf("%v: the keyboard is dead", own)
		}
	}
}

// A letter that a person binds stays text where text is typed, and what it would have done there keeps its keys.
func TestOwnLettersAreText(t *testing.T) {
	tab, err := NewTable(map[string][]string{"up": {"Z", "alt+z"}, "down": {"Q"}, "toggle": {"K"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Scope{Form, Field} {
		for key, want := range map[Key]Intent{
			{"Z", "Z"}: Type{"Z"}, {"Q", "Q"}: Type{"Q"}, {"alt+z", ""}: Up, {"down", ""}: Down, {"K", "K"}: Type{"K"},
		} {
			if got := tab.Lookup([]Scope{s, Global}, key); got != want {
				t.Errorf("%s in %s: %v, want %v", key.Name, s, got, want)
			}
		}
	}
	if got := tab.Lookup([]Scope{Tree, Global}, Key{"Z", "Z"}); got != Up {
		t.Errorf("T leads to %v in the list", got)
	}
}

// TestKeysExist: what no key is called is no key, and says so; every spelling of one that there is counts.
func TestKeysExist(t *testing.T) {
	for _, k := range []string{"ctrl+banana", "banana", "contrl+q", "ctrl+", "+q", "f0", "f64", "f5x", "ctrl q", "ctrl-q", "ctrl++q"} {
		if _, err := NewTable(map[string][]string{"quit": {k}}); err == nil || !strings.Contains(err.Error(), k) {
			t.Errorf("%q: %v", k, err)
		}
	}
	for _, k := range []string{"x", "X", "ü", "+", "ctrl++", "F5", "f12", "Ctrl+X", "alt+shift+left", "PageUp", "return", "Escape", "space"} {
		if wrong := Check(map[string][]string{"palette": {k}}); len(wrong) > 0 && strings.Contains(wrong[0].Text, "there is no key") {
			t.Errorf("%q: %v", k, wrong[0].Text)
		}
	}
}
