package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
)

func waveCancel(c *cli) *cobra.Command {
	var q wave.TaskRef
	cmd := &cobra.Command{
		Use: "cancel <task>", Short: "End all agents of a task, or one; what is handed over stays", Args: exactly("<task>"), ValidArgsFunction: completeTasks(c, 1),
	}
	cmd.Flags().StringVar(&q.Agent, "agent", "", "only this `AGENT` of the plan")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		q.Task = args[0]
		v, err := api.CancelWave.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(v, func(w io.Writer) { page.Wave(w, v, false) })
	})
	return cmd
}

func waveRetry(c *cli) *cobra.Command {
	var q wave.RetryRequest
	var from string
	var follow bool
	cmd := &cobra.Command{
		Use: "retry <task>", Short: "Begin again what has failed of a task, or one agent", Args: exactly("<task>"), ValidArgsFunction: completeTasks(c, 1),
		Long: "Begin again what has failed of a task, one agent with --agent, or one and all that follow on it with --from. What an\n" +
			"agent has handed over stays current until it hands over something else; what has read that is stale then.",
	}
	f := cmd.Flags()
	f.StringVar(&q.Agent, "agent", "", "only this `AGENT` of the plan")
	f.StringVar(&from, "from", "", "this `AGENT` and all that follow on it")
	f.BoolVarP(&q.Agreed, "yes", "y", false, "also if what reads it is done already")
	f.BoolVarP(&follow, "follow", "f", false, "print what happens until it ends")
	cmd.MarkFlagsMutuallyExclusive("agent", "from")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		q.Task = args[0]
		if from != "" {
			q.Agent, q.From = from, true
		}
		v, err := api.RetryWave.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		if follow {
			return followWave(ctx, c, cl, v)
		}
		return c.out.show(v, func(w io.Writer) { page.Wave(w, v, false) })
	})
	return cmd
}
