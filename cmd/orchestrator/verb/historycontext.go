package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func historyContext(c *cli) *cobra.Command {
	var q record.ContextRequest
	cmd := &cobra.Command{
		Use: "context <type>", Short: "Show what the last agents of a type were given, and what came of it", Args: exactly("<type>"), ValidArgsFunction: oneOf(flagTypes(c)),
		Long: "Show what the last agent of a type was given, such as the last debugger: its bundle, each piece of context with\n" +
			"its tokens and whether it was sent, and what it was asked; then what came of it. A type is what the person or the\n" +
			"CLI calls the agent; one that has none is of the type of its program.",
		Example: "orchestrator history context debugger -n 3 --full",
	}
	cmd.Flags().StringVar(&q.Session, "session", "", "only of this work session")
	offer(cmd, "session", flagSessions(c))
	cmd.Flags().BoolVar(&q.Full, "full", false, "all of what they were asked, not only its beginning")
	timeVar(cmd.Flags(), &q.Since, "since", "only since then")
	limitVar(cmd, &q.Limit, 1)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q.Limit < 1 {
			return usagef("--limit %d: must be 1 or more", q.Limit)
		}
		q.Type = args[0]
		list, err := api.HistoryContext.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Given(w, list) })
	})
	return cmd
}
