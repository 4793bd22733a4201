package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func gcVerb(c *cli) *cobra.Command {
	var r thread.CollectRequest
	cmd := &cobra.Command{
		Use: "gc", Short: "Delete archived and deleted threads past the retention limits for good", Args: exactly(),
	}
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only list what would be deleted")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		done, err := api.Collect.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(done, func(w io.Writer) {
			for _, g := range done.Threads {
				fmt.Fprintf(w, "%s  %s  %s\n", g.Name, thread.Bytes(g.Bytes), g.Why)
			}
			page.Notes(w, done.Notes)
			word := "freed"
			if r.DryRun {
				word = "would free"
			}
			fmt.Fprintf(w, "%d thread(s), %s %s\n", len(done.Threads), word, thread.Bytes(done.Freed))
		})
	})
	return cmd
}
