package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

func execRetry(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "retry <execution>", Short: "Try a failed execution again, in its agent's session if it had got somewhere",
		Args: exactly("<execution>"), ValidArgsFunction: completeExecutions(c, 1, work.Failed),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.RetryExecution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(x, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", x.Name, x.State) })
		}),
	}
}
