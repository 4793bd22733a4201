package verb

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func historyWho(c *cli) *cobra.Command {
	var q record.WhoRequest
	cmd := &cobra.Command{
		Use: "who <task>", Short: "Show which agents worked on a task or in a work session, in order, and what they produced", Args: exactly("<task>"),
		Long: "Show which agents worked on a task, by its title, or in a work session, by its name: oldest first, with what came\n" +
			"of each. If nothing is called so, those are shown that have the words.",
	}
	cmd.Flags().StringVar(&q.Session, "session", "", "the work session of the task, if several have one of that title")
	offer(cmd, "session", flagSessions(c))
	limitVar(cmd, &q.Limit, 100)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q.Limit < 1 {
			return usagef("--limit %d: must be 1 or more", q.Limit)
		}
		q.Of = args[0]
		who, err := api.HistoryWho.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		if who.More {
			fmt.Fprintf(c.out.stderr, "orchestrator: showing the newest %d; --limit shows more\n", len(who.Worked))
		}
		return c.out.show(who, func(w io.Writer) { page.Who(w, q.Of, who, time.Now()) })
	})
	return cmd
}
