package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

func taskAdd(c *cli) *cobra.Command {
	var q wave.AddRequest
	var values []string
	cmd := &cobra.Command{
		Use: "add <title>", Short: "Add a task that waits, and print its name", Args: exactly("<title>"),
		Example: `orchestrator task add --plan fix-bug --var severity=high "The login fails with two tabs"`,
		Long: "Add a task that waits until it is started, or until its plan, if that is armed, takes it.\n\n" +
			"What an agent adds waits for you, unless it has the grant \"start\".",
	}
	f := cmd.Flags()
	f.StringVar(&q.Plan, "plan", "", "`NAME` of the plan that it is for")
	f.StringVar(&q.Body, "body", "", "what there is to say beside the title; - reads it from standard input")
	f.StringArrayVar(&values, "var", nil, "`NAME=VALUE` of a variable of the plan; may be given again")
	f.StringVar(&q.Session, "session", "", "`NAME` of the work session that it belongs to")
	f.IntVar(&q.Order, "order", 0, "where it stands among those that wait: smaller ones are taken first")
	f.BoolVar(&q.Proposed, "proposed", false, "have it wait for you, whatever is armed")
	offer(cmd, "session", flagSessions(c))
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.Body, err = promptText(c, q.Body); err != nil {
			return err
		}
		if q.Vars, err = taskVars(c, q.Plan, values); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			q.Title = args[0]
			t, err := api.AddTask.Do(ctx, cl, q)
			if err != nil {
				return err
			}
			return c.out.show(t, func(w io.Writer) {
				fmt.Fprintln(w, t.Name)
				if t.Status == plan.Proposed {
					fmt.Fprintf(c.out.stderr, "it is proposed: `orchestrator task start %s` begins it\n", t.Name)
				}
			})
		})(cmd, args)
	}
	return cmd
}
