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

func historyBundles(c *cli) *cobra.Command {
	var q record.ProducedRequest
	cmd := &cobra.Command{
		Use: "bundles", Short: "Show which bundles of context produced successful results", Args: exactly(),
		Long: "Show which bundles of context produced what results, those with the most successes first: how often each was\n" +
			"given, how that ended, what it cost, how many files came of it, and how these were checked: pass and fail are\n" +
			"checks of ours; said is what nobody has checked.",
	}
	cmd.Flags().StringVar(&q.Type, "type", "", "only what agents of this type were given")
	offer(cmd, "type", flagTypes(c))
	cmd.Flags().StringVar(&q.Session, "session", "", "only of this work session")
	offer(cmd, "session", flagSessions(c))
	timeVar(cmd.Flags(), &q.Since, "since", "only since then")
	limitVar(cmd, &q.Limit, 20)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if q.Limit < 1 {
			return usagef("--limit %d: must be 1 or more", q.Limit)
		}
		list, err := api.HistoryBundles.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Produced(w, list, time.Now()) })
	})
	return cmd
}
