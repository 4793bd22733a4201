package verb

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func statsVerb(c *cli) *cobra.Command {
	var q record.StatsRequest
	var by string
	cmd := &cobra.Command{
		Use: "stats", Short: "Sum up what ran: runs, success, tokens, cost and time by agent, type, model, bundle, session or day", Args: exactly(),
		Long: "Sum up executions of all kinds: how many there were, how many percent of those that ended have completed, tokens\n" +
			"read (of these from a cache) and written, cost and time. ? stands for a cost that is not known. What a sub-agent\n" +
			"used that a CLI started by itself is a part of what the execution used that it belongs to, and is counted once.",
	}
	cmd.Flags().StringVar(&by, "by", string(work.StatByType), "type, agent, model, bundle, session, origin or day")
	cmd.Flags().StringVar(&q.Session, "session", "", "only of this work session")
	offer(cmd, "session", flagSessions(c))
	cmd.Flags().StringVar(&q.Type, "type", "", "only of agents of this type")
	offer(cmd, "type", flagTypes(c))
	timeVar(cmd.Flags(), &q.Since, "since", "only since then")
	timeVar(cmd.Flags(), &q.Until, "until", "only until then")
	offer(cmd, "by", cobra.FixedCompletions(names(record.Grouped()), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if q.By = work.StatBy(by); !slices.Contains(record.Grouped(), q.By) {
			return usagef("--by %s: use %s", by, choices(names(record.Grouped())))
		}
		sums, err := api.Stats.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(sums, func(w io.Writer) { page.Stats(w, sums) })
	})
	return cmd
}
