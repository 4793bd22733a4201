package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func switchVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "switch <thread>", Short: "Show a thread on the open screens",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			s, err := api.Switch.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		}),
	}
}
