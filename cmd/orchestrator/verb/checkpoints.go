package verb

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/ui/plain"
)

func checkpointVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "checkpoint", Aliases: []string{"checkpoints"},
		Short: "List, show, compare and restore a thread's checkpoints"}
	cmd.AddCommand(checkpointList(c), checkpointShow(c), checkpointDiff(c), checkpointRestore(c))
	return cmd
}

func checkpointList(c *cli) *cobra.Command {
	p := thread.Page{Turns: true}
	var all bool
	cmd := &cobra.Command{Use: "list <thread>", Short: "List a thread's turns, newest first",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads}
	limit := 50
	cmd.Flags().IntVar(&limit, "limit", limit, "maximum number of rows, 0 for all")
	cmd.Flags().BoolVar(&all, "all", false, "list every response, not only turns")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: must be 0 (all) or more", limit)
		}
		if limit == 0 {
			limit = mostRows
		}
		p.Turns, p.All, p.Limit = !all, true, limit+1
		list, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: args[0], Page: p})
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest turns", "checkpoint list --limit 0 "+args[0])
		return c.out.show(list, func(w io.Writer) {
			t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
			defer t.Flush()
			fmt.Fprintln(t, "CHECKPOINT\tTURN\tKIND\tCONTEXT\tFILES\tTIME\tPROMPT")
			for _, cp := range list {
				files := "-"
				if cp.Snapshot != nil {
					files = fmt.Sprintf("%d +%d −%d", cp.Snapshot.Files, cp.Snapshot.Insertions, cp.Snapshot.Deletions)
				}
				kind, note := kindOf(cp), cp.Note
				if note == thread.NoteRebuilt {
					kind, note = kind+", "+note, ""
				}
				when, about := cp.Created.Local().Format(time.DateTime), aboutOf(cp.Prompt, note)
				turn := strconv.Itoa(cp.Turn)
				if cp.Kind == thread.KindPrompt {
					turn, kind = "-", kind+", "+string(cp.Ended)
				}
				if cp.Damaged {
					when, about = "-", "cannot be read: the stored data is damaged"
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cp.ID[:8], turn, kind, contextOf(cp.Gauge), files,
					when, about)
			}
		})
	})
	return cmd
}

func checkpointShow(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show <thread> [turn or checkpoint]", Short: "Print what was said in a turn",
		Args: between(1, 2, "<thread>", "[turn or checkpoint]"), ValidArgsFunction: c.completePoints(1),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			entries, err := api.Turn.Do(ctx, cl, api.TurnRequest{Thread: args[0], At: second(args)})
			if err != nil {
				return err
			}
			return c.out.show(entries, func(w io.Writer) {
				for _, e := range entries {
					head := string(e.Kind)
					if e.Tool != "" {
						head += " " + e.Tool
					}
					fmt.Fprintf(w, "── %s\n%s\n", head, strings.TrimRight(e.Text, "\n"))
				}
			})
		}),
	}
}

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
			printLeftOut(w, report.LeftOut)
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
