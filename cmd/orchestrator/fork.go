package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func forkVerb(c *cli) *cobra.Command {
	var r thread.ForkRequest
	cmd := &cobra.Command{
		Use:   "fork <label> [-- agent arguments]",
		Short: "Fork a thread, with its conversation and files, at any turn into any agent",
		Long: "Fork a thread, with its conversation and files, at any turn into any agent. What follows -- goes to the agent as it is;\n" +
			"with --agent command it is the program.",
	}
	f := cmd.Flags()
	f.StringVarP(&r.Thread, "thread", "t", "", "thread to fork; the one shown last without it")
	f.StringVar(&r.At, "at", "",
		"turn or checkpoint, also one inside of a turn; 0 is before the first turn, the newest turn without it")
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
		if err := forkArgs(ctx, c, cl, &r, rest); err != nil {
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
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return fork(ctx, cl, rest) })(cmd,
			args)
	}
	return cmd
}

// forkArgs sets what a fork's agent is started with.
func forkArgs(ctx context.Context, c *cli, cl *client.Client, r *thread.ForkRequest, rest []string) error {
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
	if err := agentArgs(c, &n, rest); err != nil {
		return err
	}
	r.Program, r.Args = n.Flags.Program, n.Flags.Args
	return nil
}
