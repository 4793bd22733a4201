package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/mcpctl"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// mcpActVerb is a verb that does something to a server.
func mcpActVerb(c *cli, verb, act, short string) *cobra.Command {
	var ref string
	cmd := &cobra.Command{Use: verb + " <server>", Short: short, Args: exactly("<server>")}
	if act == mcpctl.ActReject || act == mcpctl.ActRevoke {
		cmd.Flags().StringVar(&ref, "thread", "", "as it would be started for this thread")
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err == nil {
			d, err = api.ActMCP.Do(ctx, cl, thread.MCPAct{Act: act, Server: args[0], Dir: c.here(), Thread: ref, Hash: d.Hash})
		}
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) {
			if d.Page != "" {
				fmt.Fprintf(w, "sign in on this page, if the browser has not opened it:\n%s\n", d.Page)
				return
			}
			fmt.Fprintf(w, "%s: %s\n", d.ID, mcpState(d.MCPServer))
		})
	})
	return cmd
}

func mcpState(s thread.MCPServer) string {
	if s.Reason != "" {
		return s.State + ", " + s.Reason
	}
	return s.State
}
