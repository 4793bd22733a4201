package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func outputCollect(c *cli) *cobra.Command {
	var q record.CollectOutputs
	var name string
	cmd := &cobra.Command{
		Use: "collect [execution]", Short: "Write down what came of an execution", Args: between(0, 1, "[execution]"), ValidArgsFunction: completeExecutions(c, 1),
		Long: "Write down what came of an execution. Of each file that is named, git tells the lines that were added and changed\n" +
			"since the execution began; what is said of checks stays a claim, beside what `orchestrator output check` sees. Paths\n" +
			"are relative to the folder of the execution. What is there already is not written down again.",
		Example: `  orchestrator output collect exec-001 --deliverables lib/search.ts --validation-results "format:pass,tests:pass"`,
	}
	f := cmd.Flags()
	f.StringVar(&name, "execution", "", "the execution, if it is no argument")
	f.StringSliceVar(&q.Deliverables, "deliverables", nil, "`FILES` that it hands over, with commas")
	f.BoolVar(&q.All, "all", false, "all files that have changed since it began")
	f.StringVar(&q.Validation, "validation-results", "", "`RESULTS` that it claims of checks: format:pass,lint:pass,types:pass,tests:pass,coverage:85")
	f.StringArrayVar(&q.Insights, "insights", nil, "`TEXT` that it found out; may be repeated")
	f.StringArrayVar(&q.Errors, "errors", nil, "`TEXT` of what went wrong; may be repeated")
	offer(cmd, "execution", flagExecutions(c))
	spelled(cmd, map[string]string{"execution-id": "execution"})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.Execution, err = argOr(cmd, args, "execution", name); err != nil {
			return err
		}
		return collect(c, q)(cmd, nil)
	}
	return cmd
}

// collect writes down what came of an execution, and prints it as it is stored.
func collect(c *cli, q record.CollectOutputs) func(*cobra.Command, []string) error {
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		list, err := api.CollectOutputs.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Outputs(w, list) })
	})
}
