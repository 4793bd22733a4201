package verb

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func runVerb(c *cli) *cobra.Command {
	var r thread.NewRequest
	var t followOptions
	var once onceOptions
	cmd := &cobra.Command{
		Use: "run [flags] <task>|- [-- agent arguments]", Short: "Start a new thread with a task and print the answer",
		Long: "Start a new thread with a task and stream the answer; - reads the task from standard input. Exit codes: 0\n" +
			"answered; 4 waiting for you, or the task could not be sent yet; 5 the agent did not finish, or not within --timeout.\n\n" +
			"With --once it runs without a terminal, and its process ends with the answer. Ctrl+C cancels it.\n" + runCodes,
	}
	newFlags(c, cmd, &r)
	once.flags(c, cmd, true)
	t.flags(c, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Started = true
		if err := errors.Join(t.check(c.out.json), once.check(cmd)); err != nil {
			return err
		}
		text, err := promptText(c, strings.Join(words, " "))
		if err != nil {
			return err
		}
		if r.Prompt = strings.TrimSpace(text); r.Prompt == "" {
			return usagef("run needs a task: %s -a AGENT \"fix the failing test\"", cmd.CommandPath())
		}
		if err := agentArgs(c, &r, rest); err != nil {
			return err
		}
		if once.once.On {
			return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
				return startRun(ctx, c, cl, r, once, t)
			})(cmd, args)
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.New.Name()}); err != nil {
				return err // before asking for what following needs
			}
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Speech.Name()}); err != nil {
				return err
			}
			r.Once = once.once
			var s thread.Status
			chosen := r.Dir != ""
			if err := c.place(&r); err != nil {
				return err
			}
			if err := c.withWarnings(ctx, cl, func() (err error) { s, err = api.New.Do(ctx, cl, r); return }); err != nil {
				return err
			}
			if !t.lines() {
				sayApart(c, s, r, chosen)
			}
			return c.follower(cl, t).followFirst(ctx, s)
		})(cmd, args)
	}
	return cmd
}
