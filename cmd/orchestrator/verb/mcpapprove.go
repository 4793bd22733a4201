package verb

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/mcpctl"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func mcpApproveVerb(c *cli) *cobra.Command {
	var hash, ref string
	var tools bool
	cmd := &cobra.Command{
		Use: "approve <server>", Short: "Accept exactly what a server starts", Args: exactly("<server>"),
		Long: "Show exactly what a server starts and, once you say yes, accept it. A change asks again. Without a terminal,\n" +
			"--hash names what you have read (`orchestrator mcp show` prints it). --tools accepts the definitions of its tools\n" +
			"that are withheld because they have changed. --thread accepts what is started for that thread, whose folder may\n" +
			"hold other files than the project's.",
	}
	cmd.Flags().StringVar(&ref, "thread", "", "as it would be started for this thread")
	cmd.Flags().StringVar(&hash, "hash", "", "accept it if it has this hash, without asking")
	cmd.Flags().BoolVar(&tools, "tools", false, "accept the definitions of its tools as they are now")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err != nil {
			return err
		}
		r := thread.MCPAct{Act: mcpctl.ActApprove, Server: args[0], Dir: c.here(), Thread: ref, Hash: d.Hash}
		switch {
		case tools:
			r.Act = mcpctl.ActApproveTools
			if r.Hash = d.ToolsHash; hash != "" {
				r.Hash = hash
			}
			page.Server(c.out.stderr, d)
		case hash != "":
			r.Hash = hash
		default:
			page.Launch(c.out.stderr, d)
		}
		if hash == "" {
			if !c.interactive() {
				return thread.Hint(thread.Kindf(thread.ErrRefused, "no terminal to ask on"),
					"read it above, then pass --hash "+r.Hash)
			}
			yes, err := c.ask("Accept it? (y/n)\n")
			if err != nil || !yes {
				return errors.Join(err, thread.Kindf(thread.ErrRefused, "not accepted"))
			}
		}
		d, err = api.ActMCP.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) { fmt.Fprintf(w, "%s is accepted as it is now\n", d.ID) })
	})
	return cmd
}
