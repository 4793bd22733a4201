package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"orchestrator/agent/vterm"
	"orchestrator/checkpoint/git"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/habit"
	"orchestrator/mcpctl/remote"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/ui"
	"orchestrator/ui/alert"
	"orchestrator/ui/burst"
	"orchestrator/ui/connection"
	"orchestrator/ui/paint"
	"orchestrator/ui/terminal"
	"orchestrator/ui/terminal/group"
)

// runUI opens the screen.
func (c *cli) runUI(ctx context.Context) error {
	if err := c.terminalFit(); err != nil {
		return err
	}
	c.told = true // the screen shows it
	cl, err := c.connect(ctx)
	if other := (*otherProtocol)(nil); errors.As(err, &other) {
		cl, err = c.offerRestart(ctx, other)
	}
	if err != nil {
		return err
	}
	defer cl.Close()
	return c.screen(ctx, cl, "")
}

// offerRestart asks whether to replace a server that the screen cannot talk to.
func (c *cli) offerRestart(ctx context.Context, other *otherProtocol) (*client.Client, error) {
	yes, err := c.ask(fmt.Sprintf("orchestrator: %v\nRestart it now? (y/n)\n", other))
	if err != nil || !yes {
		return nil, errors.Join(other, err)
	}
	done, err := c.restart(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	for name, why := range done.Failed {
		fmt.Fprintf(c.out.stderr, "orchestrator: could not resume %s: %s\n", name, why)
	}
	return c.connect(ctx)
}

// screen runs the screen until the user quits. If open names a thread, its agent is focused.
func (c *cli) screen(ctx context.Context, cl *client.Client, open thread.ID) error {
	if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Terminal}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := connection.Ask(ctx, cl)
	info, err := api.Info.Do(ctx, cl, api.InfoRequest{})
	if err != nil {
		return err
	}
	outdated := ""
	if isOther(info) {
		outdated = info.Version
	}
	out, ok := c.out.terminal()
	if !ok {
		return errNoTerminal
	}
	cols, rows, err := term.GetSize(out.Fd())
	if err != nil {
		return errNoTerminal // or it is gone
	}
	if cols > vterm.MaxCols || rows > vterm.MaxRows { // the screen would allocate all of it
		return thread.Hint(fmt.Errorf("the terminal reports a size of %d×%d, but at most %d×%d is supported", cols, rows,
			vterm.MaxCols, vterm.MaxRows),
			"`stty cols 120 rows 36` sets a sane size")
	}
	at, err := c.standing()
	if err != nil {
		return err
	}
	colours := c.colours(out)
	glyphs := glyphsOf(c.config.Glyphs, c.environ)
	writer := paint.New(out, colours, cols, rows)
	writer.Show(glyphs)
	defer func() { _ = writer.Close() }() // stops painting; the terminal stays open
	pane := group.New(func() *terminal.Model { return terminal.New(dialer{cl}, writer.Spot()) })
	defer pane.Close()
	model := ui.New(ui.Config{
		Server: cl, First: first, Pane: pane, Project: c.project.Root, Folder: at.folder, Git: !info.NoRepository,
		Branch:  func() string { return git.Branch(c.project.Root) },
		Version: buildinfo.Version(),
		Agent:   c.config.Agent, Habits: habit.Open(c.stateHome(), c.configHome(), c.project.Root, c.config.Profiles),
		Plan: func(name string) (plan.Plan, error) { return readPlan(c.behind(), name) },
		Open: open, Problems: info.Problems, Theme: c.config.Theme, Profile: colours, Glyphs: glyphs, Turn: writer.Turn, Keys: c.config.Keys,
		Alert:  alert.Config{Ways: c.config.Notify, Kinds: c.config.Calls(), Focused: c.config.NotifyFocused},
		Editor: words(c.environ, "VISUAL", "EDITOR"), Pager: words(c.environ, "PAGER"), Private: c.project.StateDir(), Browse: remote.Browse,
		StartServer: c.ensureServer, Outdated: outdated, Restart: c.restartBehind,
	})
	defer model.Close()
	input, bursts := keyboard(c.stdin)
	filter := func(m tea.Model, msg tea.Msg) tea.Msg { return writer.Filter(m, bursts(msg)) }
	return draw(ctx, model, out, tea.WithInput(input), tea.WithOutput(writer),
		tea.WithEnvironment(c.environ), tea.WithColorProfile(colours), tea.WithFilter(filter))
}

// keyboard wraps standard input so that text that arrives at once can be told from single keys, by what messages are
// filtered with.
func keyboard(in io.Reader) (io.Reader, func(tea.Msg) tea.Msg) {
	if f, ok := in.(*os.File); ok {
		r := burst.NewReader(f)
		return r, r.Filter
	}
	return in, func(msg tea.Msg) tea.Msg { return msg }
}

// behind returns a copy that works behind the screen and prints nothing.
func (c *cli) behind() *cli {
	quiet := *c
	quiet.out.stderr, quiet.told, quiet.warned = io.Discard, true, true
	return &quiet
}

// restartBehind restarts the server with this program while the screen stays open.
func (c *cli) restartBehind(ctx context.Context, cols, rows int) (connection.Restarted, error) {
	c = c.behind()
	done, err := c.restart(ctx, cols, rows)
	out := connection.Restarted{Resumed: len(done.Resumed), Failed: done.Failed, Problems: done.warned}
	if err != nil {
		return out, err
	}
	cl, info, err := c.reach(ctx)
	if err == nil {
		cl.Close()
		out.Problems = append(info.Problems, out.Problems...)
	}
	return out, err
}

// ensureServer starts a server if none is running any more.
func (c *cli) ensureServer(ctx context.Context) error {
	cl, err := c.behind().connect(ctx)
	if err != nil {
		return err
	}
	cl.Close()
	return nil
}

// colours returns which colours the terminal supports; NO_COLOR and the theme "none" override it.
func (c *cli) colours(out *os.File) colorprofile.Profile {
	if c.config.Theme == "none" {
		return colorprofile.ASCII
	}
	return colorprofile.Detect(out, c.environ)
}

// words returns the words of the first of these variables that has any: a command.
func words(environ []string, names ...string) []string {
	for _, name := range names {
		if words := strings.Fields(thread.Lookup(environ, name)); len(words) > 0 {
			return words
		}
	}
	return nil
}

// dialer adapts the client to the pane.
type dialer struct{ *client.Client }

// Attach implements terminal.Attacher.
func (d dialer) Attach(ctx context.Context, id thread.ID, size api.Size) (terminal.Stream, error) {
	t, err := d.Client.Show(ctx, id, size)
	if err != nil {
		return nil, err
	}
	return t, nil
}
