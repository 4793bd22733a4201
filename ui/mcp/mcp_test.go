package mcp

import (
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

func draw(p *Panel, h int) string {
	var c layout.Canvas
	c.Reset(24, h)
	p.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true))
	return c.String()
}

func TestPanel(t *testing.T) {
	p := &Panel{}
	if got := draw(p, 2); !strings.Contains(got, "…") {
		t.Errorf("before the list has come: %q", got)
	}
	p.Set(nil)
	if got := draw(p, 2); !strings.Contains(got, "No servers") {
		t.Errorf("empty: %q", got)
	}
	p.Set([]thread.MCPServer{
		{Name: "zeta", Trusted: true}, {Name: "on", Trusted: true, On: true}, {Name: "strange"},
		{Name: "broken", Trusted: true, Problem: "no such\x1b file"},
	})
	got := draw(p, 4)
	for _, want := range []string{"[!] broken", "[x] on", "[?] strange", "[ ] zeta"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := draw(p, 3); !strings.Contains(got, "… 2 more (m)") {
		t.Errorf("cut: %q", got)
	}
	all := strings.Join(p.Details(), "\n")
	if !strings.Contains(all, "not trusted yet: disabled") || !strings.Contains(all, "no such␛ file") {
		t.Errorf("details:\n%s", all)
	}
}
