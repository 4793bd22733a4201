package verb

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
)

func inboxVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "inbox", Short: "List everything that is open for you, the most urgent first", Args: exactly(),
		Long: "List everything that is open for you in all threads, the most urgent first: questions of agents, what tasks of\n" +
			"plans ask (`approve` and `deny` answer it), prompts that were cut off, merges with conflicts, limits, offers, MCP\n" +
			"servers to accept, agents that can be resumed, answers that nobody has read.",
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			list, err := api.List.Do(ctx, cl, api.None{})
			if err != nil {
				return err
			}
			servers, err := api.MCP.Do(ctx, cl, thread.MCPQuery{})
			if err != nil {
				return err
			}
			tasks, err := api.WaveGlance.Do(ctx, cl, wave.GlanceRequest{})
			if err != nil {
				return err
			}
			items := thread.Inbox(list, tasks.Asked(), servers.Servers)
			if items == nil {
				items = []thread.InboxItem{}
			}
			return c.out.show(items, func(w io.Writer) {
				if len(items) == 0 {
					fmt.Fprintln(w, "nothing is open")
					return
				}
				page.Inbox(w, items, time.Now())
			})
		}),
	}
}
