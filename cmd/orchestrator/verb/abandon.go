package verb

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func abandonVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "abandon <thread> <reason>", Short: "Abandon a thread, with a reason",
		Args: exactly("<thread>", "<reason>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return &usageError{err: errors.New("the reason is empty")}
			}
			if err := api.Abandon.Do(ctx, cl, api.AbandonRequest{Thread: args[0], Reason: args[1]}); err != nil {
				return err
			}
			return c.out.done(args[0], "abandoned")
		}),
	}
}
