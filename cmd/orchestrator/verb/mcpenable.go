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

func mcpSwitchVerb(c *cli, on bool) *cobra.Command {
	r := thread.MCPChange{On: on}
	cmd := &cobra.Command{
		Use: "disable <server> [<tool>]", Short: "Switch a server or a tool off for a thread",
		Args: between(1, 2, "<server>", "[<tool>]"),
		Long: "Switch a server or one of its tools off for a thread. While a turn runs, a server stays on until the turn ends;\n" +
			"--now switches it off at once.",
	}
	if on {
		cmd.Use, cmd.Short = "enable <server> [<tool>]", "Switch a server or a tool on for a thread"
		cmd.Long = "Switch a server or one of its tools on for a thread, from the agent's next model request on."
	} else {
		cmd.Flags().BoolVar(&r.Force, "now", false, "do not wait for the end of the turn")
	}
	cmd.Flags().StringVar(&r.Thread, "thread", "", "the thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if r.Thread == "" {
			return usagef("which thread? --thread THREAD")
		}
		if r.Server = args[0]; len(args) > 1 {
			r.Tool = args[1]
		}
		report, err := api.SwitchMCP.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) { page.Servers(w, report, r.Thread) })
	})
	return cmd
}
