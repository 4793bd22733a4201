package verb

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// denyVerb answers no.
func denyVerb(c *cli) *cobra.Command {
	var a answering
	cmd := &cobra.Command{
		Use: "deny <thread> [reason]", Short: "Deny what a thread's agent asks for", Args: between(1, 2, "<thread>", "[reason]"),
		Long: "Deny what a thread's agent asks for in a dialog. A reason follows as a prompt. TASK/NODE is\n" +
			"a gate of a plan, or what its task asks about an agent.\n\n" + answerLong,
		ValidArgsFunction: c.completeThreads,
	}
	a.flags(cmd)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q, ok := nodeOf(args[0]); ok {
			q.Text = strings.TrimSpace(append(args, "")[1])
			return answerNode(ctx, c, cl, q)
		}
		return c.answer(ctx, cl, args[0], thread.AnswerRequest{Means: thread.Deny, Text: strings.TrimSpace(cmp.Or(append(args, "")[1:]...))}, a)
	})
	return cmd
}
