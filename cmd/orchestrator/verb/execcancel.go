package verb

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

func execCancel(c *cli) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "cancel <executions...>", Short: "Cancel executions: queued ones never start, running ones end within a second",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactly("<executions...>")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: completeExecutions(c, mostPoints, append(work.OpenStates(), work.Lost)...),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		list := []work.Execution{}
		var failed error
		for _, ref := range args { // each is tried: of several, one that has ended must not keep the others running
			x, err := api.CancelExecution.Do(ctx, cl, api.CancelRequest{Execution: ref, Reason: reason})
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			list = append(list, x)
		}
		if failed != nil && len(list) == 0 {
			return failed
		}
		return errors.Join(c.out.show(list, func(w io.Writer) {
			for _, x := range list {
				fmt.Fprintf(w, "%s: %s\n", x.Name, x.State)
			}
		}), failed)
	})
	return cmd
}
