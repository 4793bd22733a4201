package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// newFlags adds the flags of the verbs that start a thread.
func newFlags(c *cli, cmd *cobra.Command, r *thread.NewRequest) {
	f := cmd.Flags()
	f.StringVarP(&r.Agent, "agent", "a", "", "agent: claude, codex, gemini, opencode, command, demo")
	offer(cmd, "agent", c.completeAgents)
	var profile string
	f.StringVar(&profile, "profile", "", "a remembered way to start: [profiles.NAME] in your configuration")
	offer(cmd, "profile", completeProfiles(c))
	f.StringVarP(&r.Model, "model", "m", "", "model, as the agent names it")
	f.StringVar(&r.Base, "base", "", baseHelp)
	offer(cmd, "base", completeBases(c))
	f.StringVarP(&r.Name, "name", "n", "", "name (default: from the label or the prompt)")
	f.StringVar(&r.Dir, "dir", "", "folder to work in (default: the one you are in)")
	f.BoolVarP(&r.Worktree, "worktree", "w", false, "create a git worktree for it")
	f.BoolVar(&r.InPlace, "no-worktree", false, "work in the folder itself, even if other threads do")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if r.Worktree && r.InPlace {
			return usagef("--worktree and --no-worktree cannot be combined")
		}
		if profile == "" {
			return nil
		}
		p, err := c.config.Profile(profile)
		if cmd.Flags().Changed("tier") { // what is given goes before what is remembered
			p.Model = ""
		}
		*r = p.Fill(*r)
		return err
	}
	f.BoolVar(&r.Lines, "lines", false, linesHelp)
	f.StringVar(&r.Flags.PermissionMode, "permission-mode", "", "permission mode, as the agent names it")
	f.StringArrayVar(&r.Flags.Env, "env", nil, "KEY=VALUE for the agent; stored, so no credentials")
	f.BoolVar(&r.Flags.NoGateway, "no-gateway", false, "do not route its model requests through the gateway")
}

// linesHelp is the help text of --lines.
const linesHelp = "let a prompt of several lines be typed into a program that may run each of them (--agent command)"

// baseHelp is the help text of --base.
const baseHelp = "`PROFILE` of what the agent leaves out: full, slim, read-only, minimal, or one of yours; see \"orchestrator help bases\""

// sayApart prints where a new thread works if it got a worktree that was not asked for, or if its folder may not be the
// one that the person expects. Programs read that from the thread.
func sayApart(c *cli, s thread.Status, r thread.NewRequest, chosen bool) {
	switch {
	case s.Worktree.Path == "" || r.Worktree || c.out.json:
	case s.Once.On:
		fmt.Fprintln(c.out.stderr, "own worktree (--no-worktree works in the folder itself)")
	default:
		fmt.Fprintln(c.out.stderr, "own worktree, since another thread uses the folder (--no-worktree shares it)")
	}
	if said := environSaid(s); said != "" && !c.out.json {
		fmt.Fprintln(c.out.stderr, said)
	}
	if at, err := c.standing(); err == nil && !chosen {
		at.says(c, s)
	}
}

func newVerb(c *cli) *cobra.Command {
	var r thread.NewRequest
	var once onceOptions
	cmd := &cobra.Command{
		Use: "new [flags] [label] [-- agent arguments]", Short: "Start a new thread",
		Long: "Start a new thread. Arguments after -- go to the agent; with --agent command they are the program.",
	}
	newFlags(c, cmd, &r)
	once.flags(c, cmd, false)
	cmd.Flags().StringVarP(&r.Prompt, "prompt", "p", "", "first prompt; - reads it from standard input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Label = strings.Join(words, " ")
		if err := errors.Join(once.check(cmd), agentArgs(c, &r, rest)); err != nil {
			return err
		}
		var err error
		if r.Prompt, err = promptText(c, r.Prompt); err != nil {
			return err
		}
		if r.Once, r.Execution = once.once, once.name; r.Once.On && strings.TrimSpace(r.Prompt) == "" {
			return usagef("new --once needs a prompt: %s --once -p \"review the last commit\"", cmd.CommandPath())
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			var s thread.Status
			chosen := r.Dir != ""
			if err := c.place(&r); err != nil {
				return err
			}
			if err := once.bundle.give(ctx, c, cl, &r.Prompt, &r.Given, &r.Once); err != nil {
				return err
			}
			err := c.withWarnings(ctx, cl, func() (err error) { s, err = newCall(r).Do(ctx, cl, r); return })
			if err != nil {
				return err
			}
			sayApart(c, s, r, chosen)
			return c.out.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		})(cmd, args)
	}
	return cmd
}

// agentOr returns an agent's name, or that of the configuration where none is given.
func agentOr(c *cli, name string) (string, error) {
	if name = cmp.Or(name, c.config.Agent); name == "" {
		return "", usagef("no agent: use --agent (claude, codex, gemini, opencode, command, demo), " +
			"or set `agent` in the configuration")
	}
	return name, nil
}

// agentArgs sets the agent and its arguments in a request.
func agentArgs(c *cli, r *thread.NewRequest, rest []string) error {
	var err error
	if r.Agent, err = agentOr(c, r.Agent); err != nil {
		return err
	}
	if len(rest) == 0 {
		rest = r.Flags.Args // of a profile
	}
	if r.Flags.Args = rest; r.Agent == "command" {
		r.Flags.Program, r.Flags.Args = rest, nil
	}
	return nil
}

// place has the folder and the program of a request mean what they mean where the person is.
func (c *cli) place(r *thread.NewRequest) error {
	at, err := c.standing()
	if err == nil {
		at.place(r)
	}
	return err
}

// newCall is the call that starts a thread, or a run.
func newCall(r thread.NewRequest) api.Call[thread.NewRequest, thread.Status] {
	if r.Once.On {
		return api.StartRun
	}
	return api.New
}
