package verb

import (
	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/mcpctl/bridge"
	"orchestrator/thread/api"
)

// mcpBridgeVerb connects an agent's MCP server process with the server of the project. It reads no configuration, so
// that it starts fast.
func mcpBridgeVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "mcp-bridge <socket>", Short: "Connect an agent with its MCP servers", Hidden: true, Args: exactly("<socket>"),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			return bridge.New(bridge.Config{
				Socket: args[0], Path: protocol.Prefix + api.ServeMCP, Token: session.Token(c.environ),
				TokenHeader: protocol.TokenHeader, In: c.stdin, Out: c.out.stdout,
			}).Run(cmd.Context())
		},
	}
}
