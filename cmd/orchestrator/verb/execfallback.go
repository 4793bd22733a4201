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

func execFallback(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "fallback <execution>", Short: "Have the fallback of a failed execution go on: another model, or another agent",
		Long: "Have the fallback of a failed execution go on, as --fallback or [runs.fallback] names it. Another model goes on in\n" +
			"the same session; another agent in a fork of the thread, in the same folder, as an execution of its own.",
		Args: exactly("<execution>"), ValidArgsFunction: completeExecutions(c, 1, work.Failed),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.FallBackExecution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(x, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", x.Name, x.State) })
		}),
	}
}
