package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func mcpHealthVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Show the health of the servers", Args: exactly(),
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			r, err := api.MCP.Do(ctx, cl, thread.MCPQuery{Dir: c.here()})
			if err != nil {
				return err
			}
			return c.out.show(r, func(w io.Writer) {
				var t page.Columns
				t.Row("SERVER", "STATE", "PROCESS", "MEMORY", "STARTS", "LAST CALL", "REASON")
				for _, s := range r.Servers {
					pid := "-"
					if s.PID > 0 {
						pid = fmt.Sprint(s.PID)
					}
					t.Row(s.ID, s.State, pid, page.Dash(page.Memory(s)), fmt.Sprint(s.Starts), page.Called(s), page.Dash(s.Reason))
				}
				t.Print(w)
			})
		}),
	}
}
