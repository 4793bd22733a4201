package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
)

func deliverableList(c *cli) *cobra.Command {
	q := wave.HandedRequest{Limit: 100}
	cmd := &cobra.Command{
		Use: "list [task]", Short: "List what agents of plans have handed over, newest first", Args: between(0, 1, "[task]"),
		Long: "List what agents of plans have handed over, newest first: the current versions, with --all each of them. An agent of a\n" +
			"plan sees what it reads, and its own.",
	}
	cmd.Flags().StringVar(&q.Agent, "agent", "", "only of this `AGENT` of the plan")
	cmd.Flags().BoolVar(&q.All, "all", false, "older versions as well")
	cmd.Flags().IntVarP(&q.Limit, "limit", "n", q.Limit, "maximum number of rows")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q.Limit < 1 || q.Limit > mostAnswers {
			return usagef("--limit %d: must be 1 to %d", q.Limit, mostAnswers)
		}
		if len(args) > 0 {
			q.Task = args[0]
		}
		list, err := api.Deliverables.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Deliverables(w, list) })
	})
	return cmd
}
