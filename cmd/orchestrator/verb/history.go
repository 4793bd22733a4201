package verb

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func historyVerb(c *cli) *cobra.Command {
	var q record.HistoryRequest
	cmd := &cobra.Command{
		Use: "history [words]", Short: "Find what ran in the record: who touched a file, when, for what, and what it cost",
		Long: "Find executions of all kinds, newest first, by words in their name, type, scope, prompt, answer and the paths of\n" +
			"the files that came of them, with what came of each. Without words it lists the newest. An agent sees its own:\n" +
			"those that it asked for or recorded, and those of its thread.\n\n" +
			"orchestrator history trace shows one of them with all that belongs to it, and what is wrong with it.",
		Example: "  orchestrator history vector search\n  orchestrator history --file lib/search.ts --since 3d",
	}
	cmd.Flags().StringVar(&q.Path, "file", "", "only what touched this file of the project")
	cmd.Flags().StringVar(&q.Session, "session", "", "only of this work session")
	offer(cmd, "session", flagSessions(c))
	cmd.Flags().StringVar(&q.Task, "task", "", "only of this task")
	cmd.Flags().StringVar(&q.Type, "type", "", "only of agents of this type, such as debugger")
	offer(cmd, "type", flagTypes(c))
	cmd.Flags().StringVarP(&q.Agent, "agent", "a", "", "only of this agent's program")
	cmd.Flags().StringVar(&q.Bundle, "bundle", "", "only what was given this bundle")
	offer(cmd, "bundle", flagBundles(c))
	timeVar(cmd.Flags(), &q.Since, "since", "only since then")
	timeVar(cmd.Flags(), &q.Until, "until", "only until then")
	limitVar(cmd, &q.Limit, 20)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q.Limit < 1 {
			return usagef("--limit %d: must be 1 or more", q.Limit)
		}
		shown := q.Limit
		q.Path = inProject(q.Path, c.project.Root)
		q.Words, q.Limit = strings.Join(args, " "), min(q.Limit+1, mostAnswers)
		list, err := api.History.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		list = first(c, list, shown, "newest executions", strings.TrimSpace("history -n 1000 "+q.Words))
		return c.out.show(list, func(w io.Writer) { page.History(w, list, time.Now()) })
	})
	cmd.AddCommand(historyContext(c), historyWho(c), historyBundles(c), historyTrace(c))
	return cmd
}
