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

func stageListVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List staged data, newest first", Args: exactly(),
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			list, err := api.StageList.Do(ctx, cl, api.None{})
			if err != nil {
				return err
			}
			return c.out.show(list, func(w io.Writer) { page.StagedList(w, list, time.Now()) })
		}),
	}
}
