package keyhelp

import (
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// A row holds whole keys with their words in every width, never a part of one, and nothing outside of its box.
func TestFold(t *testing.T) {
	keys := []key.Binding{
		key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "new")),
		key.NewBinding(key.WithKeys("x")), // has no help
		key.NewBinding(key.WithKeys("up"), key.WithHelp("↑", "row above")),
		key.NewBinding(key.WithHelp("u", "undo")), // has no key
		key.NewBinding(key.WithKeys("q"), key.WithHelp("q", "quit")),
	}
	th := theme.New(colorprofile.TrueColor, true)
	for w := range 60 {
		var c layout.Canvas
		c.Reset(64, 1)
		end := Draw(&c, layout.Box{X: 1, W: w, H: 1}, 0, th, keys)
		got := ansi.Strip(c.String())
		if end > w || len([]rune(got)) > w+1 {
			t.Errorf("%d: ends at %d: %q", w, end, got)
		}
		rest := strings.TrimSpace(got)
		for _, part := range []string{"n new", "↑ row above", "q quit"} {
			rest = strings.TrimSpace(strings.TrimPrefix(rest, part))
		}
		if w > 2 && rest != "" && rest != "…" {
			t.Errorf("%d: %q leaves %q", w, got, rest)
		}
	}
}
