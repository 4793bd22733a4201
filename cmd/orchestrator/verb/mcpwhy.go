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

func mcpWhyVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "why <task>", Short: "Show which servers a task would switch on, and why", Args: exactly("<task>"),
	}
	cmd.Flags().StringVar(&ref, "thread", "", "for this thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		list, err := api.MCPWhy.Do(ctx, cl, thread.MCPTask{Thread: ref, Dir: c.here(), Text: args[0]})
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "no server")
			}
			for _, s := range list {
				switch {
				case s.On:
					fmt.Fprintf(w, "%s is switched on: %s\n", s.Server, s.Why)
				case s.Blocked != "":
					fmt.Fprintf(w, "%s is not switched on: %s, but %s\n", s.Server, s.Why, s.Blocked)
				default:
					fmt.Fprintf(w, "%s is suggested: %s\n", s.Server, s.Why)
				}
			}
		})
	})
	return cmd
}
