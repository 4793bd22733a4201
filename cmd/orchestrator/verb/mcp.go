package verb

import (
	"github.com/spf13/cobra"

	"orchestrator/mcpctl"
)

// mcpVerb sees and changes the MCP servers of threads.
func mcpVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "See and switch the MCP servers of threads",
		Long: "See and switch the MCP servers of threads. Agents get one server, which passes on those that are switched on\n" +
			"for their thread. Servers are read from .mcp.json and from the agents' own files; what a repository brings is\n" +
			"not started before you accept it.",
	}
	cmd.AddCommand(mcpListVerb(c), mcpShowVerb(c), mcpSwitchVerb(c, true), mcpSwitchVerb(c, false),
		mcpActVerb(c, "restart", mcpctl.ActRestart, "Restart a server"), mcpHealthVerb(c), mcpWhyVerb(c),
		mcpApproveVerb(c), mcpActVerb(c, "reject", mcpctl.ActReject, "Do not ask about a server again"),
		mcpActVerb(c, "revoke", mcpctl.ActRevoke, "Withdraw the approval or rejection of a server, and stop it"),
		mcpActVerb(c, "login", mcpctl.ActSignIn, "Sign in to a remote server in the browser"),
		mcpLogsVerb(c), mcpCallVerb(c))
	return cmd
}
