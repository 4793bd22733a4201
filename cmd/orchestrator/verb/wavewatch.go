package verb

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/glyph"
	"orchestrator/ui/graph"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

func waveWatch(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch <task>", Short: "Show a task as a graph by wave, live, without the screen", Args: exactly("<task>"),
		Long: "Show a task as a graph by wave, drawn again in place as it goes on, until it ends. It stays while the task asks you:\n" +
			"answer from another terminal. ctrl-c leaves, and the task goes on. Where the output is no terminal, each change is a\n" +
			"line, as with `wave status --follow`.\n\n" + waveCodes,
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		v, err := api.WaveStatus.Do(ctx, cl, wave.TaskRef{Task: args[0]})
		if err != nil {
			return err
		}
		out, ok := c.out.terminal()
		if !ok || !term.IsTerminal(out.Fd()) || c.out.json {
			return followWave(ctx, c, cl, v)
		}
		return watchWave(ctx, c, cl, v, out)
	})
	return cmd
}

// watchWave draws a task in place until it ends.
func watchWave(ctx context.Context, c *cli, cl *client.Client, v wave.View, out *os.File) error {
	colours := c.colours(out)
	d := drawing{out: out, glyphs: glyphsOf(c.config.Glyphs, c.environ), theme: theme.NewIn(theme.SchemeOf(c.config.Theme), colours, c.config.Theme != "light")}
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Events.Open(listening, cl, api.None{})
	if err != nil {
		events = nil // an agent may not: it looks from time to time
	}
	cols, rows, err := term.GetSize(out.Fd())
	for ; ; cols, rows, err = term.GetSize(out.Fd()) {
		if err != nil {
			return errNoTerminal // it is gone
		}
		if err := d.draw(v, time.Now(), cols, rows); err != nil {
			return fmt.Errorf("draw the task: %w", err)
		}
		if v.Task.Status.Final() {
			break
		}
		if err := waveChanged(ctx, events, v.Task.Name); err != nil {
			return err
		}
		now, err := api.WaveStatus.Do(ctx, cl, wave.TaskRef{Task: v.Task.Name})
		if err != nil {
			return err
		}
		v = now
	}
	page.WaveEnd(c.out.stdout, v)
	return waveExit(v)
}

// drawing is a task that is drawn in place on a terminal. It writes cells of its own making, and sequences that move the
// cursor.
type drawing struct {
	out    io.Writer
	glyphs glyph.Set
	theme  *theme.Theme

	canvas layout.Canvas
	last   string
	lines  int // of the last one
	cols   int
}

// draw draws a task, in place of what was drawn before. What looks the same is not written again.
func (d *drawing) draw(v wave.View, now time.Time, cols, rows int) error {
	var g graph.Graph
	g.Set(v, now)
	below := openLines(v, cols)
	h := max(1, min(1+g.Rows(cols, max(rows-2-len(below), 4)), rows-1-len(below)))
	d.canvas.Glyphs = d.glyphs
	d.canvas.Reset(cols, h+len(below))
	head, b := d.canvas.Bounds().Top(1)
	d.canvas.Print(head, 0, 0, d.theme.Style(theme.Heading), plain.Cut(plain.Line(v.Task.Name+"  "+v.Task.Title), cols))
	b, foot := b.Bottom(len(below))
	g.Draw(&d.canvas, b, d.theme, now)
	for y, l := range below {
		d.canvas.Print(foot, 0, y, d.theme.Style(theme.Waiting), l)
	}
	frame := d.canvas.String()
	if frame == d.last && cols == d.cols {
		return nil
	}
	var s strings.Builder
	if d.lines > 0 {
		fmt.Fprintf(&s, "\x1b[%dA\r\x1b[J", d.lines)
	}
	s.WriteString(strings.ReplaceAll(frame, "\n", "\r\n") + "\r\n")
	d.last, d.lines, d.cols = frame, h+len(below), cols
	_, err := io.WriteString(d.out, s.String())
	return err
}

// openLines say how what a task asks is answered.
func openLines(v wave.View, cols int) (lines []string) {
	const most = 3
	for i, name := range v.Open {
		if i == most {
			return append(lines, fmt.Sprintf("and %d more", len(v.Open)-most))
		}
		for _, n := range v.Nodes {
			if n.Agent == name && n.State == plan.NodeAsking {
				text := fmt.Sprintf("orchestrator wave answer %s %s --yes|--no   %s", v.Task.Name, n.Agent, thread.Excerpt(n.Question))
				lines = append(lines, plain.Cut(plain.Line(text), cols))
			}
		}
	}
	return lines
}
