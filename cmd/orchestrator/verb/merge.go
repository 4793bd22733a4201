package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
	"orchestrator/ui/plain"
)

func mergeVerb(c *cli) *cobra.Command {
	var r thread.MergeRequest
	var goOn, abort bool
	cmd := &cobra.Command{
		Use: "merge <thread>", Short: "Merge a thread into its parent's branch, or another one",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	f := cmd.Flags()
	f.StringVar(&r.Into, "into", "", "thread to merge into (default: the parent)")
	f.StringVarP(&r.Message, "message", "m", "", "commit message")
	f.BoolVar(&r.DryRun, "dry-run", false, "only show what would happen")
	f.BoolVar(&r.CommitInto, "commit-parent", false, commitParent)
	note := noteFlags(cmd)
	f.BoolVar(&r.NoteOnly, "note", false, "only send the note about the newest merge")
	f.BoolVar(&goOn, "continue", false, "continue after resolving conflicts")
	f.BoolVar(&abort, "abort", false, "abort a merge with conflicts")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread, r.Note = args[0], note()
		switch {
		case goOn && abort:
			return usagef("--continue and --abort cannot be combined")
		case abort:
			if err := api.MergeAbort.Do(ctx, cl, api.Ref{Thread: r.Thread}); err != nil {
				return err
			}
			return c.out.done(r.Thread, "merge aborted")
		case goOn:
			report, err := api.MergeContinue.Do(ctx, cl, api.Ref{Thread: r.Thread})
			if err == nil && report.Ask && r.Note == thread.NoteAlways {
				r.NoteOnly = true
				report, err = api.Merge.Do(ctx, cl, r)
			}
			return merged(c, report, err, args[0])
		default:
			report, err := api.Merge.Do(ctx, cl, r)
			return merged(c, report, err, args[0])
		}
	})
	return cmd
}

// noteFlags adds the flags that decide whether the parent's agent is sent a note.
func noteFlags(cmd *cobra.Command) func() thread.NoteMode {
	var tell, noTell bool
	cmd.Flags().BoolVar(&tell, "tell", false, "send the parent's agent a note about the merge, which costs a turn")
	cmd.Flags().BoolVar(&noTell, "no-tell", false, "send no note, whatever merge_note says")
	cmd.MarkFlagsMutuallyExclusive("tell", "no-tell")
	return func() thread.NoteMode {
		switch {
		case tell:
			return thread.NoteAlways
		case noTell:
			return thread.NoteNever
		}
		return ""
	}
}

// merged prints a merge's report. Conflicts end with exit code 4.
func merged(c *cli, report thread.MergeReport, err error, name string) error {
	if err != nil {
		return err
	}
	err = c.out.show(report, func(w io.Writer) {
		if n := len(report.Committed); n > 0 {
			what := "committed first"
			if report.Commit == "" && !report.Stopped {
				what = "would be committed first"
			}
			fmt.Fprintf(w, "%s in %s:\n", what, report.Dir)
			for _, f := range report.Committed {
				fmt.Fprintf(w, "  %s\n", plaintext.Line(f))
			}
		}
		switch {
		case report.Stopped:
			fmt.Fprintf(w, "conflicts in %s:\n", report.Dir)
			for _, f := range report.Conflicts {
				fmt.Fprintf(w, "  %s\n", plaintext.Line(f))
			}
			fmt.Fprintf(w, "resolve them there, then run `orchestrator merge %s --continue`, or --abort\n", name)
		case len(report.Conflicts) > 0: // of a dry run
			fmt.Fprintf(w, "%s → %s would conflict in:\n", report.Branch, report.Into)
			for _, f := range report.Conflicts {
				fmt.Fprintf(w, "  %s\n", plaintext.Line(f))
			}
		case report.UpToDate:
			fmt.Fprintf(w, "%s is already in %s\n", report.Branch, report.Into)
		default:
			fmt.Fprintf(w, "%s → %s %s\n", report.Branch, report.Into, report.Commit)
			for _, f := range report.Files {
				fmt.Fprintf(w, "  %s %s +%d −%d\n", f.Status, plaintext.Line(f.Path), f.Insertions, f.Deletions)
			}
		}
		if report.Unsure != "" {
			fmt.Fprintln(w, report.Unsure)
		}
		if len(report.Shared) > 0 {
			fmt.Fprintf(w, "its folder is shared with %s: their changes are merged too\n",
				plain.Names(report.Shared))
		}
		if len(report.Beside) > 0 {
			fmt.Fprintf(w, "other threads in %s see the merged files: %s\n", report.Dir, plain.Names(report.Beside))
		}
		switch {
		case report.Untold != "":
			fmt.Fprintf(w, "its agent was not told: %s\n", report.Untold)
		case report.Told:
			fmt.Fprintln(w, "note sent to its agent")
		case report.Ask:
			fmt.Fprintf(w, "the agent of %s does not know yet: `orchestrator merge %s --note`\n", report.Into, name)
		}
		switch {
		case report.Kept != "":
			fmt.Fprintf(w, "archived; worktree kept: %s\n", report.Kept)
		case report.Finished:
			fmt.Fprintln(w, "archived; worktree removed")
		}
		if report.Undone != "" {
			fmt.Fprintf(w, "teardown: %s\n", plaintext.Line(report.Undone))
		}
		page.LeftOut(w, report.LeftOut)
	})
	if err == nil && (report.Stopped || len(report.Conflicts) > 0) {
		return &silentError{code: exitcode.Refused}
	}
	return err
}

// commitParent is the help text of --commit-parent.
const commitParent = "commit uncommitted changes in the target folder first; merge --dry-run lists them"
