package verb

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

func waveStatus(c *cli) *cobra.Command {
	var follow bool
	var q wave.TaskRef
	cmd := &cobra.Command{
		Use: "status <task>", Short: "Show how a task stands: its agents, what each waits for and has handed over", Args: exactly("<task>"), ValidArgsFunction: completeTasks(c, 1),
		Long: "Show how a task stands: its agents by wave, what each waits for and has handed over. With --json, output_summary,\n" +
			"output_data, output_files and error of each; with --data, what was handed over.\n\n" + waveCodes,
	}
	f := cmd.Flags()
	f.StringVar(&q.Agent, "agent", "", "only this `AGENT` of the plan")
	f.BoolVar(&q.Data, "data", false, "with what was handed over")
	f.BoolVarP(&follow, "follow", "f", false, "print what happens until it ends")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		q.Task, q.Data = args[0], q.Data || c.out.json
		v, err := api.WaveStatus.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		if follow {
			return followWave(ctx, c, cl, v)
		}
		return errors.Join(c.out.show(v, func(w io.Writer) { page.Wave(w, v, q.Data) }), waveExit(v))
	})
	return cmd
}

func waveList(c *cli) *cobra.Command {
	var states []string
	q := plan.TaskQuery{Limit: 50}
	cmd := &cobra.Command{Use: "list", Short: "List the tasks of plans, newest first", Args: exactly()}
	all := names([]plan.Status{plan.Proposed, plan.Pending, plan.InProgress, plan.Complete, plan.Failed, plan.Cancelled})
	f := cmd.Flags()
	f.StringSliceVar(&states, "status", nil, "only in these states: "+choices(all))
	f.StringVar(&q.Plan, "plan", "", "only of this `PLAN`")
	f.StringVar(&q.Session, "session", "", "only of this work session")
	f.IntVarP(&q.Limit, "limit", "n", q.Limit, "maximum number of rows")
	offer(cmd, "status", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if q.Limit < 1 {
			return usagef("--limit %d: must be 1 or more", q.Limit)
		}
		for _, s := range states {
			if !slices.Contains(all, s) {
				return usagef("--status %s: no such state. Use %s", s, choices(all))
			}
			q.Statuses = append(q.Statuses, plan.Status(s))
		}
		list, err := api.Waves.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Waves(w, list) })
	})
	return cmd
}
