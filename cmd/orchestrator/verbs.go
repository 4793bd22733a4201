package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"
)

// verbs lists all of them; those with more behind them have a file of their own.
func (c *cli) verbs() []*cobra.Command {
	return []*cobra.Command{
		c.newVerb(), c.runVerb(), c.sendVerb(), c.promptsVerb(),
		c.threadsVerb(), c.switchVerb(), c.attachVerb(), c.resumeVerb(), c.setupVerb(), c.whyVerb(), c.grantsVerb(),
		c.forkVerb(), c.checkpointVerb(), c.mergeVerb(), c.finishVerb(), c.abandonVerb(), c.pushVerb(false), c.pushVerb(true), c.findVerb(),
		c.renameVerb(), c.pinVerb(), c.exportVerb(), c.importVerb(), c.backupVerb(), c.restoreBackupVerb(), c.gcVerb(),
		c.refVerb("archive", "Put a thread away; its agent is stopped", api.Archive, "archived"),
		c.refVerb("restore", "Bring an archived thread back", api.Unarchive, "restored"),
		c.refVerb("delete", "Delete a thread (undelete brings it back until it is collected)", api.Delete, "deleted"),
		c.refVerb("undelete", "Bring a deleted thread back", api.Undelete, "back"),
		c.stopVerb(), c.restartVerb(), c.doctorVerb(), c.trustVerb(), c.adoptVerb(), c.versionVerb(),
		c.serveVerb(), c.hookVerb(), c.demoVerb(),
	}
}

// refVerb is a verb that does one thing to one thread.
func (c *cli) refVerb(name, short string, op api.Command[api.Ref], done string) *cobra.Command {
	return &cobra.Command{
		Use: name + " <thread>", Short: short, Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := op.Do(ctx, cl, api.Ref{Thread: args[0]}); err != nil {
				return err
			}
			return c.done(args[0], done)
		}),
	}
}

// done says what was done to a thread.
func (c *cli) done(name, what string) error {
	return c.show(map[string]string{"thread": name, "done": what}, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", name, what) })
}

// newFlags are the flags of the verbs that start a thread.
func (c *cli) newFlags(cmd *cobra.Command, r *thread.NewRequest) {
	f := cmd.Flags()
	f.StringVarP(&r.Agent, "agent", "a", "", "agent: claude, codex, gemini, opencode, command, demo")
	offer(cmd, "agent", c.completeAgents)
	f.StringVarP(&r.Model, "model", "m", "", "model, in the agent's own words")
	f.StringVarP(&r.Name, "name", "n", "", "name; from the label or the prompt without it")
	f.StringVar(&r.Dir, "dir", "", "folder to work in; the project's without it")
	f.BoolVarP(&r.Worktree, "worktree", "w", false, "give it a git worktree of its own")
	f.BoolVar(&r.InPlace, "no-worktree", false, "work in the folder itself, though other threads do too")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if r.Worktree && r.InPlace {
			return usagef("--worktree and --no-worktree exclude each other")
		}
		return nil
	}
	f.StringVar(&r.Flags.PermissionMode, "permission-mode", "", "permission mode, in the agent's own words")
	f.StringArrayVar(&r.Flags.Env, "env", nil, "KEY=VALUE for the agent; no credentials, it is stored")
	f.BoolVar(&r.Flags.NoGateway, "no-gateway", false, "do not carry its model requests")
}

// sayApart says where a new thread works that got a worktree without being asked for one. A program reads that from the
// thread itself.
func (c *cli) sayApart(s thread.Status, r thread.NewRequest) {
	if s.Worktree.Path != "" && !r.Worktree && !c.json {
		fmt.Fprintf(c.stderr, "it works in a worktree of its own, %s; --no-worktree works in the folder itself\n", s.Worktree.Path)
	}
}

func (c *cli) newVerb() *cobra.Command {
	var r thread.NewRequest
	cmd := &cobra.Command{
		Use: "new [flags] [label] [-- agent arguments]", Short: "Start a new thread",
		Long: "Start a new thread. What follows -- goes to the agent as it is; with --agent command it is the program.",
	}
	c.newFlags(cmd, &r)
	cmd.Flags().StringVarP(&r.Prompt, "prompt", "p", "", "first prompt")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Label = strings.Join(words, " ")
		if err := c.agentArgs(&r, rest); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			var s thread.Status
			err := c.heed(ctx, cl, func() (err error) { s, err = api.New.Do(ctx, cl, r); return })
			if err != nil {
				return err
			}
			c.sayApart(s, r)
			return c.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		})(cmd, args)
	}
	return cmd
}

// agentArgs sets the agent and its arguments in a request.
func (c *cli) agentArgs(r *thread.NewRequest, rest []string) error {
	if r.Agent == "" {
		r.Agent = c.config.Agent
	}
	if r.Agent == "" {
		return usagef("which agent? give --agent (claude, codex, gemini, opencode, command, demo), or set `agent` in the configuration")
	}
	if r.Agent == "command" {
		r.Flags.Program = rest
	} else {
		r.Flags.Args = rest
	}
	return nil
}

// split tells a verb's words from what stands after --.
func split(cmd *cobra.Command, args []string) (words, rest []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

func (c *cli) threadsVerb() *cobra.Command {
	var asTree, all bool
	cmd := &cobra.Command{
		Use: "threads", Aliases: []string{"list", "ls"}, Short: "List the threads",
		Args: exactly(),
	}
	cmd.Flags().BoolVar(&asTree, "tree", false, "draw parents and children, in the order of the screen")
	cmd.Flags().BoolVar(&all, "all", false, "archived ones too")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		list, err := api.List.Do(ctx, cl, api.None{})
		if err != nil {
			return err
		}
		kept := list[:0]
		names := make(map[thread.ID]string, len(list))
		for _, s := range list {
			names[s.ID] = s.Name
			if all || s.Archived.IsZero() {
				kept = append(kept, s)
			}
		}
		folders := c.folders(list)
		rows := make([]listed, len(kept))
		for i, s := range kept {
			rows[i] = listed{Status: s, SharedWith: thread.NamesOf(folders.With(s.Thread))}
		}
		return c.show(rows, func(w io.Writer) { printThreads(w, rows, asTree, names, time.Now()) })
	})
	return cmd
}

// listed is a thread of the list.
type listed struct {
	thread.Status
	// SharedWith names the threads that work in the same folder.
	SharedWith []string `json:"sharedWith,omitempty"`
}

// printThreads prints a table; names has those of all threads, for forks whose parent is not in it.
func printThreads(w io.Writer, list []listed, asTree bool, names map[thread.ID]string, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no threads yet: `orchestrator new` starts one")
		return
	}
	has := func(f func(listed) bool) bool { return slices.ContainsFunc(list, f) }
	titles, shared := has(func(s listed) bool { return s.Title != "" }), has(func(s listed) bool { return len(s.SharedWith) > 0 })
	var t columns
	add := func(name, title string, rest []string, with string) {
		cells := []string{name}
		if titles {
			cells = append(cells, title)
		}
		if cells = append(cells, rest...); shared {
			cells = append(cells, with)
		}
		t.row(cells...)
	}
	add("THREAD", "CALLED", []string{"AGENT", "STATE", "TURNS", "CONTEXT", "COST", "AGE"}, "SHARED WITH")
	for _, row := range rowsOf(list, asTree) {
		s := row.status
		of := ""
		if asTree && row.branch == "" && names[s.Parent] != "" {
			of = " (of " + names[s.Parent] + ")"
		}
		add(row.branch+s.Name+of, plain.Cut(plain.Line(s.Title), mostTitle), []string{s.Agent, stateOf(s.Status), fmt.Sprint(s.Turn), contextOf(s.Gauge),
			costOf(s.Status), age(now.Sub(s.Updated))}, plain.Few(s.SharedWith))
	}
	t.print(w)
}

// mostTitle is how many cells of what a thread is called a table shows.
const mostTitle = 24

func stateOf(s thread.Status) string {
	state := string(s.State.State) + s.State.More()
	if s.State.State == thread.StateExited && s.Exit.Code != 0 {
		state += fmt.Sprintf(" (%d)", s.Exit.Code)
	}
	if s.Queued > 0 {
		state += fmt.Sprintf(", %d queued", s.Queued)
	}
	if n := slices.IndexFunc(s.Prompts, func(p thread.Prompt) bool { return p.State.Again() }); n >= 0 {
		state += ", prompt " + string(s.Prompts[n].State)
	}
	if s.Outcome.Kind != thread.OutcomeNone {
		state += ", " + string(s.Outcome.Kind)
	}
	if s.SetupProblem() != "" {
		state += ", setup " + string(s.Setup.State)
	}
	if !s.Archived.IsZero() {
		state += ", archived"
	}
	return state
}

func contextOf(g thread.Gauge) string {
	if g.Tokens == 0 {
		return "-"
	}
	mark := ""
	if g.Estimated {
		mark = "~"
	}
	if g.Window == 0 {
		return mark + thread.Tokens(g.Tokens)
	}
	return fmt.Sprintf("%s%s/%s %s", mark, thread.Tokens(g.Tokens), thread.Tokens(g.Window), thread.Percent(g.Share()))
}

// costOf says what a thread has cost, and where nobody knows.
func costOf(s thread.Status) string {
	usd, known := s.Cost()
	switch {
	case known:
		return fmt.Sprintf("$%.2f", usd)
	case s.Usage.Context() == 0:
		return "-"
	default:
		return "no price"
	}
}

// age formats a time span in its largest unit; one that has yet to begin, by a clock that was set back, is none.
func age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// treeRow is a thread with the lines that lead to it.
type treeRow struct {
	status listed
	branch string
}

// rowsOf orders threads as the screen does, forks below their parents, or leaves them as they are.
func rowsOf(list []listed, asTree bool) []treeRow {
	rows := make([]treeRow, 0, len(list))
	if !asTree {
		for _, s := range list {
			rows = append(rows, treeRow{status: s})
		}
		return rows
	}
	byID := make(map[thread.ID]listed, len(list))
	all := make([]*thread.Status, len(list))
	for i := range list {
		byID[list[i].ID], all[i] = list[i], &list[i].Status
	}
	for _, r := range tree.Rows(all, nil) {
		rows = append(rows, treeRow{status: byID[r.ID], branch: r.Guide})
	}
	return rows
}

func (c *cli) switchVerb() *cobra.Command {
	return &cobra.Command{
		Use: "switch <thread>", Short: "Show a thread in the running screens", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			s, err := api.Switch.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			return c.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		}),
	}
}

func (c *cli) resumeVerb() *cobra.Command {
	return &cobra.Command{
		Use: "resume [thread]", Short: "Start a thread's agent again where it was; without a name all interrupted ones",
		Args: between(0, 1, "[thread]"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			var list []thread.Status
			err := c.heed(ctx, cl, func() (err error) {
				if len(args) == 0 {
					list, err = api.ResumeAll.Do(ctx, cl, api.ResumeRequest{})
					return err
				}
				s, err := api.Resume.Do(ctx, cl, api.ResumeRequest{Thread: args[0]})
				list = append(list, s)
				return err
			})
			if err != nil {
				return err
			}
			return c.show(list, func(w io.Writer) {
				if len(list) == 0 {
					fmt.Fprintln(w, "nothing is interrupted")
				}
				for _, s := range list {
					how := ""
					if s.Resume != nil {
						how = ": " + s.Resume.Detail
					}
					fmt.Fprintf(w, "%s resumed at turn %d%s\n", s.Name, s.Turn, how)
					if problem := s.SetupProblem(); problem != "" {
						fmt.Fprintf(w, "%s: %s\n", s.Name, problem)
					}
				}
			})
		}),
	}
}

func (c *cli) setupVerb() *cobra.Command {
	return &cobra.Command{
		Use: "setup <thread>", Short: "Run the project's setup in a thread's worktree again, which did not finish, or failed",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			var s thread.Status
			err := c.heed(ctx, cl, func() (err error) { s, err = api.SetUp.Do(ctx, cl, api.Ref{Thread: args[0]}); return })
			if err != nil {
				return err
			}
			return c.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s is set up\n", s.Name) })
		}),
	}
}

func (c *cli) whyVerb() *cobra.Command {
	return &cobra.Command{
		Use: "why <thread>", Short: "Explain a thread's state", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			r, err := api.Why.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			g, err := api.Grants.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			return c.show(explained{r, g.Grants}, func(w io.Writer) {
				fmt.Fprintf(w, "%s%s since %s\n", r.State, r.More(), r.Since.Local().Format(time.TimeOnly))
				for i, e := range r.Evidence {
					mark := " "
					if i == 0 {
						mark = "→"
					}
					if e.Source == thread.SourcePrompt {
						fmt.Fprintf(w, "  %s  %-8s %s\n", e.At.Local().Format(time.TimeOnly), e.Source, e.Detail)
						continue
					}
					fmt.Fprintf(w, "%s %s  %-8s says %-12s %s\n", mark, e.At.Local().Format(time.TimeOnly), e.Source, e.State, e.Detail)
				}
				if r.Screen != "" {
					fmt.Fprintf(w, "the last lines of its screen:\n  %s\n", strings.ReplaceAll(r.Screen, "\n", "\n  "))
				}
				for _, note := range r.Notes {
					fmt.Fprintln(w, note)
				}
				if len(g.Grants) > 0 {
					fmt.Fprintf(w, "its agent may also: %s\n", grant.Format(g.Grants))
				}
			})
		}),
	}
}

func (c *cli) renameVerb() *cobra.Command {
	return &cobra.Command{
		Use: "rename <thread> <name>", Short: "Give a thread another name", Args: exactly("<thread>", "<name>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			s, err := api.Rename.Do(ctx, cl, api.RenameRequest{Thread: args[0], Name: args[1]})
			if err != nil {
				return err
			}
			return c.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		}),
	}
}

func (c *cli) pinVerb() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use: "pin <thread>", Short: "Keep a thread on top, and from being collected", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := api.Pin.Do(ctx, cl, api.PinRequest{Thread: args[0], On: !off}); err != nil {
				return err
			}
			return c.done(args[0], map[bool]string{true: "not pinned", false: "pinned"}[off])
		}),
	}
	cmd.Flags().BoolVar(&off, "off", false, "take the pin off")
	return cmd
}

func (c *cli) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			return c.show(map[string]string{"version": version()}, func(w io.Writer) { fmt.Fprintln(w, "orchestrator", version()) })
		},
	}
}

func (c *cli) trustVerb() *cobra.Command {
	var git, folder bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Accept the project's .orchestrator.toml, or with --git the programs of its git configuration, as they are now",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.alone("trust"); err != nil {
				return err
			}
			home, err := project.Home(c.places()) // what is trusted is kept there
			if err != nil {
				return err
			}
			home.Close()
			switch {
			case git && folder:
				return usagef("--git and --folder accept different things: give one")
			case git:
				return c.trustGit(cmd.Context())
			case folder:
				return c.trustFolder()
			default:
				return c.trustFile()
			}
		},
	}
	cmd.Flags().BoolVar(&git, "git", false, "show and accept what the repository's own git configuration would run, or connect through")
	cmd.Flags().BoolVar(&folder, "folder", false, "accept your home folder, or /, as a project")
	return cmd
}
