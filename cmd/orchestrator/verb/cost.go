package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/spending"
)

func costVerb(c *cli) *cobra.Command {
	var by string
	var days int
	cmd := &cobra.Command{
		Use: "cost", Short: "Show what was spent today, this week and this month, and the limits of providers", Args: exactly(),
		Long: "Show what was spent today, this week (since Monday) and this month, by model, agent, thread or work session, what\n" +
			"masking saved of it, and the limits that providers reported. It is what the gateway saw: an agent that asks its provider\n" +
			"directly is not counted. ? stands for what has no known price.",
	}
	cmd.Flags().StringVar(&by, "by", string(spending.ByModel), "agent, model, thread or session, which is the work session")
	cmd.Flags().IntVar(&days, "days", 0, "list the last `N` days instead of this month")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		q := spending.Query{By: spending.By(by), Days: days}
		switch {
		case days < 0 || days > spending.KeptDays:
			return usagef("--days %d: use 1 to %d", days, spending.KeptDays)
		case by == "" || q.Check() != nil:
			return usagef("--by %s: use agent, model, thread or session", by)
		}
		r, err := api.Cost.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(r, func(w io.Writer) { page.Costs(w, r, time.Now()) })
	})
	offer(cmd, "by", cobra.FixedCompletions([]cobra.Completion{
		string(spending.ByAgent), string(spending.ByModel), string(spending.ByThread), string(spending.BySession),
	}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
