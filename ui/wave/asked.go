package wave

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// drawAsked draws a question of a task in the main pane, where a thread's terminal would be.
func drawAsked(src *source, c *layout.Canvas, b layout.Box, th *theme.Theme, q thread.NodeQuestion) {
	lines := []styled.Line{
		{Spans: []styled.Span{{Text: "◆ ", Tok: theme.Waiting}, {Text: plain.Line(q.Name()), Tok: theme.Strong}, {Text: "  waits " + thread.Age(src.Clock().Sub(q.Since)), Tok: theme.Muted}}},
		styled.Of(theme.Muted, plain.Cut(plain.Line(q.Title), b.W)), {},
	}
	lines = append(lines, styled.WrapAll(b.W, theme.Waiting, plain.Lines(q.Text))...)
	lines = append(lines, styled.Line{})
	lines = append(lines, styled.Wrap(b.W, styled.Span{Text: consequence(q), Tok: theme.Muted})...)
	if s, known := src.of(q.Task); known {
		lines = append(lines, styled.Line{}, styled.Of(theme.Text, fmt.Sprintf("%d of %s done, %s tokens %s", s.Done, plain.Count(s.Agents, "agent"),
			thread.Tokens(s.Usage.Context()), s.Usage.Money())))
	}
	lines = append(lines, styled.Line{})
	for _, k := range []struct {
		a    intent.Action
		does string
	}{{intent.Yes, "yes"}, {intent.No, "no"}, {intent.Focus, "graph of the task"}, {intent.NextWait, "next that needs you"}} {
		lines = append(lines, styled.Line{Spans: []styled.Span{{Text: fmt.Sprintf("%-7s", src.Keys.KeyOf(k.a)), Tok: theme.Key}, {Text: k.does}}})
	}
	for y, l := range lines {
		if y < b.H {
			c.PrintSpans(b.Row(y), 0, 0, th, l.Spans)
		}
	}
}
