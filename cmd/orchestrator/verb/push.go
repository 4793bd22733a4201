package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// pushVerb returns the verb push, or pr, which also opens a pull request.
func pushVerb(c *cli, pr bool) *cobra.Command {
	r := thread.PushRequest{PR: pr}
	cmd := &cobra.Command{Use: "push <thread>", Short: "Commit a thread's changes and push its branch",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads}
	if pr {
		cmd.Use, cmd.Short = "pr <thread>", "Push a thread's branch and open a pull request with the GitHub CLI (gh)"
		cmd.Flags().StringVar(&r.Base, "base", "", "base branch (default: that of the remote)")
	}
	cmd.Flags().StringVarP(&r.Message, "message", "m", "", "commit message")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread = args[0]
		report, err := api.Push.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) {
			fmt.Fprintf(w, "%s → %s\n", report.Branch, report.Remote)
			if report.PR != "" {
				fmt.Fprintln(w, report.PR)
			}
			page.LeftOut(w, report.LeftOut)
		})
	})
	return cmd
}
