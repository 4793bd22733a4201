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

func execQuery(c *cli) *cobra.Command {
	var q record.QueryExecutions
	cmd := &cobra.Command{
		Use: "query", Short: "Query executions of all kinds: runs, terminals, sub-agents, and those by hand", Args: exactly(),
		Long: "Query executions of all kinds that have begun, newest first: runs, terminals, the sub-agents that agents start by\n" +
			"themselves, and what was written down by hand. JSON has the names of the view agent_executions, and more.",
	}
	f := cmd.Flags()
	f.StringVar(&q.Session, "session", "", "only of this work session")
	f.StringVar(&q.Task, "task", "", "with --session: only of its task with this title")
	f.StringVar(&q.Type, "type", "", "only of this type of agent")
	offer(cmd, "type", flagTypes(c))
	offer(cmd, "session", flagSessions(c))
	spelled(cmd, map[string]string{"session-id": "session", "agent-type": "type"})
	limit := 50
	states := names([]work.Status{work.StatusDeployed, work.StatusCompleted, work.StatusFailed})
	origins := names([]work.Origin{work.OriginOurs, work.OriginNative, work.OriginHand})
	f.StringVar((*string)(&q.Status), "status", "", "only "+choices(states))
	f.StringVar((*string)(&q.Origin), "origin", "", "only those of which this program, an agent's CLI or somebody's word tells: "+choices(origins))
	timeVar(f, &q.Since, "since", "only those that began then or later")
	timeVar(f, &q.Until, "until", "only those that began before")
	f.IntVarP(&limit, "limit", "n", limit, "maximum number of rows")
	offer(cmd, "status", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	offer(cmd, "origin", cobra.FixedCompletions(origins, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		switch {
		case limit < 1 || limit > mostQueried:
			return usagef("--limit %d: must be between 1 and %d", limit, mostQueried)
		case q.Status != "" && !slices.Contains(states, string(q.Status)):
			return usagef("--status %s: no such state. Use %s", q.Status, choices(states))
		case q.Origin != "" && !slices.Contains(origins, string(q.Origin)):
			return usagef("--origin %s: no such origin. Use %s", q.Origin, choices(origins))
		}
		q.Limit = limit + 1
		list, err := api.QueryExecutions.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest executions", "exec query -n 999")
		return c.out.show(list, func(w io.Writer) { page.Rows(w, list, time.Now()) })
	})
	return cmd
}

// mostQueried is how many rows a query returns at most.
const mostQueried = 999
