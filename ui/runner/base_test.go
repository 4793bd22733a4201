package runner

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
)

// TestBase: the field is there for agents of which something can be left out, and keeps what was chosen by its name.
func TestBase(t *testing.T) {
	agents := []thread.AgentInfo{
		{Name: "a", Bases: []thread.BaseOption{{Profile: "full"}, {Profile: "slim", Lost: []string{"loops", "skills"}, Saves: 5300}}},
		{Name: "b", Bases: []thread.BaseOption{{Profile: "slim", Lost: []string{"goals"}}, {Profile: "minimal"}}}, {Name: "c"},
	}
	b := NewBase(agents, "c", func(a thread.AgentInfo) dialog.Option { return dialog.Option{Value: "unset", Note: a.Name} })
	for _, c := range []struct {
		agent, choose, choice, note string
		hidden                      bool
	}{
		{"c", "slim", "", "", true}, {"none", "", "", "", true}, {"a", "", "", "a", false},
		{"a", "slim", "slim", "saves about 5.3k tokens; you lose: loops · skills", false}, {"b", "", "slim", "you lose: goals", false},
		{"b", "minimal", "minimal", "everything that it sends", false}, {"a", "", "", "a", false}, {"a", "gone", "", "a", false},
	} {
		b.For(c.agent)
		if c.choose != "" {
			b.Choose(c.choose)
		}
		if b.Input.Hidden() != c.hidden || b.Choice() != c.choice || !c.hidden && b.Input.Options[b.Input.Pick].Note != c.note {
			t.Errorf("%+v: hidden %v, choice %q of %+v", c, b.Input.Hidden(), b.Choice(), b.Input.Options)
		}
	}
}
