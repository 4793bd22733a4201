package verb

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

func sessionTask(c *cli) *cobra.Command {
	var q record.PutTask
	var body string
	cmd := &cobra.Command{
		Use: "task <session> <title>", Short: "Add a task to a work session, or change its state", Args: exactly("<session>", "<title>"),
		Example:           `orchestrator session task work-001 "Write the index" --status complete`,
		ValidArgsFunction: completeSessions(c),
		Long: "Add a task to a work session, or change the one with this title. An execution that names a task moves its state\n" +
			"along by itself.",
	}
	states := names([]work.TaskStatus{work.TaskPending, work.TaskInProgress, work.TaskComplete, work.TaskFailed, work.TaskCancelled})
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", choices(states)+" (default: as it is, pending for a new one)")
	cmd.Flags().StringVar(&body, "body", "", "what is to be done; - reads it from standard input")
	offer(cmd, "status", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if q.Status != "" && !slices.Contains(states, string(q.Status)) {
			return usagef("--status %s: no such state. Use %s", q.Status, choices(states))
		}
		if cmd.Flags().Changed("body") {
			text, err := promptText(c, body)
			if err != nil {
				return err
			}
			q.Body = &text
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			q.Session, q.Title = args[0], args[1]
			t, err := api.PutTask.Do(ctx, cl, q)
			if err != nil {
				return err
			}
			return c.out.show(t, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", plain.Line(t.Title), t.Status) })
		})(cmd, args)
	}
	return cmd
}
