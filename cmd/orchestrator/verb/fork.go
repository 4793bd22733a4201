package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func forkVerb(c *cli) *cobra.Command {
	var r thread.ForkRequest
	var once onceOptions
	var t followOptions
	cmd := &cobra.Command{
		Use:     "fork <label> [-- agent arguments]",
		Short:   "Fork a thread, with its conversation and files, at any turn and into any agent",
		Example: "orchestrator fork \"try jwt\" -t THREAD",
		Long: "Fork a thread, with its conversation and files, at any turn and into any agent. Arguments after -- go to\n" +
			"the agent; with --agent command they are the program.\n\n" +
			"With --once the fork runs without a terminal, and the answer to --prompt is streamed. Ctrl+C cancels it.\n" + runCodes,
	}
	f := cmd.Flags()
	f.StringVarP(&r.Thread, "thread", "t", "", "thread to fork (default: the one last shown)")
	f.StringVar(&r.At, "at", "",
		"turn or checkpoint to fork at, 0 for before the first turn (default: the newest turn)")
	f.BoolVar(&r.Fresh, "fresh", false, "start with an empty context and a summary instead of the conversation")
	f.StringVarP(&r.Agent, "agent", "a", "", "agent of the fork (default: the thread's)")
	f.StringVarP(&r.Name, "name", "n", "", "name (default: from the label)")
	f.StringVarP(&r.Prompt, "prompt", "p", "", "first prompt of the fork; - reads it from standard input")
	f.BoolVar(&r.NoWorktree, "no-worktree", false, "share the thread's folder")
	f.BoolVar(&r.Lines, "lines", false, linesHelp)
	f.BoolVar(&r.HandOver, "hand-over", false, handOverHelp)
	f.StringVar(&r.Base, "base", "", "what its agent leaves out (default: what the thread's does): full, slim, read-only, minimal, or one of yours")
	offer(cmd, "base", completeBases(c))
	f.BoolVar(&r.NoStart, "no-start", false, "do not start the agent")
	once.flags(c, cmd, true)
	t.flags(c, cmd)
	offer(cmd, "agent", c.completeAgents)
	offer(cmd, "at", c.completeFork(&r.Thread))
	offer(cmd, "thread", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return c.completeThreads(cmd, nil, prefix)
	})
	fork := func(ctx context.Context, cl *client.Client, rest []string) error {
		if strings.TrimSpace(r.Label) == "" && r.Name == "" {
			return usagef("the label is empty. Say what the fork is for")
		}
		if r.Thread == "" {
			ref, err := shown(ctx, cl)
			if err != nil {
				return err
			}
			r.Thread = ref
		}
		if err := forkArgs(ctx, c, cl, &r, rest); err != nil {
			return err
		}
		if once.once.On {
			return forkRun(ctx, c, cl, r, once, t)
		}
		r.Once = once.once
		var s thread.Status
		err := c.withWarnings(ctx, cl, func() (err error) { s, err = api.Fork.Do(ctx, cl, r); return })
		if err != nil {
			return err
		}
		if said := environSaid(s); said != "" && !c.out.json {
			fmt.Fprintln(c.out.stderr, said)
		}
		return c.out.show(s, func(w io.Writer) {
			fmt.Fprintf(w, "%s at turn %d, %s, in %s\n", s.Name, s.Turn, s.Agent, s.Dir)
			page.LeftOut(w, s.LeftOut)
		})
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		words, _ := split(cmd, args)
		return exactly("<label>")(cmd, words)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Label = words[0]
		err := errors.Join(once.check(cmd), t.check(c.out.json))
		switch {
		case err != nil:
			return err
		case !once.once.On && (t.lines() || t.limit != 0):
			return usagef("--timeout and -o ndjson need --once: nothing is followed without it")
		case once.once.On && r.Prompt == "":
			return usagef("fork --once needs a prompt: %s \"review\" --once -p \"review what you did\"", cmd.CommandPath())
		case once.once.On && r.NoStart:
			return usagef("--once and --no-start cannot be combined")
		}
		if r.Prompt, err = promptText(c, r.Prompt); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return fork(ctx, cl, rest) })(cmd,
			args)
	}
	return cmd
}

// handOverHelp is the help text of --hand-over.
const handOverHelp = "let a line with the path of the handoff be typed into a program that may run it (--agent command)"

// forkArgs sets the agent's arguments in a fork request.
func forkArgs(ctx context.Context, c *cli, cl *client.Client, r *thread.ForkRequest, rest []string) error {
	if len(rest) == 0 {
		return nil
	}
	parent, err := api.Status.Do(ctx, cl, api.Ref{Thread: r.Thread})
	if err != nil {
		return err
	}
	n := thread.NewRequest{Agent: cmp.Or(r.Agent, parent.Agent)}
	if err := agentArgs(c, &n, rest); err != nil {
		return err
	}
	at, err := c.standing()
	if err != nil {
		return err
	}
	dir := parent.Dir // the fork's is the same in its own worktree
	if rel, err := filepath.Rel(parent.Worktree.Path, dir); err == nil && parent.Worktree.Path != "" {
		dir = filepath.Join(c.project.Root, rel)
	}
	n.Flags.Program = at.program(n.Flags.Program, dir)
	r.Program, r.Args = n.Flags.Program, n.Flags.Args
	return nil
}
