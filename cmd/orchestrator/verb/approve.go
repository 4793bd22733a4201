package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// approveVerb answers yes.
func approveVerb(c *cli) *cobra.Command {
	var a answering
	always := false
	cmd := &cobra.Command{
		Use: "approve <thread>", Short: "Approve what a thread's agent asks for", Args: exactly("<thread>"),
		Long: "Approve what a thread's agent asks for in a dialog: a command, a file, a plan, a folder. TASK/NODE is a gate of a\n" +
			"plan, or what its task asks about an agent.\n\n" + answerLong,
		ValidArgsFunction: c.completeThreads,
	}
	a.flags(cmd)
	cmd.Flags().BoolVar(&always, "always", false, "and have it not ask again for what is alike, as its dialog offers it")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q, ok := nodeOf(args[0]); ok {
			q.Yes = true
			return answerNode(ctx, c, cl, q)
		}
		means := thread.Approve
		if always {
			means = thread.ApproveAlways
		}
		return c.answer(ctx, cl, args[0], thread.AnswerRequest{Means: means}, a)
	})
	return cmd
}
