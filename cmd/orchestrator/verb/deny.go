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
		Long:              "Deny what a thread's agent asks for in a dialog. A reason follows as a prompt.\n\n" + answerLong,
		ValidArgsFunction: c.completeThreads,
	}
	a.flags(cmd)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		return c.answer(ctx, cl, args[0], thread.AnswerRequest{Means: thread.Deny, Text: strings.TrimSpace(cmp.Or(append(args, "")[1:]...))}, a)
	})
	return cmd
}
