package thread

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// on are switches with servers on, by a person.
func on(servers ...string) (s MCPSwitches) {
	for _, name := range servers {
		s = s.SwitchOn(MCPSwitch{Server: name, By: MCPPerson})
	}
	return s
}

// described is a set of switches in words.
func described(s MCPSwitches) string {
	var words []string
	for _, w := range s.On {
		words = append(words, "+"+w.Server+":"+string(w.By))
	}
	for _, name := range s.Off {
		words = append(words, "-"+name)
	}
	for _, name := range s.Tools {
		words = append(words, "!"+name)
	}
	if s.Exact {
		words = append(words, "exact")
	}
	return strings.Join(words, " ")
}

func TestMCPSwitches(t *testing.T) {
	for _, c := range []struct {
		name string
		got  MCPSwitches
		want string
	}{
		{"on", on("a", "b"), "+a:person +b:person"},
		{"on twice", on("a", "b", "a"), "+b:person +a:person"},
		{"on by a pattern after a person", on("a").SwitchOn(MCPSwitch{Server: "a", By: MCPPattern}), "+a:pattern"},
		{"off", on("a", "b").SwitchOff("a"), "+b:person -a"},
		{"off twice", on("a").SwitchOff("a").SwitchOff("a"), "-a"},
		{"off, never on", MCPSwitches{}.SwitchOff("a"), "-a"},
		{"on after off", on().SwitchOff("a").SwitchOn(MCPSwitch{Server: "a", By: MCPPerson}), "+a:person"},
		{"tool off", on("a").SwitchTool("a", "x", false), "+a:person !a/x"},
		{"tool off twice", on().SwitchTool("a", "x", false).SwitchTool("a", "x", false), "!a/x"},
		{"tool on again", on().SwitchTool("a", "x", false).SwitchTool("a", "x", true), ""},
		{"a tool of another server", on().SwitchTool("a", "x", false).SwitchTool("b", "x", true), "!a/x"},
	} {
		if got := described(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	var zero MCPSwitches
	if !zero.IsZero() || on("a").IsZero() || zero.SwitchOff("a").IsZero() || zero.SwitchTool("a", "x", false).IsZero() || (MCPSwitches{Exact: true}).IsZero() {
		t.Error("IsZero is wrong")
	}
	if _, ok := on("a").Find("a"); !ok {
		t.Error("Find finds nothing")
	}
	if w, ok := on("a").Find("b"); ok || w.Server != "" {
		t.Errorf("Find finds %+v", w)
	}
}

// TestMCPSwitchesAreValues changes nothing that somebody else holds.
func TestMCPSwitchesAreValues(t *testing.T) {
	full := func() MCPSwitches {
		s := on("a", "b", "c").SwitchOff("x").SwitchOff("y").SwitchTool("a", "t", false).SwitchTool("a", "u", false)
		s.On, s.Off, s.Tools = slices.Grow(s.On, 9), slices.Grow(s.Off, 9), slices.Grow(s.Tools, 9) // appending would not copy
		return s
	}
	before := full()
	for name, change := range map[string]func(MCPSwitches) MCPSwitches{
		"on": func(s MCPSwitches) MCPSwitches {
			return s.SwitchOn(MCPSwitch{Server: "x"}).SwitchOn(MCPSwitch{Server: "d"})
		},
		"off":   func(s MCPSwitches) MCPSwitches { return s.SwitchOff("a").SwitchOff("z") },
		"tools": func(s MCPSwitches) MCPSwitches { return s.SwitchTool("a", "t", true).SwitchTool("b", "v", false) },
		"at":    func(s MCPSwitches) MCPSwitches { return s.At([]string{"c", "-a/u"}, "then") },
		"at no list": func(s MCPSwitches) MCPSwitches {
			at := s.At(nil, "then")
			at.On[0], at.Off[0], at.Tools[0] = MCPSwitch{}, "", ""
			return at
		},
		"clone": func(s MCPSwitches) MCPSwitches {
			c := s.Clone()
			c.On[0], c.Off[0], c.Tools[0] = MCPSwitch{}, "", ""
			return c
		},
	} {
		s := full()
		changed := change(s)
		if !s.Equal(before) || described(s) != described(before) {
			t.Errorf("%s changed what it was called for: %s", name, described(s))
		}
		if changed.Equal(before) {
			t.Errorf("%s changed nothing", name)
		}
	}
}

func TestMCPSwitchesEqual(t *testing.T) {
	one := on("a").SwitchOff("b").SwitchTool("a", "x", false)
	for _, other := range []MCPSwitches{
		on("a"), one.SwitchOff("c"), one.SwitchTool("a", "x", true), one.SwitchOn(MCPSwitch{Server: "a", By: MCPPattern}),
		{On: one.On, Off: one.Off, Tools: one.Tools, Exact: true}, {},
	} {
		if one.Equal(other) || other.Equal(one) {
			t.Errorf("%s equals %s", described(one), described(other))
		}
	}
	if !one.Equal(one.Clone()) {
		t.Error("a clone differs")
	}
}

// TestMCPListAt writes the list of a checkpoint and goes on from it.
func TestMCPListAt(t *testing.T) {
	for _, c := range []struct {
		name     string
		on, off  []string // of the checkpoint: servers, and tools that are off
		list     []string
		names    []string
		now      MCPSwitches
		goesOnAs string
	}{
		{"two servers", []string{"a", "b"}, nil, []string{"a", "b"}, []string{"a", "b"}, MCPSwitches{}, "+a:inherited +b:inherited exact"},
		{"a tool off", []string{"a"}, []string{"a/x"}, []string{"a", "-a/x"}, []string{"a"}, MCPSwitches{}, "+a:inherited !a/x exact"},
		{"nothing on", nil, nil, []string{"-"}, []string{}, on("a"), "exact"},
		{"nothing on, a tool off", nil, []string{"a/x"}, []string{"-", "-a/x"}, []string{}, on("a"), "!a/x exact"},
		{"who switched on is kept", []string{"a", "b"}, nil, []string{"a", "b"}, []string{"a", "b"}, on("a", "c"), "+a:person +b:inherited exact"},
		{"off by a person, on then", []string{"a"}, nil, []string{"a"}, []string{"a"}, on().SwitchOff("a").SwitchOff("b"), "+a:inherited -b exact"},
		{"tools of now are forgotten", []string{"a"}, nil, []string{"a"}, []string{"a"}, on().SwitchTool("a", "x", false), "+a:inherited exact"},
	} {
		list := MCPList(c.on, c.off)
		if !slices.Equal(list, c.list) {
			t.Errorf("%s: list %q, want %q", c.name, list, c.list)
		}
		if names := MCPNames(list); !slices.Equal(names, c.names) {
			t.Errorf("%s: names %q, want %q", c.name, names, c.names)
		}
		if got := described(c.now.At(list, "then")); got != c.goesOnAs {
			t.Errorf("%s: goes on as %s, want %s", c.name, got, c.goesOnAs)
		}
	}
	// A checkpoint from before there were lists changes nothing.
	if got := described(on("a").SwitchOff("b").At(nil, "then")); got != "+a:person -b" {
		t.Errorf("without a list: %s", got)
	}
	if w := (MCPSwitches{}).At([]string{"a"}, "on at turn 2").On[0]; w.Why != "on at turn 2" {
		t.Errorf("why: %+v", w)
	}
	names := []string{"a"}
	_ = append(MCPList(names[:1:1], nil), "b")
	if list := MCPList(names, []string{"a/x"}); len(names) != 1 || len(list) != 2 {
		t.Errorf("the list shares what it is made of: %v %v", names, list)
	}
}

func TestMCPSwitchesJSON(t *testing.T) {
	s := on("a").SwitchOff("b").SwitchTool("a", "x", false)
	s.Exact = true
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back MCPSwitches
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(s, back) {
		t.Errorf("%s becomes %+v (%v)", b, back, err)
	}
}
