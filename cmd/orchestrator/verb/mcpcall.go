package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func mcpCallVerb(c *cli) *cobra.Command {
	var r thread.MCPCall
	cmd := &cobra.Command{
		Use: "call <server> <tool> [<arguments>]", Short: "Call a tool of a server and print its result",
		Args: between(2, 3, "<server>", "<tool>", "[<arguments>]"),
		Long: "Call a tool of a server and print its result as JSON. The arguments are a JSON object. A result that says that " +
			"the tool has failed is printed too, and the exit code is 1.",
	}
	cmd.Flags().StringVar(&r.Thread, "thread", "", "use the server of this thread, in its folder")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Dir = c.here()
		if r.Server, r.Tool = args[0], args[1]; len(args) > 2 {
			r.Arguments = args[2]
		}
		result, err := api.CallMCP.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		if err := c.out.show(result, func(w io.Writer) { fmt.Fprintln(w, result.Result) }); err != nil || !failed(result) {
			return err
		}
		return &silentError{exitcode.Error}
	})
	return cmd
}

// failed reports whether a tool says that it has failed.
func failed(r thread.MCPResult) bool {
	var said struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal([]byte(r.Result), &said) == nil && said.IsError
}
