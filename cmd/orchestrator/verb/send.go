package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func sendVerb(c *cli) *cobra.Command {
	var detach, lines bool
	var t followOptions
	cmd := &cobra.Command{
		Use: "send <thread> <text>|-", Short: "Send a prompt to a thread and print the answer",
		Long: "Send a prompt to a thread and stream the answer; - reads the prompt from standard input. While the agent\n" +
			"is busy or there is a draft in its input, the prompt is queued. Exit codes: 0 answered; 4 waiting for you,\n" +
			"or the prompt is still queued after --timeout; 5 the agent did not finish, or not within --timeout.",
		Args: exactly("<thread>", "<text>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "do not wait for the answer")
	cmd.Flags().BoolVar(&lines, "lines", false, linesHelp)
	t.flags(c, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := t.check(c.out.json); err != nil {
			return err
		}
		text, err := promptText(c, args[1])
		if err != nil {
			return err
		}
		args[1] = text
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if detach {
				p, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: args[0], Text: args[1], Lines: lines})
				if err != nil {
					return err
				}
				return c.out.show(p, func(io.Writer) {})
			}
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Ask.Name(), Thread: args[0]}); err != nil {
				return err // before asking for what following needs
			}
			return sendTo(ctx, c, cl, t, api.AskRequest{Thread: args[0], Text: args[1], Lines: lines})
		})(cmd, args)
	}
	return cmd
}

// send sends a prompt and follows it: in a thread that runs without a terminal as its next execution.
func sendTo(ctx context.Context, c *cli, cl *client.Client, t followOptions, r api.AskRequest) error {
	s, err := api.Status.Do(ctx, cl, api.Ref{Thread: r.Thread})
	if err != nil {
		return err
	}
	if !s.Once.On || s.Execution != nil && !s.Run.Working() { // it is open in a terminal
		return c.follower(cl, t).ask(ctx, r)
	}
	r.Thread = string(s.ID)
	asking, stop := outlasting(ctx)
	defer stop()
	p, err := api.Ask.Do(asking, cl, r)
	if err != nil {
		return err
	}
	x, found, err := executionOf(asking, cl, s.ID, p.ID)
	if err != nil {
		return err
	}
	if !found {
		steered := false
		if x, steered, err = takesIt(asking, cl, s.ID, p); err != nil {
			return err
		}
		if found = steered; steered {
			fmt.Fprintln(c.out.stderr, x.Name+steeredWords)
		}
	}
	if !found { // a terminal was opened meanwhile
		return c.follower(cl, t).followFresh(ctx, s, p)
	}
	return followRun(ctx, c, cl, t, x, false)
}
