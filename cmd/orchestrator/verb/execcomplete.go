package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func execComplete(c *cli) *cobra.Command {
	var q record.CompleteExecution
	var name string
	cmd := &cobra.Command{
		Use: "complete [execution]", Short: "Write down how an execution by hand ended", Args: between(0, 1, "[execution]"),
		Example:           `orchestrator exec complete exec-001 --deliverables lib/index.ts --message - < answer.txt`,
		ValidArgsFunction: completeByHand(c),
		Long: "Write down how an execution ended that was written down by hand, once. Its final message is kept whole, without\n" +
			"secrets. Of each file that it hands over, git tells the lines that were added and changed since it began.",
	}
	f := cmd.Flags()
	all := names([]work.Status{work.StatusCompleted, work.StatusFailed})
	f.StringVar(&name, "execution", "", "the execution, if it is no argument")
	f.StringVar((*string)(&q.Status), "status", "", choices(all)+" (default: completed, or failed with an error)")
	f.StringSliceVar(&q.Deliverables, "deliverables", nil, "`FILES` that it hands over, with commas")
	f.StringVar(&q.Message, "message", "", "all that it said in the end; - reads it from standard input")
	f.StringVar(&q.Error, "error", "", "why it has failed")
	timeVar(f, &q.At, "at", "when it ended, if that was not now")
	offer(cmd, "status", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	spelled(cmd, map[string]string{"execution-id": "execution", "final-message": "message", "error-message": "error"})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.Execution, err = argOr(cmd, args, "execution", name); err != nil {
			return err
		}
		return completeExecution(c, q)(cmd, args)
	}
	return cmd
}

// completeExecution writes down how an execution ended, and says so.
func completeExecution(c *cli, q record.CompleteExecution) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if q.Message, err = finalMessage(c, q.Message); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			x, err := api.CompleteExecution.Do(ctx, cl, q)
			if err != nil {
				return err
			}
			sayWarnings(c, x.Warnings)
			return c.out.show(x.Execution, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s", x.Execution.Execution, x.Execution.Status)
				if x.Deliverables > 0 {
					fmt.Fprintf(w, ", %s", page.Counted(int64(x.Deliverables), "deliverable"))
				}
				fmt.Fprintln(w)
			})
		})(cmd, args)
	}
}

// mostSaid is how much of a final message is read; the record keeps less of it, and says so.
const mostSaid = 8 << 20

// finalMessage returns a final message of the command line; - is standard input.
func finalMessage(c *cli, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	in, err := io.ReadAll(io.LimitReader(c.stdin, mostSaid))
	if err != nil {
		return "", fmt.Errorf("read the final message from standard input: %w", err)
	}
	return string(in), nil
}

// completeByHand suggests executions by hand that have not ended.
func completeByHand(c *cli) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			list, err := api.QueryExecutions.Do(ctx, cl, record.QueryExecutions{Origin: work.OriginHand, Status: work.StatusDeployed, Limit: mostPoints})
			var names []string
			for _, x := range list {
				names = append(names, x.Execution+"\t"+page.FirstLine(x.AgentType+", "+x.Scope))
			}
			return names, err
		})
	}
}
