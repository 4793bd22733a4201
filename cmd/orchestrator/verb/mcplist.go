package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func mcpListVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "list", Short: "List the servers with what they cost", Args: exactly(),
		Long: "List the servers with what they cost: tools, tokens of their definitions, memory. With --thread, show which are\n" +
			"on for it, why, and when a switch takes effect.",
	}
	cmd.Flags().StringVar(&ref, "thread", "", "the thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		r, err := api.MCP.Do(ctx, cl, thread.MCPQuery{Thread: ref, Dir: c.here()})
		if err != nil {
			return err
		}
		return c.out.show(r, func(w io.Writer) { page.Servers(w, r, ref) })
	})
	return cmd
}
