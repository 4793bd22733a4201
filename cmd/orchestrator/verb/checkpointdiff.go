package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
)

func checkpointDiff(c *cli) *cobra.Command {
	r := thread.DiffRequest{}
	cmd := &cobra.Command{
		Use: "diff <thread> [from] [to]", Aliases: []string{"compare"},
		Short: "Print the file changes between two points of a thread",
		Long: "Print the file changes between two points of a thread: base, now, a turn or a checkpoint.\n" +
			"The default is from base to now.",
		Args: between(1, 3, "<thread>", "[from]", "[to]"), ValidArgsFunction: c.completePoints(2, "base", "now"),
	}
	cmd.Flags().StringVar(&r.From, "from", "base", "base, now, a turn or a checkpoint")
	cmd.Flags().StringVar(&r.To, "to", "now", "base, now, a turn or a checkpoint")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread = args[0]
		for i, point := range args[1:] {
			name, at := "from", &r.From
			if i == 1 {
				name, at = "to", &r.To
			}
			if cmd.Flags().Changed(name) {
				return usagef("%q and --%s set the same point: use one of them", point, name)
			}
			*at = point
		}
		files, err := api.Diff.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			if err := saySharedChanges(ctx, c, cl, args[0]); err != nil {
				return err
			}
		}
		return c.out.show(files, func(w io.Writer) {
			for _, f := range files {
				fmt.Fprintf(w, "%s %s +%d −%d\n%s", f.Status, plaintext.Line(f.Path), f.Insertions, f.Deletions, f.Patch)
			}
			if len(files) == 0 {
				fmt.Fprintln(w, "no changes")
			}
		})
	})
	return cmd
}
