package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func mcpLogsVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "logs <server>", Short: "Print the last lines of a server's log", Args: exactly("<server>"),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here()})
			if err != nil {
				return err
			}
			return c.out.show(d.Log, func(w io.Writer) {
				for _, line := range d.Log {
					fmt.Fprintln(w, line)
				}
			})
		}),
	}
}
