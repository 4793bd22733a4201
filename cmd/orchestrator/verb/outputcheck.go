package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func outputCheck(c *cli) *cobra.Command {
	var q record.CheckOutputs
	var name string
	cmd := &cobra.Command{
		Use: "check [execution]", Short: "Run the project's checks where an execution worked", Args: between(0, 1, "[execution]"), ValidArgsFunction: completeExecutions(c, 1),
		Long: "Run the project's checks in the folder where an execution worked, and write down what they say beside what was\n" +
			"claimed of them. The table [checks] of .orchestrator.toml has a command for each; they run once you have accepted\n" +
			"exactly these commands with `orchestrator trust`. It fails if one of them does. An agent needs the grant \"start\".",
		Example: "  orchestrator output check exec-001 --only tests",
	}
	cmd.Flags().StringSliceVar(&q.Only, "only", nil, "only these checks: "+choices(work.CheckNames()))
	offer(cmd, "only", cobra.FixedCompletions(work.CheckNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&name, "execution", "", "the execution, if it is no argument")
	offer(cmd, "execution", flagExecutions(c))
	spelled(cmd, map[string]string{"execution-id": "execution"})
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) (err error) {
		if q.Execution, err = argOr(cmd, args, "execution", name); err != nil {
			return err
		}
		r, err := api.CheckOutputs.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		if err := c.out.show(r, func(w io.Writer) { page.Checked(w, r) }); err != nil || !r.Failed {
			return err
		}
		return &silentError{code: exitcode.Error}
	})
	return cmd
}
