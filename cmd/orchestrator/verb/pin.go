package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func pinVerb(c *cli) *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use: "pin <thread>", Short: "Pin a thread: keep it at the top, and never delete it automatically",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := api.Pin.Do(ctx, cl, api.PinRequest{Thread: args[0], On: !off}); err != nil {
				return err
			}
			return c.out.done(args[0], map[bool]string{true: "unpinned", false: "pinned"}[off])
		}),
	}
	cmd.Flags().BoolVar(&off, "off", false, "unpin the thread")
	return cmd
}
