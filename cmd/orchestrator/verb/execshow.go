package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
)

func execShow(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show <execution>", Short: "Show everything about an execution", Args: exactly("<execution>"),
		ValidArgsFunction: completeExecutions(c, 1),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.Execution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			byID, err := threadNames(ctx, cl, x)
			if err != nil {
				return err
			}
			return c.out.show(x, func(w io.Writer) { page.Execution(w, x, byID, time.Now()) })
		}),
	}
}
