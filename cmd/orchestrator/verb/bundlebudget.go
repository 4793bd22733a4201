package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
)

// budgetOptions are the flags of what looks at a budget of context.
type budgetOptions struct {
	q       record.BudgetRequest
	bundles []string
}

func (o *budgetOptions) flags(f *pflag.FlagSet, session string) {
	f.StringVar(&o.q.Session, session, "", "the work session whose executions and bundles are summed up")
	f.IntVar(&o.q.Phase, "phase", 0, "the phase, 1 to 5, in which it is looked at: it is printed")
	f.Int64Var(&o.q.Budget, "budget", 0, fmt.Sprintf("`TOKENS` of context for all agents together (default: %d)", bundle.UsualBudget))
	f.Float64Var(&o.q.Warn, "warn-threshold", 0, fmt.Sprintf("the part of it at which to warn (default: %g)", bundle.WarnAt))
	f.StringArrayVar(&o.bundles, "bundles", nil, "`BUNDLES` of planned agents, with commas between them: files, or ids")
}

func bundleBudget(c *cli) *cobra.Command {
	var o budgetOptions
	cmd := &cobra.Command{
		Use: "budget", Short: "Sum up how much context agents are given, and warn at 75 and 90 percent", Args: exactly(),
		Long: "Sum up how much context the agents of a work session were given and those that are planned will be, or that of some\n" +
			"bundles. It warns at 75 and 90 percent; above the budget it ends with the code 4.",
	}
	o.flags(cmd.Flags(), "session")
	offer(cmd, "session", flagSessions(c))
	offer(cmd, "bundles", flagBundles(c))
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

// run prints the budget. What is over it is an error.
func (o *budgetOptions) run(c *cli, cmd *cobra.Command, args []string) (err error) {
	if cmd.Flags().Changed("budget") && o.q.Budget < 1 {
		return usagef("--budget %d: must be 1 or more", o.q.Budget)
	}
	if cmd.Flags().Changed("warn-threshold") && !(o.q.Warn > 0 && o.q.Warn < 1) {
		return usagef("--warn-threshold %g: use a part below 1, such as 0.75", o.q.Warn)
	}
	if o.q.Bundles, err = bundleArgs(c, listed(o.bundles)); err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		b, err := api.BundleBudget.Do(ctx, cl, o.q)
		if err != nil {
			return err
		}
		if err := c.out.show(b, func(w io.Writer) { page.Budget(w, b) }); err != nil {
			return err
		}
		return sayBudget(c, b)
	})(cmd, args)
}

// sayBudget warns of a budget that is nearly used, and has the verb fail for one that is exceeded.
func sayBudget(c *cli, b bundle.Budget) error {
	switch b.Level {
	case bundle.LevelOver:
		say(c, "over the budget by %s tokens. `orchestrator bundle explain` says what can be left out", thread.Tokens(-b.Remaining))
		return &silentError{exitcode.Refused} // its level is in what was printed
	case bundle.LevelCritical, bundle.LevelWarning:
		say(c, "%s: %.0f%% of the budget is used, %s tokens are left", b.Level, 100*b.Part, thread.Tokens(b.Remaining))
	default:
	}
	return nil
}
