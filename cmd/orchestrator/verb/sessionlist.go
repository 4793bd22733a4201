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
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func sessionList(c *cli) *cobra.Command {
	var states []string
	limit := 50
	cmd := &cobra.Command{Use: "list", Short: "List work sessions, newest first", Args: exactly()}
	all := names([]work.SessionStatus{
		work.SessionPlanning, work.SessionExecuting, work.SessionCompleted, work.SessionFailed, work.SessionCancelled,
	})
	cmd.Flags().StringSliceVar(&states, "status", nil, "only in these states: "+choices(all))
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "maximum number of rows")
	offer(cmd, "status", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if limit < 1 {
			return usagef("--limit %d: must be 1 or more", limit)
		}
		q := record.QuerySessions{Limit: limit + 1}
		for _, s := range states {
			if !slices.Contains(all, s) {
				return usagef("--status %s: no such state. Use %s", s, choices(all))
			}
			q.Statuses = append(q.Statuses, work.SessionStatus(s))
		}
		list, err := api.Sessions.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest work sessions", "session list -n 1000")
		return c.out.show(list, func(w io.Writer) { page.Sessions(w, list, time.Now()) })
	})
	return cmd
}
