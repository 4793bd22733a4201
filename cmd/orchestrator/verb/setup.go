package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func setupVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "setup <thread>", Short: "Run the project's setup in a thread's worktree again",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			var s thread.Status
			err := c.withWarnings(ctx, cl, func() (err error) {
				s, err = api.SetUp.Do(ctx, cl, api.Ref{Thread: args[0]})
				return err
			})
			if err != nil {
				return err
			}
			return c.out.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s is set up\n", s.Name) })
		}),
	}
}
