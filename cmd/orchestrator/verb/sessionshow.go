package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func sessionShow(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show <session>", Short: "Show a work session with its tasks and executions, and what they cost", Args: exactly("<session>"),
		ValidArgsFunction: completeSessions(c),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			v, err := api.Session.Do(ctx, cl, record.SessionRef{Session: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(v, func(w io.Writer) { page.Session(w, v, time.Now()) })
		}),
	}
}
