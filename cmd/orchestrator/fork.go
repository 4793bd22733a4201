package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

func (c *cli) forkVerb() *cobra.Command {
	var r thread.ForkRequest
	cmd := &cobra.Command{
		Use: "fork <label> [-- agent arguments]", Short: "Fork a thread, with its conversation and files, at any turn into any agent",
		Long: "Fork a thread, with its conversation and files, at any turn into any agent. What follows -- goes to the agent as it is;\n" +
			"with --agent command it is the program.",
	}
	f := cmd.Flags()
	f.StringVarP(&r.Thread, "thread", "t", "", "thread to fork; the one shown last without it")
	f.StringVar(&r.At, "at", "", "turn or checkpoint, also one inside of a turn; 0 is before the first turn, the newest turn without it")
	f.BoolVar(&r.Fresh, "fresh", false, "give its agent a summary in an empty context, not the conversation itself")
	f.StringVarP(&r.Agent, "agent", "a", "", "agent of the fork; the thread's own without it")
	f.StringVarP(&r.Name, "name", "n", "", "name; from the label without it")
	f.StringVarP(&r.Prompt, "prompt", "p", "", "first prompt of the fork")
	f.BoolVar(&r.NoWorktree, "no-worktree", false, "share the thread's files")
	f.BoolVar(&r.NoStart, "no-start", false, "do not start its agent yet")
	offer(cmd, "agent", c.completeAgents)
	offer(cmd, "at", c.completeFork(&r.Thread))
	offer(cmd, "thread", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return c.completeThreads(cmd, nil, prefix)
	})
	fork := func(ctx context.Context, cl *client.Client, rest []string) error {
		if strings.TrimSpace(r.Label) == "" && r.Name == "" {
			return usagef("the label is empty: say what the fork is for")
		}
		if r.Thread == "" {
			ref, err := shown(ctx, cl)
			if err != nil {
				return err
			}
			r.Thread = ref
		}
		if err := c.forkArgs(ctx, cl, &r, rest); err != nil {
			return err
		}
		var s thread.Status
		err := c.heed(ctx, cl, func() (err error) { s, err = api.Fork.Do(ctx, cl, r); return })
		if err != nil {
			return err
		}
		return c.show(s, func(w io.Writer) {
			fmt.Fprintf(w, "%s at turn %d, %s, in %s\n", s.Name, s.Turn, s.Agent, s.Dir)
		})
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		words, _ := split(cmd, args)
		return exactly("<label>")(cmd, words)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Label = words[0]
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return fork(ctx, cl, rest) })(cmd, args)
	}
	return cmd
}

// forkArgs sets what a fork's agent is started with.
func (c *cli) forkArgs(ctx context.Context, cl *client.Client, r *thread.ForkRequest, rest []string) error {
	if len(rest) == 0 {
		return nil
	}
	n := thread.NewRequest{Agent: r.Agent}
	if n.Agent == "" {
		parent, err := api.Status.Do(ctx, cl, api.Ref{Thread: r.Thread})
		if err != nil {
			return err
		}
		n.Agent = parent.Agent
	}
	if err := c.agentArgs(&n, rest); err != nil {
		return err
	}
	r.Program, r.Args = n.Flags.Program, n.Flags.Args
	return nil
}

// shown is the thread that was shown or changed last.
func shown(ctx context.Context, cl *client.Client) (string, error) {
	list, err := api.List.Do(ctx, cl, api.None{})
	if err != nil {
		return "", err
	}
	best := newest(list, time.Now())
	if best.ID == "" {
		return "", fmt.Errorf("%w: there is no thread yet to fork", thread.ErrNotFound)
	}
	return string(best.ID), nil
}

// newest is the thread that was changed last. What a clock that was ahead put into the future counts as longest ago.
func newest(list []thread.Status, now time.Time) (best thread.Status) {
	at := func(s thread.Status) time.Time {
		if s.Updated.After(now.Add(time.Hour)) {
			return s.Updated.AddDate(-1000, 0, 0)
		}
		return s.Updated
	}
	for _, s := range list {
		if s.Archived.IsZero() && (best.ID == "" || at(s).After(at(best))) {
			best = s
		}
	}
	return best
}

func (c *cli) checkpointVerb() *cobra.Command {
	cmd := &cobra.Command{Use: "checkpoint", Aliases: []string{"checkpoints"}, Short: "List, show, compare and restore a thread's checkpoints"}
	cmd.AddCommand(c.checkpointList(), c.checkpointShow(), c.checkpointDiff(), c.checkpointRestore())
	return cmd
}

// mostRows is how many rows a list without a limit has.
const mostRows = 20_000

// first cuts a list to its limit, and says so and how to see the rest where there is more.
func first[T any](c *cli, list []T, limit int, what, verb string) []T {
	if len(list) <= limit {
		return list
	}
	fmt.Fprintf(c.stderr, "orchestrator: these are %s, %d of more; `orchestrator %s` lists all\n", what, limit, verb)
	return list[:limit]
}

func (c *cli) checkpointList() *cobra.Command {
	p := thread.Page{Turns: true}
	var all bool
	cmd := &cobra.Command{Use: "list <thread>", Short: "List a thread's turns, newest first", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads}
	limit := 50
	cmd.Flags().IntVar(&limit, "limit", limit, "most rows; 0 for all")
	cmd.Flags().BoolVar(&all, "all", false, "every response, not turns only")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: give a number of rows, 0 for all", limit)
		}
		if limit == 0 {
			limit = mostRows
		}
		p.Turns, p.All, p.Limit = !all, true, limit+1
		list, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: args[0], Page: p})
		if err != nil {
			return err
		}
		list = first(c, list, limit, "the newest turns", "checkpoint list --limit 0 "+args[0])
		return c.show(list, func(w io.Writer) {
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
				fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", cp.ID[:8], cp.Turn, kind, contextOf(cp.Gauge), files,
					cp.Created.Local().Format(time.DateTime), aboutOf(cp.Prompt, note))
			}
		})
	})
	return cmd
}

// kindOf says what a checkpoint is, for people.
func kindOf(cp thread.Checkpoint) string {
	switch {
	case cp.Aside:
		return string(cp.Kind) + ", left behind"
	case cp.Interrupted:
		return string(cp.Kind) + ", interrupted"
	default:
		return string(cp.Kind)
	}
}

// aboutOf says in a table what a checkpoint is about: its prompt, and behind it what is noted of it.
func aboutOf(prompt, note string) string {
	if prompt = firstLine(prompt); prompt != "" && note != "" {
		note = "; " + note
	}
	return prompt + firstLine(note)
}

// firstLine cuts text for a table.
func firstLine(s string) string {
	const most = 60
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = plaintext.Line(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func (c *cli) checkpointShow() *cobra.Command {
	return &cobra.Command{
		Use: "show <thread> [turn or checkpoint]", Short: "Print what was said in a turn", Args: between(1, 2, "<thread>", "[turn or checkpoint]"), ValidArgsFunction: c.completePoints(1),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			entries, err := api.Turn.Do(ctx, cl, api.TurnRequest{Thread: args[0], At: second(args)})
			if err != nil {
				return err
			}
			return c.show(entries, func(w io.Writer) {
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

func second(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}

func (c *cli) checkpointDiff() *cobra.Command {
	r := thread.DiffRequest{}
	cmd := &cobra.Command{
		Use: "diff <thread> [from] [to]", Aliases: []string{"compare"}, Short: "Print how files differ between two points of a thread",
		Long: "Print how files differ between two points of a thread: base, now, a turn or a checkpoint; base and now without them.",
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
				return usagef("%q and --%s say the same: give one of them", point, name)
			}
			*at = point
		}
		files, err := api.Diff.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			if err := c.saySharedChanges(ctx, cl, args[0]); err != nil {
				return err
			}
		}
		return c.show(files, func(w io.Writer) {
			for _, f := range files {
				fmt.Fprintf(w, "%s %s +%d −%d\n%s", f.Status, plaintext.Line(f.Path), f.Insertions, f.Deletions, f.Patch)
			}
			if len(files) == 0 {
				fmt.Fprintln(w, "nothing differs")
			}
		})
	})
	return cmd
}

func (c *cli) checkpointRestore() *cobra.Command {
	r := thread.RewindRequest{}
	var filesOnly, conversationOnly bool
	cmd := &cobra.Command{
		Use: "restore <thread> <turn or checkpoint>", Aliases: []string{"rewind"},
		Short: "Set a thread's files and conversation back; a safety checkpoint is taken first",
		Long: "Set a thread's files and conversation back; a safety checkpoint is taken first. Where other threads work in the folder\n" +
			"too, the conversation alone is set back without a flag, and with one the files that this thread alone wrote.",
		Args: exactly("<thread>", "<turn or checkpoint>"), ValidArgsFunction: c.completePoints(1),
	}
	cmd.Flags().BoolVar(&filesOnly, "files", false, "files only; with --conversation both")
	cmd.Flags().BoolVar(&conversationOnly, "conversation", false, "conversation only; with --files both")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread, r.At = args[0], args[1]
		r.Files, r.Conversation = !conversationOnly, !filesOnly
		if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Rewind.Name(), Thread: args[0]}); err != nil {
			return err // before it asks who shares the folder
		}
		switch {
		case filesOnly && conversationOnly:
			r.Files, r.Conversation = true, true
		case !filesOnly && !conversationOnly:
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Rewind.Name(), Thread: args[0]}); err != nil {
				return err // before it asks who else works in the folder
			}
			others, err := c.sharing(ctx, cl, args[0])
			if err != nil {
				return err
			}
			if r.Files = len(others) == 0; !r.Files {
				fmt.Fprintf(c.stderr, "the files stay as they are, because %s works in the folder too; with --files --conversation those go back that %s alone wrote\n",
					strings.Join(others, ", "), args[0])
			}
		}
		var report thread.RewindReport
		err := c.heed(ctx, cl, func() (err error) { report, err = api.Rewind.Do(ctx, cl, r); return })
		if err != nil {
			return err
		}
		return c.show(report, func(w io.Writer) {
			for _, path := range report.Left {
				fmt.Fprintf(w, "left as it is: %s\n", path)
			}
			fmt.Fprintf(w, "%s\nundo: orchestrator checkpoint restore%s %s %s\n", report.Message, undoFlags(r), args[0], report.Safety)
		})
	})
	return cmd
}

// saySharedChanges says whose changes are among those of a thread that has its folder with others.
func (c *cli) saySharedChanges(ctx context.Context, cl *client.Client, ref string) error {
	others, err := c.sharing(ctx, cl, ref)
	if err == nil && len(others) > 0 {
		fmt.Fprintf(c.stderr, "its folder is shared with %s: what they changed is among these\n", plain.Names(others))
	}
	return err
}

// undoFlags are what takes back exactly what was set back.
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

// sharing names the threads that work on the same files as one does.
func (c *cli) sharing(ctx context.Context, cl *client.Client, ref string) ([]string, error) {
	one, err := api.Status.Do(ctx, cl, api.Ref{Thread: ref})
	if err != nil {
		return nil, err
	}
	list, err := api.List.Do(ctx, cl, api.None{})
	if err != nil {
		return nil, err
	}
	return thread.NamesOf(c.folders(list).With(one.Thread)), nil
}

// folders tells which threads of a list work on the same files.
func (c *cli) folders(list []thread.Status) *thread.Folders {
	return thread.NewFolders(c.project.Root, func(yield func(thread.Thread) bool) {
		for _, s := range list {
			if !yield(s.Thread) {
				return
			}
		}
	})
}

func (c *cli) mergeVerb() *cobra.Command {
	var r thread.MergeRequest
	var goOn, abort bool
	cmd := &cobra.Command{
		Use: "merge <thread>", Short: "Merge a thread's work into its parent's branch",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	f := cmd.Flags()
	f.StringVar(&r.Into, "into", "", "thread to merge into; the parent without it")
	f.StringVarP(&r.Message, "message", "m", "", "message of the commit")
	f.BoolVar(&r.DryRun, "dry-run", false, "only say what would happen")
	f.BoolVar(&r.CommitInto, "commit-parent", false, commitParent)
	note := noteFlags(cmd)
	f.BoolVar(&r.NoteOnly, "note", false, "only send that note, of the newest merge")
	f.BoolVar(&goOn, "continue", false, "go on after conflicts were resolved")
	f.BoolVar(&abort, "abort", false, "take a merge with conflicts back")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread, r.Note = args[0], note()
		switch {
		case goOn && abort:
			return usagef("--continue and --abort exclude each other")
		case abort:
			if err := api.MergeAbort.Do(ctx, cl, api.Ref{Thread: r.Thread}); err != nil {
				return err
			}
			return c.done(r.Thread, "the merge was taken back")
		case goOn:
			report, err := api.MergeContinue.Do(ctx, cl, api.Ref{Thread: r.Thread})
			if err == nil && report.Ask && r.Note == thread.NoteAlways {
				r.NoteOnly = true
				report, err = api.Merge.Do(ctx, cl, r)
			}
			return c.merged(report, err, args[0])
		default:
			report, err := api.Merge.Do(ctx, cl, r)
			return c.merged(report, err, args[0])
		}
	})
	return cmd
}

// noteFlags adds the flags that say whether the parent's agent is sent a note.
func noteFlags(cmd *cobra.Command) func() thread.NoteMode {
	var tell, noTell bool
	cmd.Flags().BoolVar(&tell, "tell", false, "send the parent's agent a note of the merge, which costs it a turn")
	cmd.Flags().BoolVar(&noTell, "no-tell", false, "send it none, whatever merge_note is set to")
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

// merged prints a merge's report; conflicts are exit code 4.
func (c *cli) merged(report thread.MergeReport, err error, name string) error {
	if err != nil {
		return err
	}
	err = c.show(report, func(w io.Writer) {
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
			fmt.Fprintf(w, "resolve what is open there, then `orchestrator merge %s --continue`, or --abort\n", name)
		case len(report.Conflicts) > 0: // of a dry run
			fmt.Fprintf(w, "%s → %s would conflict in:\n", report.Branch, report.Into)
			for _, f := range report.Conflicts {
				fmt.Fprintf(w, "  %s\n", plaintext.Line(f))
			}
		case report.UpToDate:
			fmt.Fprintf(w, "%s is in %s already\n", report.Branch, report.Into)
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
			fmt.Fprintf(w, "it shares its folder with %s: what changed there is merged, whoever wrote it\n", plain.Names(report.Shared))
		}
		if len(report.Beside) > 0 {
			fmt.Fprintf(w, "%s works in %s too, and has the merged files there\n", plain.Names(report.Beside), report.Dir)
		}
		switch {
		case report.Told:
			fmt.Fprintln(w, "its agent is sent a note of it")
		case report.Ask:
			fmt.Fprintf(w, "its agent was not told; tell it: orchestrator merge %s --note\n", name)
		}
		switch {
		case report.Kept != "":
			fmt.Fprintf(w, "archived; the worktree was kept: %s\n", report.Kept)
		case report.Finished:
			fmt.Fprintln(w, "archived, worktree removed")
		}
	})
	if err == nil && (report.Stopped || len(report.Conflicts) > 0) {
		return &silentError{code: exitRefused}
	}
	return err
}

// commitParent is the help of --commit-parent.
const commitParent = "commit first all that is not committed in the folder it goes into; --dry-run of merge names it"

func (c *cli) finishVerb() *cobra.Command {
	var asIs, commit bool
	cmd := &cobra.Command{
		Use: "finish <thread>", Short: "Merge a thread, archive it, and remove its worktree when everything is reachable",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	note := noteFlags(cmd)
	cmd.Flags().BoolVar(&commit, "commit-parent", false, commitParent)
	cmd.Flags().BoolVar(&asIs, "as-is", false, "do not merge: archive it, and remove its worktree if nothing would be lost")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if asIs {
			report, err := api.Finish.Do(ctx, cl, api.Ref{Thread: args[0]})
			return c.merged(report, err, args[0])
		}
		report, err := api.Merge.Do(ctx, cl, thread.MergeRequest{Thread: args[0], Finish: true, Note: note(), CommitInto: commit})
		return c.merged(report, err, args[0])
	})
	return cmd
}

func (c *cli) abandonVerb() *cobra.Command {
	return &cobra.Command{
		Use: "abandon <thread> <reason>", Short: "Give a thread's work up and say why", Args: exactly("<thread>", "<reason>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return &usageError{err: errors.New("the reason is empty")}
			}
			if err := api.Abandon.Do(ctx, cl, api.AbandonRequest{Thread: args[0], Reason: args[1]}); err != nil {
				return err
			}
			return c.done(args[0], "abandoned")
		}),
	}
}

// pushVerb is push, or pr, which also opens a pull request.
func (c *cli) pushVerb(pr bool) *cobra.Command {
	r := thread.PushRequest{PR: pr}
	cmd := &cobra.Command{Use: "push <thread>", Short: "Commit a thread's work and push its branch", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads}
	if pr {
		cmd.Use, cmd.Short = "pr <thread>", "Push a thread's branch and open a pull request with GitHub's program gh"
		cmd.Flags().StringVar(&r.Base, "base", "", "branch to merge into; the remote's default without it")
	}
	cmd.Flags().StringVarP(&r.Message, "message", "m", "", "message of the commit")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Thread = args[0]
		report, err := api.Push.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.show(report, func(w io.Writer) {
			fmt.Fprintf(w, "%s → %s\n", report.Branch, report.Remote)
			if report.PR != "" {
				fmt.Fprintln(w, report.PR)
			}
		})
	})
	return cmd
}
