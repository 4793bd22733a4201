package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func finishVerb(c *cli) *cobra.Command {
	var asIs, commit bool
	cmd := &cobra.Command{
		Use: "finish <thread>", Short: "Merge a thread, archive it, and remove its worktree if nothing would be lost",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	note := noteFlags(cmd)
	cmd.Flags().BoolVar(&commit, "commit-parent", false, commitParent)
	cmd.Flags().BoolVar(&asIs, "as-is", false,
		"archive without merging, and remove its worktree if nothing would be lost")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if asIs {
			report, err := api.Finish.Do(ctx, cl, api.Ref{Thread: args[0]})
			return merged(c, report, err, args[0])
		}
		report, err := api.Merge.Do(ctx, cl,
			thread.MergeRequest{Thread: args[0], Finish: true, Note: note(), CommitInto: commit})
		return merged(c, report, err, args[0])
	})
	return cmd
}
