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
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

func taskList(c *cli) *cobra.Command {
	var states []string
	var all bool
	q := wave.ListRequest{Limit: 50}
	cmd := &cobra.Command{
		Use: "list", Short: "List tasks that wait or are at work, newest first", Args: exactly(),
		Long: "List tasks that are proposed, wait or are at work, newest first. Those that are at work, and all that have ended,\n" +
			"are also in `orchestrator wave list`.",
	}
	known := names([]plan.Status{plan.Proposed, plan.Pending, plan.InProgress, plan.Complete, plan.Failed, plan.Cancelled})
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "also those that have ended")
	f.StringSliceVar(&states, "status", nil, "only in these states: "+choices(known))
	f.StringVar(&q.Plan, "plan", "", "only for this `PLAN`")
	f.StringVar(&q.Session, "session", "", "only of this work session")
	f.StringVar(&q.Of, "of", "", "only those that came of splitting a text: the `TASK` that did")
	f.IntVarP(&q.Limit, "limit", "n", q.Limit, "maximum number of rows")
	offer(cmd, "status", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
	offer(cmd, "session", flagSessions(c))
	cmd.MarkFlagsMutuallyExclusive("all", "status")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if q.Limit < 1 {
			return usagef("--limit %d: must be 1 or more", q.Limit)
		}
		if !all && len(states) == 0 && q.Of == "" {
			q.Statuses = openTasks()
		}
		for _, s := range states {
			if !slices.Contains(known, s) {
				return usagef("--status %s: no such state. Use %s", s, choices(known))
			}
			q.Statuses = append(q.Statuses, plan.Status(s))
		}
		limit := q.Limit
		q.Limit = min(limit+1, mostTasks)
		list, err := api.Tasks.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest tasks", "task list -n 999")
		return c.out.show(list, func(w io.Writer) { page.Tasks(w, list, time.Now()) })
	})
	return cmd
}

func taskShow(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show <task>", Short: "Show a task with all that it says", Args: exactly("<task>"),
		ValidArgsFunction: completeTasks(c, 1),
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		list, err := api.Tasks.Do(ctx, cl, wave.ListRequest{Task: args[0]})
		if err != nil {
			return err
		}
		return c.out.show(list[0], func(w io.Writer) { page.Task(w, list[0], time.Now()) })
	})
	return cmd
}
