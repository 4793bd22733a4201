package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func renameVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "rename <thread> <name>", Short: "Rename a thread",
		Args: exactly("<thread>", "<name>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			s, err := api.Rename.Do(ctx, cl, api.RenameRequest{Thread: args[0], Name: args[1]})
			if err != nil {
				return err
			}
			return c.out.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		}),
	}
}
