package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

func taskEdit(c *cli) *cobra.Command {
	var title, body, planName string
	var order int
	var values []string
	var q wave.EditRequest
	cmd := &cobra.Command{
		Use: "edit <task>", Short: "Change a task that has not begun", Args: exactly("<task>"),
		Example:           `orchestrator task edit task-012 --title "Mend the login" --plan fix-bug --accept`,
		ValidArgsFunction: completeTasks(c, 1, waitingTasks()...),
	}
	f := cmd.Flags()
	f.StringVar(&title, "title", "", "another title")
	f.StringVar(&body, "body", "", "what there is to say beside the title; - reads it from standard input")
	f.StringVar(&planName, "plan", "", "`NAME` of the plan that it is for; \"\" for none")
	f.StringArrayVar(&values, "var", nil, "`NAME=VALUE` of a variable, in place of all that it has; may be given again")
	f.IntVar(&order, "order", 0, "where it stands among those that wait: smaller ones are taken first")
	f.BoolVar(&q.Accept, "accept", false, "have a proposed one wait as others do, so that its plan takes it if that is armed")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		changed := f.Changed
		if !changed("title") && !changed("body") && !changed("plan") && !changed("var") && !changed("order") && !q.Accept {
			return usagef("task edit: say what to change: --title, --body, --plan, --var, --order or --accept")
		}
		if changed("title") {
			q.Title = &title
		}
		if changed("body") {
			if body, err = promptText(c, body); err != nil {
				return err
			}
			q.Body = &body
		}
		if changed("plan") {
			q.Plan = &planName
		}
		if changed("order") {
			q.Order = &order
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) (err error) {
			q.Task = args[0]
			if changed("var") {
				if q.Vars, err = editedVars(ctx, c, cl, q, values); err != nil {
					return err
				}
			}
			t, err := api.EditTask.Do(ctx, cl, q)
			if err != nil {
				return err
			}
			return c.out.show(t, func(w io.Writer) { fmt.Fprintf(w, "%s: %s, %s\n", t.Name, t.Status, plain.Line(t.Title)) })
		})(cmd, args)
	}
	return cmd
}

// editedVars reads values by the plan that a task has after the change.
func editedVars(ctx context.Context, c *cli, cl *client.Client, q wave.EditRequest, words []string) (map[string]json.RawMessage, error) {
	list, err := api.Tasks.Do(ctx, cl, wave.ListRequest{Task: q.Task})
	if err != nil {
		return nil, err
	}
	name := list[0].PlanName
	if q.Plan != nil {
		name = *q.Plan
	}
	return taskVars(c, name, words)
}

func taskCancel(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel <task>...", Short: "Cancel tasks that have not begun", Args: between(1, mostTasks, "<task>..."),
		Long:              "Cancel tasks that have not begun. `orchestrator wave cancel` ends one that is at work.",
		ValidArgsFunction: completeTasks(c, mostTasks, waitingTasks()...),
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		return eachTask(c, args, func(name string) (plan.Task, error) {
			return api.EditTask.Do(ctx, cl, wave.EditRequest{Task: name, Cancel: true})
		})
	})
	return cmd
}
