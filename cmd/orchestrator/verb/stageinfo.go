package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
)

func stageInfoVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "info <token>", Short: "Describe staged data and show its first lines", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			info, err := api.StageInfo.Do(ctx, cl, api.StagedRef{Token: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(info, func(w io.Writer) { page.Staged(w, info, time.Now()) })
		}),
	}
}
