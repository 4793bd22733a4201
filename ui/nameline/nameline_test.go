package nameline

import (
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

// TestTitleIsNews: of what a program calls itself, only that is shown which is not said anyway.
func TestTitleIsNews(t *testing.T) {
	for _, x := range []struct{ agent, model, title, want, not string }{
		{"demo", "demo", "demo", "   demo   ", "demo demo"},
		{"demo", "demo-1", "Demo · fix the parser", "demo demo-1 · fix the parser", "Demo"},
		{"claude", "opus", "docs", "   claude opus   ", "· docs"},
		{"claude", "opus", "✳ reading files", "claude opus · ✳ reading files", "\x00"},
		{"command", "", "htop", "command · htop", "\x00"},
	} {
		var c layout.Canvas
		c.Reset(100, 1)
		s := &thread.Status{Thread: thread.Thread{Name: "docs-f9a0", Agent: x.agent, Model: x.model}}
		Draw(&c, c.Bounds(), theme.New(colorprofile.NoTTY, true), s, Pane{Name: "docs", Title: x.title})
		if got := c.String(); !strings.Contains(got, x.want) || strings.Contains(got, x.not) || strings.Count(got, "demo · demo") > 0 {
			t.Errorf("%+v: %q", x, got)
		}
	}
}
