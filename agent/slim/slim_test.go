package slim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/slim"
	"orchestrator/thread"
)

func TestUse(t *testing.T) {
	table := []thread.Lever{{Name: "a"}, {Name: "b", Needs: []string{"a"}}, {Name: "c", Needs: []string{"b"}}, {Name: "d"}}
	for _, c := range []struct {
		names, decided, use, unused string
	}{
		{"", "a", "", ""},
		{"a b c d", "", "a b c d", ""},
		{"d c b a", "", "a b c d", ""},
		{"a b c d", "a", "d", "a b c"},
		{"a b c d", "b", "a d", "b c"},
		{"b c d x", "", "d", "b c x"},
	} {
		use, unused := slim.Use("It", table, strings.Fields(c.names), func(l thread.Lever) string {
			if l.Name == c.decided {
				return "theirs"
			}
			return ""
		})
		if strings.Join(use, " ") != c.use || strings.Join(slices.Sorted(maps.Keys(unused)), " ") != c.unused {
			t.Errorf("%q, %q decided: %q, unused %q", c.names, c.decided, use, unused)
		}
	}
}

// TestSplitIsQuick divides a text of 8 MB that is full of what begins parts.
func TestSplitIsQuick(t *testing.T) {
	seams := []slim.Seam{{Begins: "<a>", Kind: thread.BaseSkills, Ends: "</%s>", Name: "a"}, {Begins: "# x", Kind: thread.BaseAgents, Headed: true}}
	text := strings.Repeat("<a>\n# x\ny\n</a>\n# z\n", 400_000)
	parts := slim.Split(thread.BaseText{Kind: thread.BaseSystem, Text: text}, seams)
	n := 0
	for _, p := range parts {
		n += len(p.Text)
	}
	if n != len(text) || len(parts) != 800_000 || parts[0].Kind != thread.BaseSkills || parts[1].Kind != thread.BaseSystem {
		t.Errorf("%d bytes of %d in %d parts", n, len(text), len(parts))
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	agenttest.Put(t, root+"/skills/one/SKILL.md", "")
	agenttest.Put(t, root+"/skills/deep/er/two/SKILL.md", "")
	agenttest.Put(t, root+"/agents/three.md", "")
	if got := slim.Find("SKILL.md", root+"/none", root+"/skills"); !slices.Equal(got, []string{"two", "one"}) {
		t.Errorf("skills %q", got)
	}
	if got := slim.Find("*.md", root+"/agents"); !slices.Equal(got, []string{"three"}) {
		t.Errorf("agents %q", got)
	}
}
