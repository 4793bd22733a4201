package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func unstageVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "unstage <token>", Short: "Remove staged data now", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens, PersistentPreRunE: c.ofThread,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			d, err := api.Unstage.Do(ctx, cl, api.StagedRef{Token: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(map[string]string{"token": string(d.Token), "done": "unstaged"},
				func(w io.Writer) { fmt.Fprintf(w, "%s: unstaged\n", d.Token) })
		}),
	}
}
