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
	cmd := &cobra.Command{
		Use: "check <execution>", Short: "Run the project's checks where an execution worked", Args: exactly("<execution>"), ValidArgsFunction: completeExecutions(c, 1),
		Long: "Run the project's checks in the folder where an execution worked, and write down what they say beside what was\n" +
			"claimed of them. The table [checks] of .orchestrator.toml has a command for each; they run once you have accepted\n" +
			"exactly these commands with `orchestrator trust`. It fails if one of them does. An agent needs the grant \"start\".",
		Example: "  orchestrator output check exec-001 --only tests",
	}
	cmd.Flags().StringSliceVar(&q.Only, "only", nil, "only these checks: "+choices(work.CheckNames()))
	offer(cmd, "only", cobra.FixedCompletions(work.CheckNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		q.Execution = args[0]
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
