package verb

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func stageTouchVerb(c *cli) *cobra.Command {
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "touch <token>", Short: "Keep staged data longer: restart its time to live", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
	}
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long to keep it from now; by default as long as when it was staged")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.StageTouch.Do(ctx, cl, api.TouchRequest{Token: args[0], TTL: ttl})
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) {
			fmt.Fprintf(w, "%s: kept until %s\n", d.Token, d.Expires.Local().Format(time.DateTime))
		})
	})
	return cmd
}
