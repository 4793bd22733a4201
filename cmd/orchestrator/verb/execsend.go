package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func execSend(c *cli) *cobra.Command {
	var detach bool
	var t followOptions
	cmd := &cobra.Command{
		Use: "send <execution> <text>|-", Short: "Ask the thread of an execution again: its next run",
		Long: "Ask the thread of an execution again and stream the answer; - reads the prompt from standard input. A run that\n" +
			"works takes it into its turn, if its CLI can; else it is the thread's next execution, with everything that was said\n" +
			"before. Which of them it is, is said.\n\n" + runCodes,
		Args: exactly("<execution>", "<text>"), ValidArgsFunction: completeExecutions(c, 1),
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "print the next execution's name and do not wait")
	t.flags(c, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := t.check(c.out.json); err != nil {
			return err
		}
		text, err := promptText(c, args[1])
		if err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.Execution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			asking, stop := outlasting(ctx)
			defer stop()
			p, err := api.SendExecution.Do(asking, cl, api.SendRequest{Execution: string(x.ID), Text: text})
			if err != nil {
				return err
			}
			next, found, err := executionOf(asking, cl, x.Thread, p.ID)
			steered := false
			if err == nil && !found {
				next, steered, err = takesIt(asking, cl, x.Thread, p)
			}
			switch {
			case err != nil:
				return err
			case steered && detach:
				return c.out.show(next, func(w io.Writer) { fmt.Fprintln(w, next.Name+steeredWords) })
			case steered:
				fmt.Fprintln(c.out.stderr, next.Name+steeredWords)
			case !found:
				return c.out.show(p, func(w io.Writer) {
					fmt.Fprintln(w, "the thread is open in a terminal: the prompt is typed there")
				})
			case detach:
				return c.out.show(next, func(w io.Writer) { fmt.Fprintln(w, next.Name) })
			}
			return followRun(ctx, c, cl, t, next, false)
		})(cmd, args)
	}
	return cmd
}
