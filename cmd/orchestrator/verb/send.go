package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// mostTyped is the maximum size of a prompt in bytes.
const mostTyped = 1 << 20

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
		if len(args) > 1 && args[1] == "-" {
			text, err := io.ReadAll(io.LimitReader(c.stdin, mostTyped+1))
			if err != nil {
				return fmt.Errorf("read the prompt from standard input: %w", err)
			}
			if len(text) > mostTyped {
				return thread.Hint(fmt.Errorf("standard input exceeds the limit of %d bytes for a prompt: %w", mostTyped,
					thread.ErrInvalid),
					"put the text in a file and refer to that in the prompt")
			}
			args[1] = string(text)
		}
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
			return c.follower(cl, t).ask(ctx, api.AskRequest{Thread: args[0], Text: args[1], Lines: lines})
		})(cmd, args)
	}
	return cmd
}
