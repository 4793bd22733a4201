package verb

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func checkpointShow(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show <thread> [turn or checkpoint]", Short: "Print what was said in a turn",
		Args: between(1, 2, "<thread>", "[turn or checkpoint]"), ValidArgsFunction: c.completePoints(1),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			entries, err := api.Turn.Do(ctx, cl, api.TurnRequest{Thread: args[0], At: second(args)})
			if err != nil {
				return err
			}
			return c.out.show(entries, func(w io.Writer) {
				for _, e := range entries {
					head := string(e.Kind)
					if e.Tool != "" {
						head += " " + e.Tool
					}
					fmt.Fprintf(w, "── %s\n%s\n", head, strings.TrimRight(e.Text, "\n"))
				}
			})
		}),
	}
}
