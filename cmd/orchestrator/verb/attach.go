package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func attachVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "attach <thread>", Short: "Open the screen with a thread's agent focused", Args: exactly("<thread>"),
		ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Terminal}); err != nil {
				return err // before looking up the thread
			}
			s, err := api.Status.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			return c.screen(ctx, cl, s.ID)
		}),
	}
}
