package verb

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/plain"
)

func checkpointRestore(c *cli) *cobra.Command {
	r := thread.RewindRequest{}
	var filesOnly, conversationOnly bool
	cmd := &cobra.Command{
		Use: "restore <thread> <turn or checkpoint>", Aliases: []string{"rewind"},
		Short: "Rewind a thread's files and conversation, after taking a safety checkpoint",
		Long: "Rewind a thread's files and conversation, after taking a safety checkpoint. If other threads work in the\n" +
			"same folder, only the conversation is rewound unless a flag says otherwise, and only files that this\n" +
			"thread alone wrote.",
		Args: exactly("<thread>", "<turn or checkpoint>"), ValidArgsFunction: c.completePoints(1),
	}
	cmd.Flags().BoolVar(&filesOnly, "files", false, "rewind files (with --conversation: both)")
	cmd.Flags().BoolVar(&conversationOnly, "conversation", false, "rewind the conversation (with --files: both)")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread, r.At = args[0], args[1]
		r.Files, r.Conversation = !conversationOnly, !filesOnly
		if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Rewind.Name(), Thread: args[0]}); err != nil {
			return err // before asking who shares the folder
		}
		switch {
		case filesOnly && conversationOnly:
			r.Files, r.Conversation = true, true
		case !filesOnly && !conversationOnly:
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Rewind.Name(), Thread: args[0]}); err != nil {
				return err // before asking who else works in the folder
			}
			others, err := sharing(ctx, c, cl, args[0])
			if err != nil {
				return err
			}
			if r.Files = len(others) == 0; !r.Files {
				fmt.Fprintf(c.out.stderr, "files are left alone because the folder is shared with %s; "+
					"--files --conversation also rewinds the files that only %s wrote\n", strings.Join(others, ", "), args[0])
			}
		}
		var report thread.RewindReport
		err := c.withWarnings(ctx, cl, func() (err error) { report, err = api.Rewind.Do(ctx, cl, r); return })
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) {
			for _, path := range report.Left {
				fmt.Fprintf(w, "left alone: %s\n", path)
			}
			fmt.Fprintf(w, "%s\nundo: orchestrator checkpoint restore%s %s %s\n", report.Message, undoFlags(r), args[0],
				report.Safety)
			page.LeftOut(w, report.LeftOut)
		})
	})
	return cmd
}

// saySharedChanges warns if the changes of a thread include those of others in the same folder.
func saySharedChanges(ctx context.Context, c *cli, cl *client.Client, ref string) error {
	others, err := sharing(ctx, c, cl, ref)
	if err == nil && len(others) > 0 {
		fmt.Fprintf(c.out.stderr, "its folder is shared with %s: this includes their changes\n", plain.Names(others))
	}
	return err
}

// undoFlags returns the flags that undo exactly what was rewound.
func undoFlags(r thread.RewindRequest) string {
	switch {
	case r.Files && r.Conversation:
		return " --files --conversation"
	case r.Files:
		return " --files"
	default:
		return " --conversation"
	}
}
