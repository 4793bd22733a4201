package main

import (
	"context"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func (c *cli) attachVerb() *cobra.Command {
	return &cobra.Command{
		Use: "attach <thread>", Short: "Open the screen with a thread's agent in focus", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			s, err := find(ctx, cl, args[0])
			if err != nil {
				return err
			}
			return c.screen(ctx, cl, string(s.ID))
		}),
	}
}

// runUI opens the screen.
func (c *cli) runUI(ctx context.Context) error {
	if err := c.terminalFit(); err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		return c.screen(ctx, cl, "")
	})(commandWith(ctx), nil)
}

func commandWith(ctx context.Context) *cobra.Command {
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	return cmd
}

// terminalFit refuses to draw where nothing can be drawn.
func (c *cli) terminalFit() error {
	in, inOK := c.stdin.(*os.File)
	out, outOK := c.stdout.(*os.File)
	if !inOK || !outOK || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return errNoTerminal
	}
	if name := lookup(c.environ, "TERM"); name == "" || name == "dumb" {
		return fmt.Errorf("the terminal says it is %q, which cannot be drawn on: set TERM (such as xterm-256color), or use the verbs (`orchestrator --help`)", name)
	}
	return nil
}

// screen draws until the person leaves.
func (c *cli) screen(_ context.Context, _ *client.Client, _ string) error {
	return thread.ErrUnsupported
}
