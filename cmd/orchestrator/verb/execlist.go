package verb

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

func execList(c *cli) *cobra.Command {
	var r api.ExecutionsRequest
	var states []string
	limit := 50
	cmd := &cobra.Command{
		Use: "list", Short: "List executions, newest first", Args: exactly(),
		Long: "List executions, newest first: each is one prompt of a thread that runs without a terminal.\n\n" +
			"States: queued, deployed (being started), running, needs_input; completed, failed, cancelled, lost (its server\n" +
			"died meanwhile). With --all also terminals, sub-agents, and what was written down by hand; \"exec query\" selects\n" +
			"among those.",
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only in these states, such as queued,running")
	cmd.Flags().StringVarP(&r.Thread, "thread", "t", "", "only of this thread")
	cmd.Flags().BoolVar(&r.All, "all", false, "list executions of all kinds")
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "maximum number of rows")
	offer(cmd, "thread", c.completeThreads)
	offer(cmd, "state", cobra.FixedCompletions(names(work.States()), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if limit < 1 {
			return usagef("--limit %d: must be 1 or more", limit)
		}
		for _, s := range states {
			if !slices.Contains(work.States(), work.State(s)) {
				return usagef("--state %s: no such state. States: %s", s, choices(names(work.States())))
			}
			r.States = append(r.States, work.State(s))
		}
		r.Limit = limit + 1
		list, err := api.Executions.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest executions", "exec list -n 1000")
		byID, err := threadNames(ctx, cl, list...)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Executions(w, list, byID, time.Now()) })
	})
	return cmd
}
