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

func mcpShowVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "show <server>", Short: "Show what a server starts, its tools and patterns", Args: exactly("<server>"),
	}
	cmd.Flags().StringVar(&ref, "thread", "", "show what is on for this thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) { page.Server(w, d) })
	})
	return cmd
}
