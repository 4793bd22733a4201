package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func runVerb(c *cli) *cobra.Command {
	var r thread.NewRequest
	var t talk
	cmd := &cobra.Command{
		Use: "run [flags] <task> [-- agent arguments]", Short: "Start a new thread with a task and follow its answer",
		Long: "Start a new thread with a task and print the answer as the model says it. Exit code 0: answered; 4: it waits\n" +
			"for you, or the task could not be typed yet; 5: the agent did not finish, or not within --timeout.",
	}
	newFlags(c, cmd, &r)
	t.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Prompt = strings.TrimSpace(strings.Join(words, " "))
		if r.Prompt == "" {
			return usagef("expected <task>")
		}
		if err := errors.Join(t.check(c.json), agentArgs(c, &r, rest)); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.New.Name()}); err != nil {
				return err // before it asks for what following needs
			}
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Speech.Name()}); err != nil {
				return err
			}
			var s thread.Status
			if err := c.heed(ctx, cl, func() (err error) { s, err = api.New.Do(ctx, cl, r); return }); err != nil {
				return err
			}
			if t.format == "text" {
				sayApart(c, s, r)
			}
			return c.follower(cl, t).followFirst(ctx, s)
		})(cmd, args)
	}
	return cmd
}

// mostTyped is how many bytes of a prompt can be typed.
const mostTyped = 1 << 20

func sendVerb(c *cli) *cobra.Command {
	var detach bool
	var t talk
	cmd := &cobra.Command{
		Use: "send <thread> <text>|-", Short: "Send a prompt to a thread and follow its answer",
		Long: "Send a prompt to a thread, with - what standard input brings, and print the answer to it as the model says\n" +
			"it. A prompt that the agent does not take at once, because it works or because something of yours is in its input, is queued. Exit code 0: answered;\n" +
			"4: it waits for you, or the prompt is still queued after --timeout; 5: the agent did not finish, or not within --timeout.",
		Args: exactly("<thread>", "<text>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "do not wait for the answer")
	t.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := t.check(c.json); err != nil {
			return err
		}
		if len(args) > 1 && args[1] == "-" {
			text, err := io.ReadAll(io.LimitReader(c.stdin, mostTyped+1))
			if err != nil {
				return fmt.Errorf("read the prompt from standard input: %w", err)
			}
			if len(text) > mostTyped {
				return thread.Hint(fmt.Errorf("standard input has more than the %d bytes that can be typed: %w", mostTyped,
					thread.ErrInvalid),
					"put it in a file, and name the file")
			}
			args[1] = string(text)
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if detach {
				p, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: args[0], Text: args[1]})
				if err != nil {
					return err
				}
				return c.show(p, func(io.Writer) {})
			}
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Ask.Name(), Thread: args[0]}); err != nil {
				return err // before it asks for what following needs
			}
			return c.follower(cl, t).ask(ctx, args[0], args[1])
		})(cmd, args)
	}
	return cmd
}
