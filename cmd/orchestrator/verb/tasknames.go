package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// completeTasks suggests tasks in some states as arguments.
func completeTasks(c *cli, most int, states ...plan.Status) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			list, err := api.Tasks.Do(ctx, cl, wave.ListRequest{Statuses: states, Limit: mostPoints})
			var names []string
			for _, t := range list {
				names = append(names, t.Name+"\t"+page.FirstLine(string(t.Status)+", "+t.Title))
			}
			return names, err
		})
	}
}

// waitingTasks are the states of tasks that have not begun.
func waitingTasks() []plan.Status { return []plan.Status{plan.Proposed, plan.Pending} }

// openTasks are those, and that of tasks at work.
func openTasks() []plan.Status { return append(waitingTasks(), plan.InProgress) }

// mostTasks is how many tasks are named as arguments at most.
const mostTasks = 1000

// eachTask does something with each task. One that fails does not stop the others; the first error is the verb's.
func eachTask(c *cli, names []string, do func(name string) (plan.Task, error)) error {
	list, failed := []plan.Task{}, []error{}
	for _, name := range names {
		t, err := do(name)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		list = append(list, t)
	}
	if len(list) > 0 || len(failed) == 0 {
		if err := c.out.show(list, func(w io.Writer) { page.Tasks(w, list, time.Now()) }); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}
