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

func execResume(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "resume <execution>", Short: "Go on with a lost execution, in its agent's own session if that can be resumed",
		Args: exactly("<execution>"), ValidArgsFunction: completeExecutions(c, 1, work.Lost),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.ResumeExecution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(x, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", x.Name, x.State) })
		}),
	}
}
