package field

import (
	"strings"
	"testing"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"charm.land/lipgloss/v2"
)

// BenchmarkKey is a key typed into a text, and the frame that it leads to.
func BenchmarkKey(b *testing.B) {
	for name, text := range map[string]string{
		"prompt": strings.Repeat("please fix the parser of the thing\n", 20),
		"lines":  strings.Repeat("please fix the parser of the thing\n", 1800),
		"long":   strings.Repeat("please fix the parser of the thing ", 1800),
	} {
		b.Run(name, func(b *testing.B) {
			f := Field{Multi: true}
			f.Set(text)
			th := theme.New(0, true)
			var c layout.Canvas
			c.Reset(60, 6)
			for b.Loop() {
				f.Handle(intent.Type{Text: "x"})
				f.Handle(intent.EraseBack)
				f.Draw(&c, c.Bounds(), th, lipgloss.NewStyle(), "", true)
			}
		})
	}
}
