package verb

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func sessionComplete(c *cli) *cobra.Command {
	var q record.CompleteSession
	var name string
	cmd := &cobra.Command{
		Use: "complete [session]", Short: "End a work session", Args: between(0, 1, "[session]"), ValidArgsFunction: completeSessions(c),
		Long: "End a work session: nothing is added to it any more. Executions that were written down by hand and are not\n" +
			"completed are named; they can still be.",
	}
	all := names([]work.SessionStatus{work.SessionCompleted, work.SessionFailed, work.SessionCancelled})
	cmd.Flags().StringVar(&name, "session", "", "the work session, if it is no argument")
	cmd.Flags().StringVar((*string)(&q.Status), "status", string(work.SessionCompleted), "how it ended: "+choices(all))
	offer(cmd, "status", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	spelled(cmd, map[string]string{"session-id": "session"})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.Session, err = argOr(cmd, args, "session", name); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return completeSession(ctx, c, cl, q) })(cmd, args)
	}
	return cmd
}

// completeSession ends a work session, and says what of it is open.
func completeSession(ctx context.Context, c *cli, cl *client.Client, q record.CompleteSession) error {
	s, err := api.CompleteSession.Do(ctx, cl, q)
	if err != nil {
		return err
	}
	sayWarnings(c, s.Warnings)
	if len(s.Open) > 0 {
		fmt.Fprintf(c.out.stderr, "orchestrator: not completed: %s. Write down how they ended: orchestrator exec complete %s\n",
			strings.Join(s.Open, ", "), s.Open[0])
	}
	return c.out.show(s, func(w io.Writer) { page.SessionLine(w, s.Session) })
}
