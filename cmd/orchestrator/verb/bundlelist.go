package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func bundleList(c *cli) *cobra.Command {
	var q record.BundlesRequest
	limit := 50
	cmd := &cobra.Command{Use: "list", Short: "List bundles, newest first", Args: exactly()}
	cmd.Flags().StringVar(&q.Session, "session", "", "only of this work session")
	offer(cmd, "session", flagSessions(c))
	cmd.Flags().StringVar(&q.AgentType, "agent-type", "", "only for this kind of agent")
	offer(cmd, "agent-type", flagTypes(c))
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "maximum number of rows")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if limit < 1 {
			return usagef("--limit %d: must be 1 or more", limit)
		}
		q.Limit = limit + 1
		list, err := api.Bundles.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest bundles", "bundle list -n 1000")
		return c.out.show(list, func(w io.Writer) { page.Bundles(w, list, time.Now()) })
	})
	return cmd
}
