package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// waveRunOptions are what `wave run` is asked with beside the plan.
type waveRunOptions struct {
	r      wave.RunRequest
	vars   []string
	body   string
	policy string
	detach bool
	follow bool
}

func waveRun(c *cli) *cobra.Command {
	var o waveRunOptions
	cmd := &cobra.Command{
		Use: "run <plan> [title]", Short: "Start a plan on a new task, and print the task's name", Args: between(1, 2, "<plan> [title]"),
		Long: "Start a plan on a new task, and follow it. The plan is a file, or the name of one in .orchestrator.d/plans or in\n" +
			"your configuration.\n\n" + waveCodes,
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.vars, "var", nil, "`NAME=VALUE` of a variable of the plan; may be given again")
	f.StringVar(&o.body, "body", "", "what there is to say beside the title; - reads it from standard input")
	f.StringVar(&o.r.Session, "session", "", "`NAME` of the work session that it belongs to")
	f.StringVar(&o.r.Dir, "dir", "", "`FOLDER` that the agents work in (default: the project's)")
	f.IntVar(&o.r.MaxParallel, "max-parallel", 0, "how many agents work at once (default: what the plan says)")
	f.StringVar(&o.policy, "on-upstream-failure", "", "what becomes of an agent whose upstream failed: stop, continue or ask (default: what the plan says)")
	f.BoolVarP(&o.r.Agreed, "yes", "y", false, "agree to what the plan asks before it runs")
	f.BoolVar(&o.detach, "detach", false, "print the task's name and do not wait for its end")
	f.BoolVar(&o.follow, "follow", false, "print what happens until it ends (this is the default)")
	cmd.ValidArgsFunction = completePlans(c)
	offer(cmd, "on-upstream-failure", cobra.FixedCompletions(failures(), cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("detach", "follow")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.read(c, args); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return runWave(ctx, c, cl, o) })(cmd, args)
	}
	return cmd
}

// failures are the policies for a failed upstream.
func failures() []string {
	return names([]plan.OnUpstreamFailure{plan.FailStop, plan.FailContinue, plan.FailAsk})
}

// read takes over the command line, and the plan.
func (o *waveRunOptions) read(c *cli, args []string) (err error) {
	if o.policy != "" {
		if o.r.OnUpstreamFailure, err = policyOf(o.policy); err != nil {
			return err
		}
	}
	if o.r.MaxParallel < 0 {
		return usagef("--max-parallel %d: must be 1 or more", o.r.MaxParallel)
	}
	if o.r.Body, err = promptText(c, o.body); err != nil {
		return err
	}
	if len(args) > 1 {
		o.r.Title = args[1]
	}
	if o.r.Dir != "" {
		if o.r.Dir, err = filepath.Abs(o.r.Dir); err != nil {
			return fmt.Errorf("folder %s: %w", o.r.Dir, err)
		}
	}
	if o.r.Plan, err = readPlan(c, args[0]); err != nil {
		return err
	}
	o.r.Vars, err = planVars(o.r.Plan, o.vars)
	return err
}

func policyOf(word string) (plan.OnUpstreamFailure, error) {
	for _, known := range failures() {
		if word == known {
			return plan.OnUpstreamFailure(word), nil
		}
	}
	return "", usagef("--on-upstream-failure %s: use stop, continue or ask", word)
}

// runWave starts a plan and follows its task.
func runWave(ctx context.Context, c *cli, cl *client.Client, o waveRunOptions) error {
	lasting, stop := outlasting(ctx)
	defer stop()
	v, err := api.RunWave.Do(lasting, cl, o.r)
	if err != nil {
		return err
	}
	if o.detach {
		return c.out.show(v, func(w io.Writer) { fmt.Fprintln(w, v.Task.Name) })
	}
	return followWave(ctx, c, cl, v)
}
