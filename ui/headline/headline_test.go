package headline

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

func draw(w int, f Facts) string {
	var c layout.Canvas
	c.Reset(w, 1)
	Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), f)
	return ansi.Strip(c.String())
}

// TestWhatFits: the narrower the line, the less it says; what needs the person stays.
func TestWhatFits(t *testing.T) {
	f := Facts{Project: "shop", Branch: "main", Money: Money{Today: "$12.84", Window: "5h", Share: 61}, Counts: []Count{
		{"◆", 2, "need you", theme.Waiting}, {"◐", 3, "working", theme.Working}, {"●", 0, "to read", theme.Accent}, {"○", 9, "", theme.Muted},
	}}
	for w, want := range map[int]string{
		120: "shop on main    ◆ 2 need you  ◐ 3 working  ○ 9 | $12.84 today  5h ━━━━━━──── 61%",
		72:  "shop on main    ◆ 2 need you  ◐ 3 working  ○ 9 | $12.84 today  5h 61%",
		64:  "shop    ◆ 2 need you  ◐ 3 working  ○ 9 | $12.84 today  5h 61%",
		60:  "shop on main  ◆ 2  ◐ 3  ○ 9 | $12.84 today  5h 61%",
		48:  "shop  ◆ 2  ◐ 3  ○ 9 | $12.84 today  5h 61%",
		40:  "shop  ◆ 2  ◐ 3  ○ 9 | $12.84",
		20:  "shop  ◆ 2  ◐ 3  ○ 9",
	} {
		left, right, _ := strings.Cut(want, " | ")
		got := draw(w, f)
		if strings.TrimSpace(got) != strings.TrimSpace(left+strings.Repeat(" ", max(w-2-plain.Width(left)-plain.Width(right), 0))+right) {
			t.Errorf("%d wide: %q, want %q", w, got, want)
		}
	}
	f.Money = Money{Today: "? "}
	if got := draw(100, f); !strings.Contains(got, "?") || strings.Contains(got, "$0") {
		t.Errorf("an unknown sum: %q", got)
	}
	f.Money = Money{}
	if got := draw(100, f); strings.Contains(got, "$") || strings.Contains(got, "today") {
		t.Errorf("before it is known: %q", got)
	}
	f.Project, f.Branch = strings.Repeat("日本", 90), "x\x1b[31m\u202e"
	for w := 20; w < 200; w++ {
		if got := draw(w, f); plain.Width(got) > w || strings.ContainsAny(got, "\x1b\u202e") || w > 60 && !strings.Contains(got, "◆ 2") {
			t.Errorf("%d wide: %q", w, got)
		}
	}
}
